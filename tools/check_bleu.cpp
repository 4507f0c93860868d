#include <cmath>
#include <filesystem>

#include "models/bleu.h"
#include "tools/check_case.h"
#include "tools/json_lines.h"

namespace tapestry {
namespace {

using Json = nlohmann::json;

BleuOptions options_of(const Json& line) {
  BleuOptions options;
  const auto tokenizer = line.at("tokenize").get<std::string>(), smooth = line.at("smooth").get<std::string>();
  if (tokenizer != "13a" && tokenizer != "none") throw NotImplemented("tokenizer " + tokenizer);
  options.tokenizer = tokenizer == "13a" ? BleuTokenizer::mteval_13a : BleuTokenizer::none;
  options.lowercase = line.at("lowercase").get<bool>();
  options.effective_order = line.value("effective_order", false);
  if (smooth == "none") {
    options.smoothing = BleuSmoothing::none;
  } else if (smooth == "floor") {
    options.smoothing = BleuSmoothing::floor;
  } else if (smooth == "add-k") {
    options.smoothing = BleuSmoothing::add_k;
  } else if (smooth != "exp") {
    throw NotImplemented("smoothing " + smooth);
  }
  return options;
}

std::string differs(const char* what, double given, double expected, double tolerance) {
  if (std::abs(given - expected) <= tolerance) return "";
  return fmt::format("{}: {:.12g} is expected; given {:.12g}", what, expected, given);
}

std::string check(const Json& line) {
  const auto hypotheses = line.at("hypotheses").get<std::vector<std::string>>();
  const auto references = line.at("references").get<std::vector<std::string>>();
  const BleuScore score = corpus_bleu(hypotheses, references, options_of(line));
  const auto precisions = line.at("precisions").get<std::vector<double>>();
  std::vector<std::string> errors{
      differs("score", score.score, line.at("score").get<double>(), 0.01),
      differs("bp", score.bp, line.at("bp").get<double>(), 1e-4),
      differs("sys_len", static_cast<double>(score.stats.sys_len), line.at("sys_len").get<double>(), 0),
      differs("ref_len", static_cast<double>(score.stats.ref_len), line.at("ref_len").get<double>(), 0)};
  for (std::size_t n = 0; n < score.precisions.size() && n < precisions.size(); ++n)
    errors.push_back(differs("precisions", score.precisions[n], precisions[n], 0.01));
  for (const std::string& error : errors)
    if (!error.empty()) return error;
  return "";
}

ConformanceRow check_line(const Json& line) {
  ConformanceRow row{"bleu/" + line.at("case").get<std::string>(),
                     "bleu",
                     "corpus_bleu",
                     CaseStatus::passed,
                     "",
                     "models: corpus_bleu"};
  try {
    row.error = check(line);
    if (!row.error.empty()) row.status = CaseStatus::failed;
  } catch (const NotImplemented& reason) {
    row.status = CaseStatus::not_implemented;
    row.error = reason.what();
  } catch (const Error& error) {
    row.status = CaseStatus::failed;
    row.error = error.what();
  }
  return row;
}

}  // namespace

std::vector<ConformanceRow> check_bleu(const std::string& directory) {
  std::vector<ConformanceRow> rows;
  const std::string path = directory + "/bleu.jsonl";
  if (!std::filesystem::exists(path)) return rows;
  for_each_json_line(path, [&](const Json& line) { rows.push_back(check_line(line)); });
  return rows;
}

}  // namespace tapestry
