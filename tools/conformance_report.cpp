#include "tools/conformance_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace tapestry {
namespace {

// The keys of rows in the order of their first appearance, with the rows of each.
using Groups = std::vector<std::pair<std::string, std::vector<ConformanceRow>>>;

Groups grouped(const std::vector<ConformanceRow>& rows, std::string ConformanceRow::*key) {
  Groups groups;
  for (const ConformanceRow& row : rows) {
    auto group = std::ranges::find_if(groups, [&](const auto& g) { return g.first == row.*key; });
    if (group == groups.end()) group = groups.insert(groups.end(), {row.*key, {}});
    group->second.push_back(row);
  }
  return groups;
}

std::vector<ConformanceRow> with_status(const std::vector<ConformanceRow>& rows, CaseStatus status) {
  std::vector<ConformanceRow> result;
  for (const ConformanceRow& row : rows)
    if (row.status == status) result.push_back(row);
  return result;
}

// "op (cases), op (cases)"
std::string ops_text(const std::vector<ConformanceRow>& rows) {
  std::string text;
  for (const auto& [op, cases] : grouped(rows, &ConformanceRow::op))
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", op, cases.size());
  return text;
}

std::string table_line(const std::string& category, std::size_t cases, const ConformanceTotals& t) {
  return fmt::format("{:<18} {:>6} {:>7} {:>7} {:>16}\n", category, cases, t.passed, t.failed, t.not_implemented);
}

}  // namespace

ConformanceTotals totals(const std::vector<ConformanceRow>& rows) {
  ConformanceTotals totals;
  for (const ConformanceRow& row : rows) {
    Index& count = row.status == CaseStatus::passed   ? totals.passed
                   : row.status == CaseStatus::failed ? totals.failed
                                                      : totals.not_implemented;
    ++count;
  }
  return totals;
}

std::string conformance_text(const std::vector<ConformanceRow>& rows) {
  std::string text =
      fmt::format("{:<18} {:>6} {:>7} {:>7} {:>16}\n", "category", "cases", "passed", "failed", "not implemented");
  const Groups categories = grouped(rows, &ConformanceRow::category);
  for (const auto& [category, cases] : categories) text += table_line(category, cases.size(), totals(cases));
  text += table_line("all", rows.size(), totals(rows));

  text += "\nnot implemented, by op\n";
  for (const auto& [category, cases] : categories) {
    const std::string ops = ops_text(with_status(cases, CaseStatus::not_implemented));
    if (!ops.empty()) text += fmt::format("  {:<18} {}\n", category, ops);
  }

  text += "\ncalled, by op\n";
  for (const auto& [op, cases] : grouped(rows, &ConformanceRow::op)) {
    std::string called;  // by some cases one thing, by some another
    for (const auto& way : grouped(cases, &ConformanceRow::called))
      if (!way.first.empty()) called += (called.empty() ? "" : " | ") + way.first;
    if (!called.empty()) text += fmt::format("  {:<26} {}\n", op, called);
  }

  const auto failures = with_status(rows, CaseStatus::failed);
  if (!failures.empty()) text += "\nfailed\n";
  for (const ConformanceRow& row : failures) text += fmt::format("  {}: {}\n", row.name, row.error);
  return text;
}

nlohmann::json conformance_json(const std::vector<ConformanceRow>& rows) {
  nlohmann::json list = nlohmann::json::array();
  for (const ConformanceRow& row : rows)
    list.push_back({{"name", row.name},
                    {"category", row.category},
                    {"op", row.op},
                    {"status", name(row.status)},
                    {"error", row.error},
                    {"called", row.called}});
  const ConformanceTotals t = totals(rows);
  return {{"rows", list}, {"passed", t.passed}, {"failed", t.failed}, {"not_implemented", t.not_implemented}};
}

}  // namespace tapestry
