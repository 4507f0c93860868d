#pragma once
// A run directory without a training: an untrained model of a few words.

#include "models/corpus.h"
#include "models/run.h"
#include "tests/temporary_directory.h"

namespace tapestry {

struct TinyRun {
  explicit TinyRun(const std::string& model = "bahdanau") {
    RunConfig config = preset("quickstart");
    config.model = model;
    config.embed = 5;
    config.hidden = 7;
    config.pairs = 30;
    config.valid = 0;
    config.test = 12;
    const Vocabulary source({{"the", "cat", "sees", "a", "dog", "."}}, 1),
        target({{"le", "chat", "voit", "un", "."}}, 1);
    const Run run(config, source, target);
    save_run(run, path());
    save_parameters(*run.store, file("model.safetensors"));
  }
  const std::string& path() const { return place.path(); }
  std::string file(const std::string& name) const { return place.file(name); }

  TemporaryDirectory place;
};

}  // namespace tapestry
