#include "models/checkpoint.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "core/safetensors.h"
#include "tests/small_training.h"

using namespace tapestry;
namespace fs = std::filesystem;

TEST_SUITE_BEGIN("fast");

TEST_CASE("the last checkpoints are kept, whole ones only") {
  const TemporaryDirectory place;
  RunConfig config = small_training();
  Heard(place.path(), config);
  const Checkpoints checkpoints(place.path(), 2);
  CHECK(checkpoints.epochs() == std::vector<Index>{3, 4});
  CHECK(holds_only_checkpoints(place.file("checkpoints")));
  const auto state = checkpoints.newest();
  REQUIRE(state);
  CHECK(state->epoch == 4);
  CHECK(state->batch == 0);
  CHECK(state->metrics == 4);
  // What a kill leaves while a checkpoint is written does not count, and goes.
  fs::copy(place.file("checkpoints/epoch-4"), place.file("checkpoints/epoch-5.partial"));
  // Nor does what one leaves while a checkpoint is removed.
  fs::create_directories(place.file("checkpoints/last.old.partial"));
  CHECK(checkpoints.epochs().size() == 2);
  CHECK(checkpoints.newest()->epoch == 4);
  checkpoints.tidy();
  CHECK_FALSE(fs::exists(place.file("checkpoints/epoch-5.partial")));
  CHECK_FALSE(fs::exists(place.file("checkpoints/last.old.partial")));
  config.keep = 0;
  config.epochs = 5;
  Heard(place.path(), config, {true, 0});
  CHECK(checkpoints.epochs() == std::vector<Index>{5});
  place.write("checkpoints/letter.txt", "dear");
  CHECK_FALSE(holds_only_checkpoints(place.file("checkpoints")));
}

TEST_CASE("a checkpoint that does not fit is told by its file") {
  const TemporaryDirectory place;
  RunConfig config = small_training();
  config.epochs = 1;
  Heard(place.path(), config);
  const std::string state = place.file("checkpoints/epoch-1/state.safetensors");
  const auto error_of = [&](const RunConfig& wanted) {
    try {
      Heard(place.path(), wanted, {true, 0});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  RunConfig wider = config;
  wider.hidden = 6;
  CHECK(error_of(wider).find("epoch-1/model.safetensors: must hold the parameters of this model") != std::string::npos);
  SafetensorsFile file = read_safetensors(state);
  const SafetensorsFile good = file;
  file.tensors.erase("first_moment.00000");
  write_safetensors(state, file);
  CHECK(error_of(config) == state +
                                ": must hold the moments of this model; first_moment.00000 is missing or of "
                                "another shape");
  file = good;
  file.metadata.clear();
  write_safetensors(state, file);
  CHECK(error_of(config) == state + ": must hold the state of a training; it has none");
  file.metadata["training"] = "{}";
  write_safetensors(state, file);
  CHECK(error_of(config).starts_with(state + ": must hold the state of a training; "));
}

TEST_SUITE_END();
