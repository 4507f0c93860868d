// The masks of oracle cases: recognised where the library has them, composed where it has not.

#include "tools/case_mask.h"

#include <doctest/doctest.h>

#include "autograd/ops.h"
#include "nn/multi_head_attention.h"
#include "tests/temporary_directory.h"
#include "tools/check_case.h"

using namespace tapestry;

namespace {

Tensor numbers(const Shape& shape, double seed) {
  const Tensor t = Tensor::empty(shape, DType::f64);
  for (Index i = 0; i < t.numel(); ++i) t.set(i, std::sin(seed + 1.7 * static_cast<double>(i)));
  return t;
}

// A case of self-attention with two heads of x [2,3,4], whose right answer is that of the library under `mask`.
struct SelfAttention {
  SafetensorsFile file;
  std::string op = "mha_self";

  explicit SelfAttention(const Mask& mask) {
    ParameterStore store(DType::f64, 3);
    MultiHeadAttentionOptions options;
    options.heads = 2;
    const MultiHeadAttention layer(Scope(store), 4, options);
    for (const Var& parameter : store.parameters()) {
      parameter.value().copy_from(numbers(parameter.shape(), 0.3));
      file.tensors["param." + parameter.leaf()->name] = parameter.value();
    }
    const Var x = watch(numbers({2, 3, 4}, 0.9));
    Tape tape;
    const auto output = layer(x, mask, Pass(), true);
    file.tensors["in.q"] = x.value();
    file.tensors["out.y"] = output.context.value();
    file.tensors["out.weights"] = output.weights.value();
    file.tensors["up.y"] = numbers({2, 3, 4}, 2);
    const Gradients gradients = tape.backward(std::vector{output.context}, std::vector{file.tensors["up.y"]});
    file.tensors["grad.in.q"] = gradients[x];
    for (const Var& parameter : store.parameters())
      file.tensors["grad.param." + parameter.leaf()->name] = gradients[parameter];
  }

