#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/files.h"
#include "tests/shared.h"
#include "tests/temporary_directory.h"
#include "tools/conformance_report.h"

using namespace tapestry;

namespace {

// A folder with one case: y = a * b, a [2,1] and b [3], right unless changed.
struct Folder {
  TemporaryDirectory directory;
  SafetensorsFile file;
  std::string op = "mul", variant = "tiny";

  explicit Folder(DType dtype = DType::f64) {
    const auto set = [&](const char* name, std::initializer_list<double> values, const Shape& shape) {
      file.tensors[name] = Tensor::from(values, shape, dtype);
    };
    set("in.a", {2, -1}, {2, 1});
    set("in.b", {3, 0.5, 4}, {3});
    set("up.y", {1, 2, 3, 4, 5, 6}, {2, 3});
    set("out.y", {6, 1, 8, -3, -0.5, -4}, {2, 3});
    set("grad.in.a", {1 * 3 + 2 * 0.5 + 3 * 4, 4 * 3 + 5 * 0.5 + 6 * 4}, {2, 1});
    set("grad.in.b", {2 * 1 - 4, 2 * 2 - 5, 2 * 3 - 6}, {3});
  }

  std::string index_line(const std::string& dtype) const {
    return R"({"file": "case.safetensors", "op": ")" + op + R"(", "category": "elementwise", "case": ")" + variant +
           R"(", "dtype": ")" + dtype +
           R"(", "hyper": {}, "inputs": ["in.a", "in.b"], "params": [], "outputs": ["out.y"], "upstream": ["up.y"], )"
           R"("grads": ["grad.in.a", "grad.in.b"]})"
           "\n";
  }
  ConformanceRow row() const {
    write_safetensors(directory.file("case.safetensors"), file);
    const bool f64 = file.tensors.at("out.y").dtype() == DType::f64;
    directory.write("index.jsonl", index_line(f64 ? "float64" : "float32"));
    const auto rows = check_directory(directory.path());
    REQUIRE(rows.size() == 1);
    return rows[0];
  }
  void scale(const std::string& array, Index element, double factor) {
    const Tensor& tensor = file.tensors.at(array);
    tensor.set(element, tensor.at(element) * factor);
  }
};

std::string error_of(const TemporaryDirectory& directory) {
  try {
    check_directory(directory.path());
  } catch (const Error& error) {
    return std::string(error.what()).substr(directory.path().size());
  }
  return "";
}

