#include "autograd/tape.h"

#include <doctest/doctest.h>

#include <thread>

#include "autograd/observer.h"
#include "autograd/record.h"
#include "core/accumulate.h"

using namespace tapestry;

namespace {

Tensor times(const Tensor& a, const Tensor& b) {
  Tensor y = Tensor::empty(a.shape(), a.dtype());
  for (Index i = 0; i < y.numel(); ++i) y.set(i, a.at(i) * b.at(b.numel() == 1 ? 0 : i));
  return y;
}

// The product written out, so that the tape is tested without the library's ops. b may be a scalar.
Var product(const Var& a, const Var& b) {
  return record("product", times(a.value(), b.value()), {a, b}, [a, b](const Tensor& dy, Grads& dx) {
    dx.add(0, times(dy, b.value()));
    dx.add_broadcast(1, times(dy, a.value()));
  });
}

Var leaf(std::initializer_list<double> values) {
  return watch(Tensor::from(values, {static_cast<Index>(values.size())}, DType::f64));
}

std::vector<double> list(const Tensor& t) {
  return t.values();
}
using Values = std::vector<double>;

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("a value used twice gets the sum of both gradients") {
    const Var x = leaf({2, 3}), w = leaf({5, 7});
    Tape tape;
    const Var y = product(product(x, w), x);  // x^2 w
    const Tensor one = Tensor::full({2}, 1, DType::f64);
    const Gradients g = tape.backward(std::span(&y, 1), std::span(&one, 1));
    CHECK(list(y.value()) == Values{20, 63});
    CHECK(list(g[x]) == Values{20, 42});  // 2 x w
    CHECK(list(g[w]) == Values{4, 9});    // x^2
  }

  TEST_CASE("a broadcast input gets its gradient summed to its own shape") {
    const Var x = leaf({2, 3}), s = leaf({4});
    Tape tape;
    const Var y = product(x, s);
    const Tensor c = Tensor::from({1, 10}, {2}, DType::f64);
    CHECK(list(tape.backward(std::span(&y, 1), std::span(&c, 1))[s]) == Values{32});
  }

  TEST_CASE("what nothing flows to is skipped, and its leaf has zeros") {
    const Var x = leaf({2}), unused = leaf({1, 2, 3});
    Tape tape;
    product(x, x);  // does not lead to the output
    const Var y = product(x, Var(Tensor::full({1}, 3, DType::f64)));
    const Gradients g = tape.backward(y);
    CHECK(list(g[x]) == Values{3});
    CHECK(list(g[unused]) == Values{0, 0, 0});
  }

  TEST_CASE("gradients of store parameters are added to the buffer that the tape was given") {
    int store = 0;
    auto place = [&](Index i) {
      return Var(Tensor::full({1}, 2, DType::f64), std::make_shared<Leaf>(Leaf{"w", {1}, DType::f64, &store, i}));
    };
    const Var a = place(0), b = place(1);
    const GradientBuffer buffer{&store, {Tensor::full({1}, 100, DType::f64), Tensor::zeros({1}, DType::f64)}};
    {
      Tape tape{buffer};
      const Var y = product(a, product(a, b));
      const Gradients g = tape.backward(y);
      CHECK(list(g[a]) == Values{108});
    }
    CHECK(list(buffer.slices[0]) == Values{108});
    CHECK(list(buffer.slices[1]) == Values{4});
  }

  TEST_CASE("a leaf made later is never taken for one that is gone") {
    Gradients g = [] {
      const Var x = leaf({2});
      Tape tape;
      return tape.backward(product(x, x));
    }();
    for (int i = 0; i < 100; ++i) {  // addresses are used again
      const Var y = leaf({1});
      CHECK(list(g[y]) == Values{0});
    }
  }

  TEST_CASE("a parameter that the buffer of gradients does not know is named") {
    int store = 0;
    const GradientBuffer buffer{&store, {}};
    const Var late(Tensor::full({1}, 2, DType::f64), std::make_shared<Leaf>(Leaf{"late", {1}, DType::f64, &store, 0}));
    Tape tape{buffer};
    CHECK_THROWS_WITH_AS(product(late, late), "gradients: parameter late was made after the buffer of gradients",
                         Error);
  }

  TEST_CASE("without a tape, and under NoRecord, nothing is recorded") {
    const Var x = leaf({2});
    CHECK_FALSE(recording({x}));
    Tape tape;
    CHECK(recording({x}));
    {
      NoRecord off;
      CHECK_FALSE(recording({x}));
      product(x, x);
    }
    CHECK(tape.entries() == 0);
    product(x.detach(), x.detach());
    CHECK(tape.entries() == 0);
    product(x, x);
    CHECK(tape.entries() == 1);
  }

