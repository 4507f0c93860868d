#pragma once
// The directory a training writes to, and how it replaces an earlier run.

#include <string>

namespace tapestry {

/// Claims a directory for one training while it lives.
///
/// A new or empty directory is written in place. A run that is there already is only replaced with `force`, and then
/// stays whole until the new one is complete: that is written to DIR.new beside it, and `finish` exchanges the two in
/// one step. A full disk, a kill or an error before that leaves the old run as it was (and, after a kill, DIR.new,
/// which the next training takes over). What other files the directory holds, such as pictures, stay in it.
class RunDirectory {
 public:
  /// Errors (UsageError): the directory holds a run, or what a killed training left, and `force` is false; it holds
  /// other files and no run. Errors: it cannot be made or read; another training writes to it.
  RunDirectory(const std::string& directory, bool force);
  /// Without `finish`, removes DIR.new unless it holds a model.
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  /// Where the run is written.
  const std::string& path() const { return path_; }
  /// The run is complete and takes its place.
  void finish();

 private:
  void lock();
  void stage();

  std::string directory_, path_;
  int lock_ = -1;
};

}  // namespace tapestry
