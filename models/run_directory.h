#pragma once
// The directory a training writes to, and how it replaces an earlier run.

#include <string>
#include <vector>

namespace tapestry {

/// Claims a directory for one training while it lives.
///
/// A new or empty directory is written in place. A run that is there already is only replaced with `force`, and then
/// stays whole until the new one is complete: that is written to DIR.new beside it, and `finish` exchanges the two in
/// one step. A full disk, a stop, a kill or an error before that leaves the old run as it was, and DIR.new if it came
/// to a model or a checkpoint: resumed, it still takes its place; another training with `force` clears it. After a kill
/// behind the exchange, whoever claims the directory next clears the rest of the old run. What other files the
/// directory holds, such as pictures, stay in it.
class RunDirectory {
 public:
  /// Errors (UsageError): the directory holds a run, or what a killed training left, and `force` is false; it holds
  /// other files and no run. Errors: it cannot be made or read; another training writes to it.
  RunDirectory(const std::string& directory, bool force);
  /// Claims a run to train it on in place, and removes what a kill left half written. A DIR.new that was to replace DIR
  /// still does. Errors: it is not there; another training writes to it, or to DIR.
  static RunDirectory resume(const std::string& directory) { return RunDirectory(directory); }
  /// Without `finish`, removes DIR.new unless it holds a model or a checkpoint.
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  /// Where the run is written.
  const std::string& path() const { return path_; }
  /// The run is complete and takes its place.
  void finish();

 private:
  explicit RunDirectory(const std::string& directory);
  void lock(const std::string& path);
  void unlock();
  void stage();
  void find_replaced();
  void take_place();
  void clear_replaced();

  std::string directory_, path_;
  std::vector<int> locks_;  // descriptors of the directories
};

}  // namespace tapestry
