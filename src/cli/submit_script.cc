// The text goes with the job, as sbatch keeps it: the file may change while the job waits.
#include "cli/submit_script.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "base/split.h"
#include "cli/table.h"
#include "cli/text/shell_words.h"

namespace cli {

namespace {

constexpr std::string_view kMark = "#VSUB";
constexpr std::size_t kTextMax = 100'000;  // an argument of a program has 128 KiB at most

bool is_mark(std::string_view line) {
  return line.starts_with(kMark) &&
         (line.size() == kMark.size() || line[kMark.size()] == ' ' || line[kMark.size()] == '\t');
}

// The flag by which an interpreter takes a program from its arguments; null: it has none that we know.
const char* flag_for_text(std::string_view program) {
  static constexpr std::array<std::string_view, 7> kWithC = {"sh", "bash", "dash", "ksh", "zsh", "ash", "fish"};
  static constexpr std::array<std::string_view, 3> kWithE = {"perl", "ruby", "node"};
  if (std::ranges::find(kWithC, program) != kWithC.end() || program.starts_with("python")) return "-c";
  if (std::ranges::find(kWithE, program) != kWithE.end()) return "-e";
  return nullptr;
}

}  // namespace

std::optional<std::string> script_of(const World& world, const Values& values) {
  const std::vector<std::string> words = values.list(kWords);
  if (words.empty()) return std::nullopt;
  auto text = world.read_file(words.front());
  if (!text.ok() || !text->starts_with("#")) return std::nullopt;
  const std::vector<std::string_view> lines = base::split(*text, '\n');
  if (std::ranges::none_of(lines, is_mark)) return std::nullopt;
  return *std::move(text);
}

base::Result<std::vector<std::string>> script_flags(const std::string& text) {
  std::vector<std::string> flags;
  int number = 0;
  for (const std::string_view line : base::split(text, '\n')) {
    ++number;
    if (!line.empty() && !line.starts_with('#')) break;
    if (!is_mark(line)) continue;
    auto words = split_words(line.substr(kMark.size()));
    if (!words.ok()) return usage_error(base::format("line {} of the script: {}", number, words.error().message));
    for (std::string& word : *words) flags.push_back(std::move(word));
    const std::size_t before = flags.size() - words->size();
    if (before < flags.size() && !flags[before].starts_with('-'))
      return usage_error(base::format("line {} of the script: {:?} is not a flag", number, flags[before]));
  }
  return flags;
}

base::Result<std::vector<std::string>> script_command(const std::string& text, const std::vector<std::string>& words) {
  if (text.size() > kTextMax)
    return usage_error(
        base::format("{} has {} bytes, and {} at most go with a job", words.front(), text.size(), kTextMax));
  std::string_view first = base::split(text, '\n').front();
  std::vector<std::string> command;
  if (first.starts_with("#!")) {
    for (const std::string_view word : base::split_words(first.substr(2), ' ')) command.emplace_back(word);
  } else {
    command.emplace_back("/bin/sh");
  }
  if (command.empty()) return usage_error(base::format("{} names no interpreter", words.front()));
  const std::string last = command.back();
  const char* flag = flag_for_text(std::string_view(last).substr(last.rfind('/') + 1));
  if (flag == nullptr && command.size() > 1) {  // "#!/bin/bash -e"
    flag = flag_for_text(std::string_view(command.front()).substr(command.front().rfind('/') + 1));
  }
  if (flag == nullptr)
    return usage_error(base::format("{}: the interpreter {} takes no program as an argument", words.front(), first));
  command.emplace_back(flag);
  command.push_back(text);
  // Shells call the first word behind their program $0; others begin with the arguments.
  const bool is_shell = !last.substr(last.rfind('/') + 1).starts_with("python") && std::string_view(flag) == "-c";
  command.insert(command.end(), words.begin() + (is_shell ? 0 : 1), words.end());
  return command;
}

}  // namespace cli
