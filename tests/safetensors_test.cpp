#include "core/safetensors.h"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/files.h"
#include "tests/shared.h"
#include "tests/temporary_directory.h"

using namespace tapestry;

namespace {

/// A file with this header and data; the length in front is right unless given.
std::string bytes_of(const std::string& header, const std::string& data, std::int64_t length = -1) {
  const std::uint64_t n = length < 0 ? header.size() : static_cast<std::uint64_t>(length);
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &n, 8);
  return bytes + header + data;
}

/// The message that reading these bytes gives, without the path in front; empty if they are read.
std::string error_of(const std::string& bytes) {
  const int file = memfd_create("x", MFD_CLOEXEC);  // a file in memory: there are thousands of them here
  REQUIRE(write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  const std::string path = "/dev/fd/" + std::to_string(file);
  std::string message;
  try {
    read_safetensors(path);
  } catch (const Error& error) {
    message = error.what();
    REQUIRE(message.starts_with(path + ": "));
    REQUIRE(message.find('\n') == std::string::npos);
    message.erase(0, path.size() + 2);
  }
  close(file);
  return message;
}

/// The same for one entry named w, with 8 bytes of data.
std::string error_of_entry(const std::string& entry) {
  return error_of(bytes_of("{\"w\": " + entry + "}", std::string(8, '\0')));
}

SafetensorsFile small_file() {
  SafetensorsFile file;
  file.tensors["weight"] = Tensor::from({1.5, -2, 3, 0.1, 5, 6}, {2, 3}, DType::f32);
  file.tensors["bias"] = Tensor::from({0.1}, {}, DType::f64);
  file.integers["ids"] = Ids({7, -3, 2147483647, -2147483647 - 1}, {2, 2});
  file.booleans["mask"] = Ids({1, 0, 1});
  file.metadata["op"] = "add";
  return file;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("what was written comes back: both number types, ids, booleans, scalars, nothing, metadata") {
    const TemporaryDirectory directory;
    SafetensorsFile file = small_file();
    file.tensors["empty"] = Tensor::empty({0, 4}, DType::f32);
    file.tensors["special"] = Tensor::from({HUGE_VAL, -0.0, std::nan("")}, {3}, DType::f64);
    file.integers["no ids"] = Ids(std::vector<std::int32_t>{});
    file.metadata["names"] = "\"quoted\"\n\u00e9";
    write_safetensors(directory.file("a"), file);
    const SafetensorsFile back = read_safetensors(directory.file("a"));

    REQUIRE(back.tensors.size() == 4);
    CHECK(back.tensors.at("weight").dtype() == DType::f32);
    CHECK(back.tensors.at("weight").shape() == Shape{2, 3});
    CHECK(back.tensors.at("weight").values() == file.tensors["weight"].values());
    CHECK(back.tensors.at("bias").dtype() == DType::f64);
    CHECK(back.tensors.at("bias").rank() == 0);
    CHECK(back.tensors.at("bias").item() == 0.1);
    CHECK(back.tensors.at("empty").shape() == Shape{0, 4});
    CHECK(back.tensors.at("special").at(0) == HUGE_VAL);
    CHECK(std::signbit(back.tensors.at("special").at(1)));
    CHECK(std::isnan(back.tensors.at("special").at(2)));
    REQUIRE(back.integers.size() == 2);
    CHECK(back.integers.at("ids").shape() == Shape{2, 2});
    CHECK(std::ranges::equal(back.integers.at("ids").values(), file.integers["ids"].values()));
    CHECK(back.integers.at("no ids").shape() == Shape{0});
    CHECK(std::ranges::equal(back.booleans.at("mask").values(), file.booleans["mask"].values()));
    CHECK(back.metadata == file.metadata);
  }

  TEST_CASE("a slice of a tensor is written as its own rows") {
    const TemporaryDirectory directory;
    SafetensorsFile file;
    file.tensors["rows"] = Tensor::from({1, 2, 3, 4, 5, 6}, {3, 2}, DType::f32).rows(1, 3);
    write_safetensors(directory.file("a"), file);
    CHECK(read_safetensors(directory.file("a")).tensors.at("rows").values() == std::vector<double>{3, 4, 5, 6});
  }

  TEST_CASE("the bytes: length, sorted and padded JSON, then the wide elements first") {
    const TemporaryDirectory directory;
    SafetensorsFile file;
    file.booleans["a"] = Ids({1});
    file.tensors["b"] = Tensor::from({1}, {1}, DType::f32);
    file.integers["c"] = Ids({-2});
    file.metadata["k"] = "v";
    write_safetensors(directory.file("a"), file);
    std::string header =
        R"({"__metadata__":{"k":"v"},"a":{"data_offsets":[12,13],"dtype":"BOOL","shape":[1]},)"
        R"("b":{"data_offsets":[8,12],"dtype":"F32","shape":[1]},"c":{"data_offsets":[0,8],"dtype":"I64","shape":[1]}})";
    header.append((8 - header.size() % 8) % 8, ' ');
    const std::string data("\xfe\xff\xff\xff\xff\xff\xff\xff\0\0\x80\x3f\x01", 13);
    CHECK(read_file(directory.file("a")) == bytes_of(header, data));
  }

  TEST_CASE("a file of another kind, or a part of one") {
    CHECK(error_of("") == "must start with the 8 bytes of a safetensors header length; it has 0");
    CHECK(error_of("1234567") == "must start with the 8 bytes of a safetensors header length; it has 7");
    CHECK(error_of(bytes_of("{}", "", 3)) ==
          "the safetensors header must lie within the file; its length is 3, 2 bytes follow");
    CHECK(error_of(std::string(16, '\xff')) ==
          "the safetensors header must lie within the file; its length is 18446744073709551615, 8 bytes follow");
    CHECK(error_of(std::string(8, '\0')) == "the safetensors header must be a JSON object; it does not start with {");
    CHECK(error_of(bytes_of("[]", "")) == "the safetensors header must be a JSON object; it does not start with {");
    CHECK(error_of(bytes_of("{\"w\":", "")) == "the safetensors header must be JSON; it is not at byte 6");
    CHECK(error_of(bytes_of("{\"\xff\":1}", "")) == "the safetensors header must be JSON; it is not at byte 3");
    CHECK(error_of(bytes_of("{\"w\":1e999}", "")) ==
          "the safetensors header must be JSON; a number in it is out of range");
    CHECK(error_of(bytes_of("{\"w\":" + std::string(100'000, '['), "")).starts_with("the safetensors header must be"));
    CHECK(error_of(bytes_of("{}", "")).empty());
    CHECK(error_of(bytes_of("{}", "x")) == "arrays must fill the data; they take 0 bytes of 1");
  }

  TEST_CASE("names that occur twice, and metadata that is not text") {
    CHECK(error_of(bytes_of(R"({"w": 1, "w": 2})", "")) == "names in the header must differ; \"w\" is there twice");
    CHECK(error_of_entry(R"({"dtype": "F64", "dtype": "F32"})") ==
          "names in the header must differ; \"dtype\" is there twice");
    CHECK(error_of(bytes_of(R"({"a\nb": 1, "a\nb": 2})", "")) ==
          "names in the header must differ; \"a\\nb\" is there twice");
    CHECK(error_of(bytes_of(R"({"__metadata__": 3})", "")) ==
          "__metadata__ must map strings to strings; it is of type number");
    CHECK(error_of(bytes_of(R"({"__metadata__": {"k": null}})", "")) ==
          "__metadata__ must map strings to strings; \"k\" is of type null");
  }

  TEST_CASE("an entry that breaks the format") {
    CHECK(error_of_entry(R"({"dtype": "F64", "shape": [], "data_offsets": [0, 8]})").empty());
    CHECK(error_of_entry("3") == "\"w\" must have a \"dtype\"; given none");
    CHECK(error_of_entry(R"({"dtype": 1})") == "\"w\" must have a \"dtype\"; given none");
    CHECK(error_of_entry(R"({"dtype": "BF16"})") == "\"w\" must be F32, F64, I64 or BOOL; given \"BF16\"");
    CHECK(error_of_entry(R"({"dtype": "F64"})") == "\"w\" must have \"shape\", a list of sizes; given none");
    CHECK(error_of_entry(R"({"dtype": "F64", "shape": [-1]})") ==
          "\"w\" must have \"shape\", a list of sizes; given something else");
    CHECK(error_of_entry(R"({"dtype": "F64", "shape": [1.0]})") ==
          "\"w\" must have \"shape\", a list of sizes; given something else");
    CHECK(error_of_entry(R"({"dtype": "F64", "shape": [18446744073709551615]})") ==
          "\"w\" must have \"shape\", a list of sizes; given something else");
    CHECK(error_of_entry(R"({"dtype": "F64", "shape": [1, 1, 1, 1, 1, 1, 1], "data_offsets": [0, 8]})") ==
          "\"w\" must have at most 6 axes; given 7");
    CHECK(error_of_entry(R"({"dtype": "F64", "shape": [1]})") ==
          "\"w\" must have \"data_offsets\", a list of sizes; given none");
  }

  TEST_CASE("offsets that lie") {
    CHECK(error_of_entry(R"({"dtype": "F64", "shape": [2], "data_offsets": [0, 8]})") ==
          "\"w\" is F64 [2], so its two data_offsets must be 16 bytes apart; given [0, 8]");
    CHECK(error_of_entry(R"({"dtype": "F64", "shape": [1], "data_offsets": [8, 0]})") ==
          "\"w\" is F64 [1], so its two data_offsets must be 8 bytes apart; given [8, 0]");
    CHECK(error_of_entry(R"({"dtype": "F64", "shape": [1], "data_offsets": [0, 8, 16]})") ==
          "\"w\" is F64 [1], so its two data_offsets must be 8 bytes apart; given [0, 8, 16]");
    CHECK(error_of_entry(R"({"dtype": "F64", "shape": [1], "data_offsets": [8, 16]})") ==
          "arrays must lie one after the other; \"w\" should start at byte 0, given 8");
    CHECK(error_of_entry(R"({"dtype": "F32", "shape": [1], "data_offsets": [0, 4]})") ==
          "arrays must fill the data; they take 4 bytes of 8");
    const std::string two = R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
                                "b": {"dtype": "F32", "shape": [1], "data_offsets": [%, %]}})";
    const auto second_at = [&](const std::string& begin, const std::string& end) {
      std::string header = two;
      header.replace(header.find('%'), 1, begin);
      header.replace(header.find('%'), 1, end);
      return error_of(bytes_of(header, std::string(8, '\0')));
    };
    CHECK(second_at("4", "8").empty());
    CHECK(second_at("2", "6") == "arrays must lie one after the other; \"b\" should start at byte 4, given 2");
  }

  TEST_CASE("a huge array is refused before memory is taken for it") {
    CHECK(error_of_entry(R"({"dtype": "F64", "shape": [281474976710656], "data_offsets": [0, 2251799813685248]})") ==
          "\"w\" must end within the 8 bytes of data; given 2251799813685248 (the file is cut short)");
    CHECK(error_of_entry(R"({"dtype": "F64", "shape": [4294967296, 4294967296], "data_offsets": [0, 8]})") ==
          "\"w\" must have at most 2^58 elements; its shape has more");
    CHECK(error_of_entry(R"({"dtype": "F64", "shape": [4294967296, 4294967296, 0], "data_offsets": [0, 0]})") ==
          "\"w\" must have at most 2^58 elements; its shape has more");
  }

  TEST_CASE("values out of range") {
    const std::string entry = R"({"w": {"dtype": "I64", "shape": [1], "data_offsets": [0, 8]}})";
    CHECK(error_of(bytes_of(entry, std::string("\0\0\0\x80\0\0\0\0", 8))) ==
          "integers must fit 32 bits; \"w\" holds 2147483648");
    CHECK(error_of(bytes_of(R"({"w": {"dtype": "BOOL", "shape": [1], "data_offsets": [0, 1]}})", "\x02")) ==
          "a BOOL must be 0 or 1; \"w\" holds 2");
  }

  TEST_CASE("every shortened file is an error, and every damaged byte of the header an error or another file") {
    const TemporaryDirectory directory;
    write_safetensors(directory.file("good"), small_file());
    const std::string good = read_file(directory.file("good"));
    REQUIRE(error_of(good).empty());
    for (std::size_t size = 0; size < good.size(); ++size) CHECK(!error_of(good.substr(0, size)).empty());
    const std::size_t header_end = good.find_last_of('}') + 1;
    REQUIRE(header_end > 200);
    int errors = 0, trials = 0;
    for (std::size_t position = 0; position < header_end; ++position) {
      for (const char flip : {'\x01', '\x08', '\x7f', '\x80', '\xff'}) {
        std::string damaged = good;
        damaged[position] = static_cast<char>(damaged[position] ^ flip);
        errors += error_of(damaged).empty() ? 0 : 1;
        ++trials;
      }
    }
    CHECK(errors > trials / 2);  // names and metadata may well change into others
  }

  TEST_CASE("what cannot be saved, and where") {
    const TemporaryDirectory directory;
    const std::string path = directory.file("a");
    SafetensorsFile file = small_file();
    file.tensors["absent"] = Tensor();
    CHECK_THROWS_WITH_AS(write_safetensors(path, file),
                         (path + ": \"absent\" must have a value to be saved; it has none").c_str(), Error);
    file = small_file();
    file.integers["weight"] = Ids({1});
    CHECK_THROWS_WITH_AS(write_safetensors(path, file),
                         (path + ": names of arrays must differ; \"weight\" is taken").c_str(), Error);
    file = small_file();
    file.metadata["k"] = "\xff";
    CHECK_THROWS_WITH_AS(write_safetensors(path, file),
                         (path + ": names and metadata must be UTF-8; some are not").c_str(), Error);
    CHECK_THROWS_WITH_AS(write_safetensors("/dev/full", small_file()),
                         "/dev/full: must be writable; No space left on device", Error);
    CHECK(!std::filesystem::exists(path));
  }
}

TEST_SUITE("shared") {
  TEST_CASE("files that PyTorch wrote") {
    const auto oracle = shared_path("oracle");
    if (!oracle) {
      MESSAGE("skipped: no oracle in ../shared");
      return;
    }
    const SafetensorsFile add = read_safetensors(*oracle + "/elementwise/add_row.safetensors");
    CHECK(add.metadata.at("op") == "add");
    CHECK(add.tensors.at("in.a").shape() == Shape{3, 4});
    const Tensor &a = add.tensors.at("in.a"), &b = add.tensors.at("in.b"), &y = add.tensors.at("out.y");
    for (Index i = 0; i < 12; ++i) CHECK(y.at(i) == a.at(i) + b.at(i % 4));

    int files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(*oracle)) {
      if (entry.path().extension() != ".safetensors") continue;
      const SafetensorsFile file = read_safetensors(entry.path().string());
      CHECK(file.tensors.size() + file.integers.size() + file.booleans.size() > 0);
      const bool f32 = entry.path().stem().string().ends_with("_f32");
      for (const auto& named : file.tensors) {
        CHECK_MESSAGE((named.second.dtype() == DType::f32) == f32, entry.path().string(), " ", named.first);
      }
      ++files;
    }
    CHECK(files > 400);
  }
}
