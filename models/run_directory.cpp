#include "models/run_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "core/files.h"
#include "models/checkpoint.h"
#include "models/run.h"

namespace tapestry {
namespace {

namespace fs = std::filesystem;

// The file of DIR.new that names DIR. What the user gave such a name has none, and replaces nothing.
constexpr const char* replaces = "replaces";

bool is_partial(const std::string& name) {
  return name.ends_with(".partial");
}

// Whether a training makes a file of this name: one of a run's, or its temporary `name.PROCESS.partial`.
bool is_run_file(const std::string& name) {
  constexpr std::array names{"config.json",   "source.vocab", "target.vocab",   "model.safetensors",
                             "metrics.jsonl", "summary.json", "subwords.model", replaces};
  const auto matches = [&](const std::string& known) {
    if (name == known) return true;
    if (!name.starts_with(known + ".") || !is_partial(name)) return false;
    const std::string number = name.substr(known.size() + 1, name.size() - known.size() - 1 - std::strlen(".partial"));
    return !number.empty() && number.find_first_not_of("0123456789") == std::string::npos;
  };
  return std::any_of(names.begin(), names.end(), matches);
}

struct Contents {
  std::vector<fs::path> of_run, others;
  bool run = false;  // config.json is that of a run
};

Contents contents_of(const fs::path& directory) {
  Contents contents;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    const std::string name = entry->path().filename().string();
    const bool ours = name == "checkpoints" ? holds_only_checkpoints(entry->path().string())
                                            : is_run_file(name) && entry->is_regular_file(ignored);
    (ours ? contents.of_run : contents.others).push_back(entry->path());
  }
  require(!error, "{}: must be a readable directory; {}", directory.string(), error.message());
  try {
    load_config(directory.string());
    contents.run = true;
  } catch (const Error&) {
  }
  return contents;
}

// Without a configuration of ours, only files that a killed training left may be taken away.
bool is_replaceable(const Contents& contents) {
  const auto is_config = [](const fs::path& path) { return path.filename() == "config.json"; };
  return contents.run ||
         (contents.others.empty() && std::none_of(contents.of_run.begin(), contents.of_run.end(), is_config));
}

// What is not a run's moves into the new run, and cannot where that has a file of its own.
void require_free_names(const std::string& directory, const std::vector<fs::path>& others) {
  for (const fs::path& other : others) {
    const std::string name = other.filename().string();
    if (name == "checkpoints" || is_run_file(name))
      throw UsageError(
          fmt::format("--out: {} must leave the names of a run's files free; {} is not of a run", directory, name));
  }
}

void remove_all(const std::vector<fs::path>& paths) {
  for (const fs::path& path : paths) remove_tree(path.string());
}

}  // namespace

RunDirectory::RunDirectory(const std::string& directory, bool force) {
  if (directory.empty()) throw UsageError("--out: must name a directory; given an empty name");
  make_directory(directory);
  // Without links and a trailing slash, for the name of the one beside it.
  directory_ = path_ = fs::canonical(directory).string();
  lock(path_);
  try {
    clear_replaced();
    const Contents contents = contents_of(directory_);
    if (!is_replaceable(contents))
      throw UsageError(fmt::format("--out: {} must be empty or hold a run; it holds other files", directory));
    if (!force && !contents.of_run.empty())
      throw UsageError(fmt::format("--out: {} holds {} run; give another directory, or --force to replace it",
                                   directory, contents.run ? "a" : "the rest of an unfinished"));
    if (contents.run) {
      require_free_names(directory, contents.others);
      stage();
    } else {
      remove_all(contents.of_run);
    }
  } catch (...) {
    unlock();
    throw;
  }
}

RunDirectory::RunDirectory(const std::string& directory) {
  std::error_code error;
  directory_ = path_ = fs::canonical(directory, error).string();
  require(!error, "{}: must be a run directory; {}", directory, error.message());
  lock(path_);
  try {
    clear_replaced();
    for (const fs::path& file : contents_of(path_).of_run)
      if (is_partial(file.filename().string())) remove_tree(file.string());
    find_replaced();
  } catch (...) {
    unlock();
    throw;
  }
}

// Takes up what `stage` began, if the earlier run is still there.
void RunDirectory::find_replaced() {
  const fs::path note = fs::path(path_) / replaces;
  if (!fs::exists(note)) return;
  const std::string earlier = read_file(note.string());
  if (path_ != earlier + ".new" || !fs::is_directory(earlier) || !contents_of(earlier).run) return;
  lock(earlier);
  directory_ = earlier;
}

void RunDirectory::lock(const std::string& path) {
  locks_.push_back(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const auto require_locked = [&](bool holds, const std::string& message) {
    if (holds) return;
    unlock();
    fail(message);
  };
  require_locked(locks_.back() >= 0, fmt::format("{}: must be readable; {}", path, std::strerror(errno)));
  require_locked(::flock(locks_.back(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK,
                 fmt::format("{}: only one training may write to a directory; another one does", path));
}

void RunDirectory::unlock() {
  for (int descriptor : locks_) ::close(descriptor);
  locks_.clear();
}

void RunDirectory::stage() {
  path_ = directory_ + ".new";
  make_directory(path_);
  lock(path_);
  const Contents contents = contents_of(path_);
  const fs::path note = fs::path(path_) / replaces;
  // Before it is written there may be its temporary file.
  const auto is_begun = [](const fs::path& file) { return is_partial(file.filename().string()); };
  const bool ours = fs::exists(note) ? read_file(note.string()) == directory_
                                     : std::all_of(contents.of_run.begin(), contents.of_run.end(), is_begun);
  if (!contents.others.empty() || !ours)
    throw UsageError(fmt::format("{}: must be free for the new run; it holds other files", path_));
  write_atomically(note.string(), directory_);
  for (const fs::path& file : contents.of_run)
    if (file != note) remove_tree(file.string());
}

void RunDirectory::finish() {
  if (path_ != directory_) take_place();
  remove_tree((fs::path(path_) / replaces).string());
}

void RunDirectory::take_place() {
  exchange(path_, directory_, directory_ + ".old");
  path_ = directory_;
  clear_replaced();
}

// Once the new run has the name of the old one, the note in it names itself, and what stands beside it is the old one.
void RunDirectory::clear_replaced() {
  const fs::path note = fs::path(path_) / replaces, beside = path_ + ".new";
  if (!fs::exists(note) || read_file(note.string()) != path_) return;
  if (fs::is_directory(beside)) {
    const Contents old = contents_of(beside);
    for (const fs::path& other : old.others) {
      std::error_code error;
      fs::rename(other, fs::path(path_) / other.filename(), error);
      require(!error, "{}: must be movable into {}; {}", other.string(), path_, error.message());
    }
    remove_all(old.of_run);
    fs::remove(beside);
  }
  remove_tree(note.string());
}

RunDirectory::~RunDirectory() {
  std::error_code ignored;
  const auto holds = [&](const char* name) { return fs::exists(fs::path(path_) / name, ignored); };
  if (path_ != directory_ && !holds("model.safetensors") && !holds("checkpoints")) {
    try {
      remove_all(contents_of(path_).of_run);
      fs::remove(path_, ignored);
    } catch (const Error&) {
      // What cannot be removed is taken over by the next training.
    }
  }
  unlock();
}

}  // namespace tapestry
