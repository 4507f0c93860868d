#pragma once
// Attention pooling as regression, what `tapestry lab pooling` shows: Dive into Deep Learning, "Attention Pooling:
// Nadaraya-Watson Kernel Regression".

#include <string>
#include <vector>

#include "core/tensor.h"

namespace tapestry {

struct PoolingExperimentOptions {
  Index points = 50;
  double noise = 0.5;  // standard deviation
  double width = 1;    // of the kernel, and where the learned one starts
  Index updates = 200;
  double lr = 2;
  std::uint64_t seed = 1;
};

/// One way of averaging the y of the training points.
struct PoolingFit {
  std::string name;
  double width;           // of the kernel; infinite: every point counts alike
  double error;           // mean squared distance from the true curve
  std::vector<double> y;  // at the queries
  Tensor weights;         // [queries, points]
};

struct PoolingExperiment {
  std::vector<double> x, y;       // training points, from left to right
  std::vector<double> at, truth;  // queries 0, 0.1 ... 4.9 and the true curve there
  std::vector<PoolingFit> fits;   // average, kernel of the width given, of the width learned
  double loss_before = 0, loss_after = 0;
};

/// Points of y = 2 sin x + x^0.8 + noise on [0, 5), fitted in three ways. The width is learned by gradient descent on
/// the mean squared error of each training point given all *others*: given itself, the narrowest kernel would win.
/// Errors (UsageError): an option out of range; Error: a loss that is not finite.
PoolingExperiment pooling_experiment(const PoolingExperimentOptions& options);

}  // namespace tapestry