  ConformanceRow row() const {
    const TemporaryDirectory directory;
    write_safetensors(directory.file("case.safetensors"), file);
    directory.write("index.jsonl", R"({"file": "case.safetensors", "op": ")" + op +
                                       R"(", "category": "mha", "case": "masked", "dtype": "float64", "hyper": )"
                                       R"({"embed_dim": 4, "num_heads": 2, "batch_first": true, "bias": true}})"
                                       "\n");
    return check_directory(directory.path()).at(0);
  }
};

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("a matrix of what is hidden is known as the mask that it is") {
    const auto allowed = [](const CaseMask& mask, Index b, Index q) {
      const auto keys = mask.library()->keys(b, q, 3);
      return std::pair(keys.begin, keys.end);
    };
    CaseMask mask(2, 3, 3, -1e9);
    CHECK(allowed(mask, 1, 0) == std::pair<Index, Index>(0, 3));
    mask.hide(Ids({0, 1, 1, 0, 0, 1, 0, 0, 0}, {3, 3}), false);
    CHECK(allowed(mask, 1, 0) == std::pair<Index, Index>(0, 1));
    CHECK(allowed(mask, 1, 2) == std::pair<Index, Index>(0, 3));
    mask.hide(Ids({1, 1, 1, 1, 1, 0}, {2, 1, 3}), true);  // the second sentence has two keys
    CHECK(allowed(mask, 0, 2) == std::pair<Index, Index>(0, 3));
    CHECK(allowed(mask, 1, 2) == std::pair<Index, Index>(0, 2));
    CHECK(!mask.empty_rows());
    mask.hide_beyond(Ids({3, 0, 3, 3, 3, 3}, {2, 3}));
    CHECK(allowed(mask, 0, 1) == std::pair<Index, Index>(0, 0));
    const Ids empty = mask.empty_rows();
    CHECK(std::vector<std::int32_t>(empty.values().begin(), empty.values().end()) ==
          std::vector<std::int32_t>{0, 1, 0, 0, 0, 0});
    CaseMask hole(1, 1, 3, -1e9);
    hole.hide(Ids({0, 1, 0}, {1, 3}), false);
    CHECK(!hole.library());
    CHECK(hole.applied(Tensor::from({1, 2, 3}, {1, 1, 1, 3}, DType::f64)).value().values() ==
          std::vector<double>{1, -1e9, 3});
    CHECK_THROWS_WITH_AS(mask.hide(Ids({0, 0}, {1, 2}), false),
                         "case: a mask must broadcast to [2, 3, 3]; given [1, 1, 2]", Error);
    CHECK_THROWS_WITH_AS(mask.hide(Ids({0, 0, 0}, {3}), false),
                         "case: a mask must be a matrix, or one a sentence; given [3]", Error);
  }

  TEST_CASE("a mask of the library goes through the class, and the same as numbers is composed") {
    SelfAttention known(Mask::causal() & Mask::lengths(Ids({3, 2})));
    known.file.booleans["in.attn_mask"] = Ids({0, 1, 1, 0, 0, 1, 0, 0, 0}, {3, 3});
    known.file.booleans["in.key_padding_mask"] = Ids({0, 0, 0, 0, 0, 1}, {2, 3});
    CHECK(known.row().error == "");
    CHECK(known.row().called == "nn: MultiHeadAttention");

    SelfAttention added(Mask::causal());
    const double hidden = -HUGE_VAL;
    added.op = "mha_self_float_mask";
    added.file.tensors["in.const_attn_mask"] =
        Tensor::from({0, hidden, hidden, 0, 0, hidden, 0, 0, 0}, {3, 3}, DType::f64);
    CHECK(added.row().error == "");
    CHECK(added.row().called == "composed: linear, matmul, masked_fill, softmax");
    added.file.tensors["in.const_attn_mask"].set(3, 0.5);
    CHECK(added.row().status == CaseStatus::failed);
  }

  TEST_CASE("the gradient of a third of a parameter is compared with that third") {
    SelfAttention theirs{Mask()};
    theirs.op = "at_mha";
    SafetensorsFile& file = theirs.file;
    SafetensorsFile renamed;
    for (const char* of : {"param.", "grad.param."}) {
      for (const Index part : {0, 1, 2}) {
        const std::string place = of + ("linears." + std::to_string(part));
        renamed.tensors[place + ".weight"] =
            file.tensors[of + std::string("in_proj_weight")].rows(4 * part, 4 * part + 4);
        renamed.tensors[place + ".bias"] = file.tensors[of + std::string("in_proj_bias")].rows(4 * part, 4 * part + 4);
      }
      renamed.tensors[of + std::string("linears.3.weight")] = file.tensors[of + std::string("out_proj.weight")];
      renamed.tensors[of + std::string("linears.3.bias")] = file.tensors[of + std::string("out_proj.bias")];
    }
    for (const char* array : {"in.q", "out.y", "up.y"}) renamed.tensors[array] = file.tensors[array];
    renamed.tensors["in.k"] = renamed.tensors["in.v"] = file.tensors["in.q"];
    file = renamed;
    const auto row = [&] {
      const TemporaryDirectory directory;
      write_safetensors(directory.file("case.safetensors"), file);
      directory.write("index.jsonl",
                      R"({"file": "case.safetensors", "op": "at_mha", "category": "attention", "case": "", )"
                      R"("dtype": "float64", "hyper": {"h": 2, "d_model": 4}})"
                      "\n");
      return check_directory(directory.path()).at(0);
    };
    CHECK(row().error == "");
    const Tensor keys = file.tensors["grad.param.linears.1.weight"].clone();
    keys.set(5, keys.at(5) + 1e-3);
    file.tensors["grad.param.linears.1.weight"] = keys;
    CHECK(row().error.starts_with("grad.param.linears.1.weight[1, 1]: "));
  }
}
