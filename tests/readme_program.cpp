#include <cstdio>

#include "autograd/ops.h"
#include "nn/linear.h"
#include "optim/optimizer.h"

using namespace tapestry;

int main() {
  ParameterStore store(DType::f32, /*seed=*/1);
  const Scope scope(store);
  const Linear first(scope / "first", 2, 8);  // weight [8,2], bias [8]
  const Linear second(scope / "second", 8, 1);

  // Exclusive or: 1 where exactly one of the two inputs is 1. No straight line parts the ones from the zeros.
  const Var x = Tensor::from({0, 0, 0, 1, 1, 0, 1, 1}, {4, 2}, DType::f32);
  const Var target = Tensor::from({0, 1, 1, 0}, {4, 1}, DType::f32);

  ParameterStore::Gradients gradients = store.gradients();
  Adam adam(store.pieces());
  for (int update = 0; update <= 100; ++update) {
    Tape tape(gradients.by_parameter);     // records from here on
    const Var y = second(tanh(first(x)));  // [4,2] -> [4,8] -> [4,1]
    const Var loss = mean(square(y - target));
    tape.backward(loss);                       // adds to the gradients
    adam.step(gradients.pieces, /*lr=*/0.05);  // moves the parameters, zeroes the gradients
    if (update % 20 == 0) std::printf("update %3d  loss %.6f\n", update, loss.value().item());
  }
}
