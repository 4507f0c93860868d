#pragma once
// Computing cases and judging them.

#include <string>
#include <vector>

#include "tools/adapters.h"

namespace tapestry {

enum class CaseStatus { passed, failed, not_implemented };

/// "passed", "failed", "not_implemented".
const char* name(CaseStatus status);

struct ConformanceRow {
  std::string name, category, op;
  CaseStatus status;
  std::string error;   // why it failed, or why it is not implemented
  std::string called;  // the public functions and classes that computed it
};

/// Computes a case with an adapter, differentiates L = sum over k of sum(up.k * out.k), and compares every output and
/// gradient in the file. Whatever is thrown on the way is a failure with that message, but for NotImplemented.
ConformanceRow check_case(const OracleEntry& entry, const Adapter& adapter);

/// The cases of `directory`/bleu.jsonl: corpus scores that sacreBLEU computed, to 0.01. No rows without such a file.
/// Errors: `file:line:` a line that is no such case.
std::vector<ConformanceRow> check_bleu(const std::string& directory);

/// All cases of a directory. Errors: its index cannot be read.
std::vector<ConformanceRow> check_directory(const std::string& directory);

}  // namespace tapestry