  TEST_CASE("misuse is an error that says what must hold") {
    const Var x = leaf({2}), two = leaf({1, 2});
    {
      Tape tape;
      const Var y = product(x, x);
      {
        Tape inner;
        CHECK_THROWS_WITH_AS(
            product(y, x),
            "product: a value computed on another tape cannot pass its gradient on; detach() it, or record on one tape",
            Error);
        CHECK(inner.entries() == 0);
      }
      const Gradients g = tape.backward(y);
      CHECK_THROWS_WITH_AS(tape.backward(y),
                           "backward: this tape was walked before; its closures are gone. Record on a new tape", Error);
      CHECK_THROWS_WITH_AS(product(x, x), "product: this tape was walked by backward already; record on a new one",
                           Error);
      CHECK_THROWS_WITH_AS(g[y],
                           "gradients: only leaves (parameters, watched tensors) have one; given a computed or "
                           "constant value of shape [1]",
                           Error);
    }
    Tape tape;
    CHECK_THROWS_WITH_AS(tape.backward(Var(Tensor::scalar(1, DType::f64))),
                         "backward: the output must depend on a leaf and be recorded on this tape; it is a constant",
                         Error);
    CHECK_THROWS_WITH_AS(tape.backward(product(two, two)),
                         "backward: an output of shape [2] needs a cotangent; only a scalar has 1", Error);
    Tape other;
    const Var wrong = record("wrong", x.value(), {x}, [](const Tensor&, Grads& dx) {
      dx.add(0, Tensor::zeros({1, 1}, DType::f64));
    });
    CHECK_THROWS_WITH_AS(other.backward(wrong),
                         "wrong: the gradient of input 0 must be f64 [1]; the backward gave f64 [1, 1]", Error);
  }

  TEST_CASE("a gradient handed on is copied, so that adding to one does not change the other") {
    const Var x = leaf({1, 2});
    Tape tape;
    const auto sum = [](const Var& a, const Var& b) {
      Tensor y = a.value().clone();
      core::accumulate(y, b.value());
      return record("sum", y, {a, b}, [](const Tensor& dy, Grads& dx) {
        dx.add(0, dy);
        dx.add(1, dy);
      });
    };
    const Var a = product(x, Var(Tensor::full({2}, 3, DType::f64)));
    const Var y = sum(sum(a, a), a);
    const Tensor c = Tensor::from({1, 10}, {2}, DType::f64);
    CHECK(list(tape.backward(std::span(&y, 1), std::span(&c, 1))[x]) == Values{9, 90});
    CHECK(list(c) == Values{1, 10});
  }

  TEST_CASE("live bytes return to where they were when a tape ends, and its memory serves the next") {
    const std::size_t before = memory_use().live;
    for (int round = 0; round < 3; ++round) {
      const Var x = leaf({1, 2, 3});
      Tape tape;
      Var y = x;
      for (int i = 0; i < 50; ++i) y = product(y, x);
    }
    CHECK(memory_use().live == before);
  }

  TEST_CASE("each thread has its own tape") {
    Tape tape;
    bool recorded = true;
    std::thread([&] {
      const Var x = leaf({1});
      recorded = recording({x});
    }).join();
    CHECK_FALSE(recorded);
  }

  TEST_CASE("an observer sees every entry and may change what flows") {
    struct Double : Observer {
      std::vector<std::string> log;
      void recorded(Index number, const char* op, std::span<const Tensor> outputs) override {
        log.push_back(fmt::format("{} {} -> {}", number, op, outputs[0].shape().text()));
      }
      void walked(Index number, const char* op, std::span<const Tensor> contributions) override {
        log.push_back(fmt::format("{} {} <- {} {}", number, op, contributions[0].at(0), contributions[1].at(0)));
        contributions[0].set(0, contributions[0].at(0) * 2);
      }
    } observer;
    ObserverScope scope(observer);
    const Var x = leaf({3}), w = leaf({5});
    Tape tape;
    const Gradients g = tape.backward(product(product(x, w), w));
    CHECK(observer.log ==
          std::vector<std::string>{"0 product -> [1]", "1 product -> [1]", "1 product <- 5 15", "0 product <- 50 30"});
    CHECK(list(g[x]) == Values{100});
    CHECK(list(g[w]) == Values{45});
  }
}