std::set<std::string> not_implemented_ops(const std::vector<ConformanceRow>& rows) {
  std::set<std::string> ops;
  for (const ConformanceRow& row : rows)
    if (row.status == CaseStatus::not_implemented) ops.insert(row.op);
  return ops;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("a right case passes and says what computed it") {
    for (const DType dtype : {DType::f64, DType::f32}) {
      const ConformanceRow row = Folder(dtype).row();
      CHECK(row.error == "");
      CHECK(row.status == CaseStatus::passed);
      CHECK(row.name == "case");
      CHECK(row.called == "tapestry::mul");
    }
  }

  TEST_CASE("an output or a gradient that is 1 % off is found, with the element and both values") {
    for (const DType dtype : {DType::f64, DType::f32}) {
      for (const auto& array : {"out.y", "grad.in.a", "grad.in.b"}) {
        Folder folder(dtype);
        folder.scale(array, 1, 1.01);
        const ConformanceRow row = folder.row();
        CHECK_MESSAGE(row.status == CaseStatus::failed, array);
        CHECK(row.error.starts_with(array));
      }
    }
    Folder folder;
    folder.scale("out.y", 4, 2);
    CHECK(folder.row().error == "out.y[1, 1]: -1 is expected; given -0.5, 5e+08 times the tolerance away");
  }

  TEST_CASE("the tolerances are those of the oracle's README") {
    Folder f64;
    f64.scale("out.y", 2, 1 + 0.9e-9);  // 8: relative to the element
    CHECK(f64.row().status == CaseStatus::passed);
    f64.scale("out.y", 2, 1 + 0.3e-9);
    CHECK(f64.row().status == CaseStatus::failed);
    Folder small;
    small.scale("out.y", 4, 1 + 1.9e-9);  // 0.5: absolute
    CHECK(small.row().status == CaseStatus::passed);
    Folder f32(DType::f32);
    f32.file.tensors["out.y"].set(4, -0.5 + 7e-5);  // relative to the largest, 8
    CHECK(f32.row().status == CaseStatus::passed);
    f32.file.tensors["out.y"].set(4, -0.5 + 9e-5);
    CHECK(f32.row().status == CaseStatus::failed);
    f32.variant = "offset1e3";
    CHECK(f32.row().status == CaseStatus::passed);
  }

  TEST_CASE("NaN equals only NaN, infinity only itself") {
    Folder folder;
    folder.file.tensors["out.y"].set(0, std::nan(""));
    CHECK(folder.row().status == CaseStatus::failed);
    folder.file.tensors["in.b"].set(0, std::nan(""));  // now the NaN is expected in column 0, and not at [1, 0]
    CHECK(folder.row().error.starts_with("out.y[1, 0]: -3 is expected; given nan"));
    folder.file.tensors["out.y"].set(3, std::nan(""));
    CHECK(folder.row().error.starts_with("grad.in.a[0, 0]: 16 is expected; given nan"));
    Folder infinite;
    infinite.file.tensors["in.b"].set(0, HUGE_VAL);
    infinite.file.tensors["out.y"].set(0, HUGE_VAL);
    infinite.file.tensors["out.y"].set(3, HUGE_VAL);
    CHECK(infinite.row().error.starts_with("out.y[1, 0]: inf is expected; given -inf"));
  }

  TEST_CASE("another shape, another dtype, an output that is not computed") {
    Folder flat;
    flat.file.tensors["out.y"] = flat.file.tensors["out.y"].reshape({6});
    CHECK(flat.row().error == "out.y: shape [6] is expected; given [2, 3]");
    Folder more;
    more.file.tensors["out.z"] = Tensor::scalar(1, DType::f64);
    CHECK(more.row().error == "out.z: a value is expected; there is none");
    Folder mixed;
    mixed.file.tensors["in.b"] = mixed.file.tensors["in.b"].to(DType::f32);
    CHECK(mixed.row().error == "mul: all inputs must have one dtype; f64 [2, 1] and f32 [3]");
  }

  TEST_CASE("what is not implemented is neither passed nor failed") {
    Folder folder;
    folder.op = "no_such_op";
    const ConformanceRow row = folder.row();
    CHECK(row.status == CaseStatus::not_implemented);
    const auto json = conformance_json({row, Folder().row()});
    CHECK(json["passed"] == 1);
    CHECK(json["failed"] == 0);
    CHECK(json["not_implemented"] == 1);
    CHECK(json["rows"][0]["status"] == "not_implemented");
    CHECK(json["rows"][1]["called"] == "tapestry::mul");
    const std::string text = conformance_text({row, Folder().row()});
    CHECK(text.find("elementwise             2       1       0                1\n") != std::string::npos);
    CHECK(text.find("no_such_op (1)") != std::string::npos);
  }

  TEST_CASE("a damaged file fails its case, a damaged index the folder, each in one line") {
    Folder folder;
    folder.row();
    const std::string path = folder.directory.file("case.safetensors");
    const std::string bytes = read_file(path);
    folder.directory.write("case.safetensors", bytes.substr(0, bytes.size() - 8));
    auto rows = check_directory(folder.directory.path());
    CHECK(rows.at(0).status == CaseStatus::failed);
    CHECK(rows.at(0).error.find("cut short") != std::string::npos);
    std::filesystem::remove(path);
    rows = check_directory(folder.directory.path());
    CHECK(rows.at(0).error == path + ": must be readable; No such file or directory");

    folder.directory.write("index.jsonl", folder.index_line("float64") + "\n{\"file\": ");
    CHECK(error_of(folder.directory).starts_with("/index.jsonl:3: must be JSON; it is not at byte "));
    folder.directory.write("index.jsonl", "[]\n");
    CHECK(error_of(folder.directory) == "/index.jsonl:1: must be a JSON object; it is of type array");
    folder.directory.write("index.jsonl", "{}\n");
    CHECK(error_of(folder.directory).starts_with("/index.jsonl:1: "));
    folder.directory.write("index.jsonl", folder.index_line("float16"));
    CHECK(error_of(folder.directory) == "/index.jsonl:1: dtype must be float32 or float64; given float16");
    std::filesystem::remove(folder.directory.file("index.jsonl"));
    CHECK(error_of(folder.directory) == "/index.jsonl: must be readable; No such file or directory");
  }

  TEST_CASE("BLEU cases") {
    const TemporaryDirectory directory;
    directory.write("index.jsonl", "");
    const auto line = [](const std::string& tokenizer, int score) {
      return R"({"case": "c", "tokenize": ")" + tokenizer + R"(", "lowercase": false, "smooth": "exp", "score": )" +
             std::to_string(score) +
             R"(, "precisions": [100, 100, 100, 100], "bp": 1, "sys_len": 4, "ref_len": 4, )"
             R"("hypotheses": ["a b c d"], "references": ["a b c d"]})"
             "\n";
    };
    directory.write("bleu.jsonl", line("none", 100) + line("13a", 99) + line("zh", 100));
    const auto rows = check_directory(directory.path());
    REQUIRE(rows.size() == 3);
    CHECK(rows[0].status == CaseStatus::passed);
    CHECK(rows[1].status == CaseStatus::failed);
    CHECK(rows[1].error == "score: 99 is expected; given 100");
    CHECK(rows[2].status == CaseStatus::not_implemented);
    directory.write("bleu.jsonl", "{\"case\": \"c\"}\n");
    CHECK(error_of(directory).starts_with("/bleu.jsonl:1: "));
  }
}

TEST_SUITE("shared") {
  TEST_CASE("every case of the oracle passes") {
    const auto oracle = shared_path("oracle");
    if (!oracle) {
      MESSAGE("skipped: no oracle in ../shared");
      return;
    }
    const auto rows = check_directory(*oracle);
    CHECK(rows.size() > 500);
    for (const ConformanceRow& row : rows)
      CHECK_MESSAGE(row.status != CaseStatus::failed, row.name << ": " << row.error);
    CHECK(not_implemented_ops(rows).empty());
    for (const ConformanceRow& row : rows)
      if (row.status == CaseStatus::passed) CHECK_MESSAGE(!row.called.empty(), row.name);
  }
}
