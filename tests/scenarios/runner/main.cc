// scenario_test [--update] FILE|FOLDER...: plays scenarios; fails when one differs, or rewrites its expected blocks.
// scenario_test --seeds FIRST [--count N] [--seconds N]: decides random clusters; prints those that fail, shrunk.
// scenario_test --print SEED: the cluster of one seed.
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "by_the_book.h"
#include "random_cluster.h"
#include "run.h"
#include "seeds.h"

namespace {

constexpr std::uint64_t kSplits = 2;

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// The first line that differs, for people.
void show_difference(const std::string& expected, const std::string& actual) {
  std::istringstream left(expected), right(actual);
  std::string a, b;
  for (int line = 1;; ++line) {
    const bool more_a = static_cast<bool>(std::getline(left, a)), more_b = static_cast<bool>(std::getline(right, b));
    if (!more_a && !more_b) return;
    if (more_a && more_b && a == b) continue;
    std::cout << "  line " << line << "\n    expected: " << (more_a ? a : "(end)")
              << "\n    actual:   " << (more_b ? b : "(end)") << "\n";
    return;
  }
}

// The decisions that follow from the specification alone; a file that says so must be one of those.
constexpr std::string_view kByTheBook = "# Also by the book.\n";
int by_the_book = 0;

bool binds_in_order(const std::string& text) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("show ") && line.find(" order") != std::string::npos) return true;
  }
  return false;
}

bool check_by_the_book(const std::string& file, const std::string& text, const std::string& played) {
  const auto book = scenario::decide_by_the_book(text);
  if (!book.ok()) {
    if (text.find(kByTheBook) == std::string::npos) return true;
    std::cout << file << ": " << book.error().message << "\n";
    return false;
  }
  ++by_the_book;
  const bool in_order = binds_in_order(text);
  const std::string expected = in_order ? *book : scenario::sorted_binds(*book), actual = scenario::binds_of(played);
  if (expected == (in_order ? actual : scenario::sorted_binds(actual))) return true;
  std::cout << file << ": by the book it would be\n" << expected << "and it is\n" << actual;
  return false;
}

// A text that the book decides says so, below what it shows.
std::string marked_by_the_book(const std::string& text) {
  if (text.find(kByTheBook) != std::string::npos || !scenario::decide_by_the_book(text).ok()) return text;
  std::size_t at = 0;
  while (at < text.size() && text[at] == '#') at = text.find('\n', at) + 1;
  return text.substr(0, at) + std::string(kByTheBook) + text.substr(at);
}

// Plays one file, and says what is wrong with it.
bool check(const std::filesystem::path& file, bool update) {
  const std::string expected = read(file);
  const auto fail = [&](std::string_view what) { return std::cout << file.string() << ": " << what << "\n", false; };
  const auto actual = scenario::play(expected);
  if (!actual.ok()) return fail(actual.error().message);
  if (const auto plain = scenario::play(expected, scenario::Player::kPlain); !plain.ok() || *plain != *actual) {
    fail("the plain scheduler decides otherwise");
    if (plain.ok()) show_difference(*actual, *plain);
    return false;
  }
  if (const auto dumped = scenario::play(expected, scenario::Player::kDumped); !dumped.ok())
    return fail("decided otherwise from a dump: " + dumped.error().message);
  for (std::uint64_t split = 0; split < kSplits; ++split) {
    const auto parts = scenario::play(expected, scenario::Player::kSplit, split);
    if (parts.ok() && *parts == *actual) continue;
    fail(parts.ok() ? "decided otherwise when events come in other parts" : parts.error().message);
    if (parts.ok()) show_difference(*actual, *parts);
    return false;
  }
  if (!check_by_the_book(file.string(), expected, *actual)) return false;
  const std::string now = update ? marked_by_the_book(*actual) : *actual;
  if (now == expected) return true;
  if (update) {
    std::ofstream(file, std::ios::binary) << now;
    std::cout << file.string() << ": rewritten\n";
    return true;
  }
  fail("differs");
  show_difference(expected, *actual);
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  setenv("TZ", "UTC", 1);  // hours in scenarios are the same everywhere
  tzset();
  bool update = false;
  scenario::Seeds seeds;
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--update") {
      update = true;
    } else if (const std::string word = argv[i]; word.starts_with("--") && i + 1 < argc) {
      const std::string value = argv[++i];
      if (word == "--print") return std::cout << scenario::random_scenario(std::stoull(value)), 0;
      if (word == "--seeds") seeds.first = std::stoull(value), seeds.count = std::max<std::uint64_t>(seeds.count, 1);
      if (word == "--count") seeds.count = std::stoull(value);
      if (word == "--seconds") seeds.seconds = std::stod(value), seeds.count = ~std::uint64_t{0} - seeds.first;
    } else if (std::filesystem::is_directory(argv[i])) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
        if (entry.path().extension() == ".scn") files.push_back(entry.path());
      }
    } else {
      files.emplace_back(argv[i]);
    }
  }
  if (seeds.count != 0) return scenario::run_seeds(seeds) == 0 ? 0 : 1;
  std::sort(files.begin(), files.end());
  int failed = 0;
  for (const auto& file : files) {
    if (!check(file, update)) ++failed;
  }
  std::cout << by_the_book << " of " << files.size() << " scenarios also by the book\n"
            << files.size() << " scenarios, " << failed << " failed\n";
  return failed == 0 && !files.empty() ? 0 : 1;
}
