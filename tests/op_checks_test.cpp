#include "autograd/op_checks.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

using namespace tapestry;

namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Names of functions that return a Var, several, or a named few (`RecurrentOutput`, `RecurrentState`) and are declared
// by the headers of autograd/. A twin (`gru_reference`) is made of the others.
std::set<std::string> declared_ops() {
  // These take and give Vars but compute nothing.
  const std::set<std::string> not_ops = {
      "watch",   // makes a leaf
      "detach",  // lets no gradient through
      "record",  // what ops are made with
      "append",
  };
  const std::regex declaration(R"((?:^|\n|inline |static )\s*(?:Var|std::vector<Var>|\w+Output|\w+State) (\w+)\()");
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(SOURCE_DIR "/autograd")) {
    if (entry.path().extension() != ".h") continue;
    const std::string text = text_of(entry.path());
    for (std::sregex_iterator match(text.begin(), text.end(), declaration), end; match != end; ++match)
      if (!not_ops.contains((*match)[1])) names.insert((*match)[1]);
  }
  return names;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("every case of every op passes gradcheck") {
    for (const GradcheckCase& check : op_checks()) {
      const GradcheckReport report = gradcheck(check);
      INFO(report.message);
      CHECK_MESSAGE(report.passed, report.name);
      CHECK(report.checked > 0);
    }
  }

  TEST_CASE("every op that a header of autograd declares has a case, and every case is of such an op") {
    const std::set<std::string> declared = declared_ops();
    CHECK(declared.size() > 50);
    std::set<std::string> checked;
    for (const GradcheckCase& check : op_checks()) checked.insert(check.name.substr(0, check.name.find('/')));
    for (const std::string& op : declared)
      CHECK_MESSAGE((checked.contains(op) || op.ends_with("_reference")), op << " has no gradcheck case");
    for (const std::string& op : checked) CHECK_MESSAGE(declared.contains(op), op << " is declared nowhere");
  }

  TEST_CASE("names of cases are unique") {
    std::set<std::string> names;
    for (const GradcheckCase& check : op_checks()) CHECK_MESSAGE(names.insert(check.name).second, check.name);
  }
}
