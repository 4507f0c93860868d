#include "tools/gemm_floor.h"

// Not through core/gemm.h, which takes other roads for small products: the floor is what the library does by itself.
#include <cblas.h>

#include <algorithm>

#include "core/error.h"
#include "tools/mean_seconds.h"

namespace tapestry {
namespace {

class List {
 public:
  void add(int m, int n, int k, bool a_transposed, bool b_transposed) {
    products.push_back({m, n, k, a_transposed, b_transposed});
  }
  void forward(int rows, int in, int out) { add(rows, out, in, false, true); }
  void input_gradient(int rows, int in, int out) { add(rows, in, out, false, false); }
  void weight_gradient(int rows, int in, int out) { add(out, in, rows, true, false); }
  void linear(int rows, int in, int out) {
    forward(rows, in, out);
    input_gradient(rows, in, out);
    weight_gradient(rows, in, out);
  }
  void recurrent(int steps, int batch, int in, int hidden, int gates) {
    linear(steps * batch, in, gates);
    for (int t = 0; t < steps; ++t) {
      forward(batch, hidden, gates);
      input_gradient(batch, hidden, gates);
    }
    weight_gradient(steps * batch, hidden, gates);
  }
  void attention(int pairs, int queries, int keys, int width) {
    for (int i = 0; i < pairs; ++i) {
      forward(queries, width, keys);            // scores
      add(queries, width, keys, false, false);  // context
      forward(queries, width, keys);            // back: by the weights,
      weight_gradient(queries, keys, width);    // by the values,
      add(queries, width, keys, false, false);  // the queries
      weight_gradient(queries, keys, width);    // and the keys
    }
  }

  std::vector<Product> products;
};

// The cells have 3 h gates (GRU) or 4 h (LSTM).
std::vector<Product> bahdanau(int gates_of_unit) {
  constexpr int steps = 10, batch = 64, h = 32, vocabulary = 201;
  const int gates = gates_of_unit * h;
  List list;
  list.recurrent(steps, batch, h, h, gates);  // encoder, two layers
  list.recurrent(steps, batch, h, h, gates);
  list.linear(steps * batch, h, h);  // keys
  // What the decoder does each step: query; first layer on [context, embedding]; its state; second layer and state.
  const int widths[][2] = {{h, h}, {2 * h, gates}, {h, gates}, {h, gates}, {h, gates}};
  for (int t = 0; t < steps; ++t) {
    for (const auto& [in, out] : widths) {
      list.forward(batch, in, out);
      list.input_gradient(batch, in, out);
    }
  }
  for (const auto& [in, out] : widths) list.weight_gradient(steps * batch, in, out);
  list.linear(steps * batch, h, vocabulary);
  return list.products;
}

struct TransformerSize {
  int width, feed_forward, heads, layers, vocabulary, batch, length;
};

std::vector<Product> transformer(const TransformerSize& size) {
  const int rows = size.batch * size.length;
  List list;
  for (int layer = 0; layer < size.layers; ++layer) {
    for (int a = 0; a < 3; ++a) {  // self-attention of the encoder; self and cross of the decoder
      for (int projection = 0; projection < 4; ++projection) list.linear(rows, size.width, size.width);
      list.attention(size.batch * size.heads, size.length, size.length, size.width / size.heads);
    }
    for (int f = 0; f < 2; ++f) {
      list.linear(rows, size.width, size.feed_forward);
      list.linear(rows, size.feed_forward, size.width);
    }
  }
  list.linear(rows, size.width, size.vocabulary);
  return list.products;
}

CBLAS_TRANSPOSE flag(bool transposed) {
  return transposed ? CblasTrans : CblasNoTrans;
}

}  // namespace

const std::vector<std::string>& floor_names() {
  static const std::vector<std::string> names{"d2l-bahdanau", "lstm", "d2l-transformer", "transformer-tiny",
                                              "transformer-base"};
  return names;
}

std::vector<Product> floor_products(const std::string& benchmark) {
  require_one_of("bench", benchmark, floor_names());
  if (benchmark == "d2l-bahdanau") return bahdanau(3);
  if (benchmark == "lstm") return bahdanau(4);
  if (benchmark == "d2l-transformer") return transformer({32, 64, 4, 2, 201, 64, 10});
  if (benchmark == "transformer-tiny") return transformer({128, 256, 4, 4, 10000, 128, 16});
  return transformer({512, 2048, 8, 6, 10000, 32, 32});
}

double floating_point_operations(const std::vector<Product>& products) {
  double sum = 0;
  for (const Product& p : products) sum += 2.0 * p.m * p.n * p.k;
  return sum;
}

double time_products(const std::vector<Product>& products, double seconds) {
  openblas_set_num_threads(1);
  std::size_t largest = 0;
  for (const Product& p : products) {
    const auto product = [](int x, int y) { return static_cast<std::size_t>(x) * static_cast<std::size_t>(y); };
    largest = std::max({largest, product(p.m, p.k), product(p.k, p.n), product(p.m, p.n)});
  }
  const std::vector<float> a(largest, 0.5F), b(largest, 0.25F);
  std::vector<float> c(largest);
  const auto round = [&] {
    for (const Product& p : products)
      cblas_sgemm(CblasRowMajor, flag(p.a_transposed), flag(p.b_transposed), p.m, p.n, p.k, 1, a.data(),
                  p.a_transposed ? p.m : p.k, b.data(), p.b_transposed ? p.k : p.n, 0, c.data(), p.n);
  };
  round();
  return mean_seconds(seconds, round);
}

}  // namespace tapestry
