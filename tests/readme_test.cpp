// The READMEs against the code: what they link to, name, quote and tell the reader to type must exist.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "models/utf8.h"
#include "tests/program.h"
#include "tests/readme.h"

using namespace tapestry;
namespace fs = std::filesystem;

namespace {

const std::vector<std::string> chapters{"README.md",       "core/README.md",   "autograd/README.md", "nn/README.md",
                                        "optim/README.md", "models/README.md", "tools/README.md",    "tests/README.md"};

// The first group of every match.
std::vector<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator i(text.begin(), text.end(), regex), end; i != end; ++i) found.push_back((*i)[1]);
  return found;
}

// Without the space in front of each line and the space at its end: a quotation may be indented otherwise.
std::string unindented(const std::string& text) {
  std::string result;
  for (const std::string& line : lines_of(text)) {
    const std::size_t begin = line.find_first_not_of(' '), end = line.find_last_not_of(' ');
    if (begin != std::string::npos) result += line.substr(begin, end + 1 - begin);
    result += '\n';
  }
  return result;
}

// The lines of shell code as the shell has them: a backslash at the end of one makes it go on in the next.
std::vector<std::string> commands_of(const std::string& text) {
  return lines_of(std::regex_replace(text, std::regex(R"(\\\n)"), ""));
}

Markdown read_chapter(const std::string& chapter) {
  return read_markdown(read_file(SOURCE_DIR "/" + chapter));
}

bool in_project(const fs::path& path) {
  return fs::exists(SOURCE_DIR / path);
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("every link of a README leads somewhere") {
    std::size_t links = 0;
    for (const std::string& chapter : chapters)
      for (const std::string& link : matches(read_chapter(chapter).prose, R"(\]\(([^)#]+)(#[^)]*)?\))")) {
        if (link.starts_with("http")) continue;
        CHECK_MESSAGE(in_project(fs::path(chapter).parent_path() / link), chapter << " links to " << link);
        ++links;
      }
    CHECK(links >= 10);
  }

  TEST_CASE("every file that a README names exists") {
    std::size_t files = 0;
    for (const std::string& chapter : chapters) {
      const std::string text = read_chapter(chapter).prose;
      const fs::path folder = fs::path(chapter).parent_path();
      // From the root: core/tensor.h. A star stands for several files.
      for (const std::string& name : matches(text, R"(`((core|autograd|nn|optim|models|tools|tests)/[\w./-]*)`)")) {
        CHECK_MESSAGE(in_project(name), chapter << " names " << name);
        ++files;
      }
      // From the chapter's own folder: tensor.h.
      for (const std::string& name : matches(text, R"(`(\w+\.(h|cpp|py))`)")) {
        CHECK_MESSAGE(in_project(folder / name), chapter << " names " << name);
        ++files;
      }
    }
    CHECK(files >= 50);
  }

  TEST_CASE("code that a README quotes from a file stands there") {
    std::size_t quotations = 0;
    for (const std::string& chapter : chapters)
      for (const FencedBlock& block : read_chapter(chapter).blocks) {
        if (block.language != "cpp" || block.what.empty()) continue;
        const std::string source = unindented(read_file(SOURCE_DIR "/" + block.what));
        CHECK_MESSAGE(source.find(unindented(block.text)) != std::string::npos, chapter << " quotes what is not in "
                                                                                        << block.what << ":\n"
                                                                                        << block.text);
        ++quotations;
      }
    CHECK(quotations >= 10);
  }

  TEST_CASE("subcommands and options that a README tells to type are known to the program") {
    std::size_t options = 0;
    for (const std::string& chapter : chapters)
      for (const FencedBlock& block : read_chapter(chapter).blocks) {
        if (block.language != "sh") continue;
        for (const std::string& line : commands_of(block.text)) {
          const auto command = matches(line, R"(tapestry ((lab )?[a-z]+))");
          if (command.empty()) continue;
          CAPTURE(line);
          std::vector<std::string> arguments = split_words(command[0]);
          arguments.emplace_back("--help");
          const Outcome help = run_program(arguments);
          REQUIRE(help.status == 0);
          for (const std::string& option : matches(line, R"( (--[a-z-]+))")) {
            CHECK_MESSAGE(help.out.find(option) != std::string::npos, option);
            ++options;
          }
        }
      }
    CHECK(options >= 10);
  }

  TEST_CASE("the program in README.md is tests/readme_program.cpp, and it learns") {
    CHECK(readme_block("README.md", "tests/readme_program.cpp") == read_file(SOURCE_DIR "/tests/readme_program.cpp"));
    const Outcome outcome = run_shell("exec '" README_PROGRAM "'");
    REQUIRE(outcome.status == 0);
    const std::vector<std::string> printed = lines_of(outcome.out), quoted = lines_of(readme_block("README.md", "xor"));
    REQUIRE(printed.size() == quoted.size());
    // The first loss shows that it is the same network; the later ones differ by rounding from machine to machine.
    CHECK(printed.front() == quoted.front());
    const auto last = matches(printed.back(), R"(^update 100  loss ([0-9.]+)$)");
    REQUIRE(last.size() == 1);
    CHECK(std::stod(last[0]) < 1e-3);
  }

  TEST_CASE("the sentences of models/README.md are those of the built-in corpus") {
    CHECK(run_program({"corpus", "--pairs", "3", "--alignments"}).out == readme_block("models/README.md", "corpus"));
  }
}

TEST_SUITE("train") {
  TEST_CASE("the difficulty that models/README.md gives is that of the built-in corpus") {
    CHECK(run_program({"corpus", "--difficulty"}).out == readme_block("models/README.md", "difficulty"));
  }
}
