#include "tools/test_text.h"

namespace tapestry {
namespace {

TestText given_text(const Run& run, const ConfigOptions& options) {
  RunConfig config = run.config;
  config.data = config.source = config.target = "";
  config.pairs = config.valid = config.test = 0;
  config.valid_files.clear();
  config.test_files.clear();
  options.apply(config);
  validate(config);
  RunData data = load_data(config, run.segmenter);
  const std::string name = config.data.empty() ? config.source + " and " + config.target : config.data;
  if (options.given("--test")) return {std::move(data.test), {}, "the test part of " + name};
  return {std::move(data.train), {}, "all of " + name};
}

TestText own_text(const Run& run, const ConfigOptions& options) {
  for (const char* option : {"--pairs", "--split-seed", "--reverse"})
    if (options.given(option))
      throw UsageError(fmt::format("{}: says how to read --data, or --source and --target; neither is given", option));
  RunConfig config = run.config;
  options.apply(config);
  validate(config);
  if (options.given("--test") && !config.test_files.empty())
    return {read_part(config, run.segmenter, config.test_files, "test"), {}, "the files given by --test"};
  if (config.test == 0 && config.test_files.empty())
    throw UsageError(
        "test part: the run must have held one out; it did not: give --test FILE, or --data, or --source and --target");
  if (options.given("--test") && config.test > run.config.test)
    throw UsageError(fmt::format("--test: must be at most the {} source sentences that the run held out; given {}",
                                 run.config.test, config.test));
  RunData data = load_data(config, run.segmenter);
  return {std::move(data.test), std::move(data.test_alignments), "the test part that the run held out"};
}

}  // namespace

TestText test_text(const Run& run, const ConfigOptions& options) {
  const bool given = options.given("--data") || options.given("--source") || options.given("--target");
  return given ? given_text(run, options) : own_text(run, options);
}

}  // namespace tapestry
