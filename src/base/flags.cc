// Parsing and printing of flag rows.
#include "base/flags.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/format.h"
#include "base/number.h"
#include "base/split.h"

namespace base {
namespace {

Status bad_value(const Flag& flag, std::string_view value, std::string_view expected) {
  return make_error(Code::kInvalid, format("--{}: \"{}\" is not {}", flag.name, value, expected));
}

// Puts one value where it belongs.
struct Assign {
  const Flag& flag;
  std::string_view value;

  Status operator()(bool* target) const {
    const std::optional<bool> read = parse_bool(value);
    if (!read) return bad_value(flag, value, "true or false");
    *target = *read;
    return {};
  }
  template <std::integral Number>
  Status operator()(Number* target) const {
    const std::optional<Number> read = parse_number<Number>(value);
    if (!read) return bad_value(flag, value, "a whole number");
    *target = *read;
    return {};
  }
  Status operator()(double* target) const {
    const std::string text(value);
    char* end = nullptr;
    const double read = std::strtod(text.c_str(), &end);
    if (text.empty() || end != text.c_str() + text.size() || !std::isfinite(read))
      return bad_value(flag, value, "a number");
    *target = read;
    return {};
  }
  Status operator()(Duration* target) const {
    const std::optional<Duration> read = parse_go_duration(value);
    if (!read) return bad_value(flag, value, "a duration such as 1m30s");
    *target = *read;
    return {};
  }
  Status operator()(std::string* target) const { return *target = value, Status(); }
  Status operator()(std::vector<std::string>* target) const { return target->emplace_back(value), Status(); }
  Status operator()(CommaList target) const {
    for (const std::string_view word : split_words(value, ',')) target.into->emplace_back(word);
    return {};
  }
  Status operator()(Accepted form) const {
    bool on = false;
    std::int64_t number = 0;
    Duration span{};
    switch (form) {
      case Accepted::kSwitch: return (*this)(&on);
      case Accepted::kNumber: return (*this)(&number);
      case Accepted::kDuration: return (*this)(&span);
      case Accepted::kText: return {};
    }
    return {};
  }
  Status operator()(Elsewhere) const { return make_error(Code::kInvalid, format("--{} is {}", flag.name, flag.help)); }
};

// The default that --help shows; empty: nothing.
struct Show {
  std::string operator()(const bool* target) const { return *target ? "true" : ""; }
  std::string operator()(const int* target) const { return std::to_string(*target); }
  std::string operator()(const std::int64_t* target) const { return std::to_string(*target); }
  std::string operator()(const double* target) const { return format("{}", *target); }
  std::string operator()(const Duration* target) const { return format_go_duration(*target); }
  std::string operator()(const std::string* target) const { return *target; }
  std::string operator()(const std::vector<std::string>*) const { return {}; }
  std::string operator()(CommaList) const { return {}; }
  std::string operator()(Accepted) const { return {}; }
  std::string operator()(Elsewhere) const { return {}; }
};

bool is_switch(const Flag& flag) {
  const auto* form = std::get_if<Accepted>(&flag.target);
  return std::holds_alternative<bool*>(flag.target) || (form != nullptr && *form == Accepted::kSwitch);
}

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b,
                            [](char x, char y) { return x == y || (x == '-' && y == '_') || (x == '_' && y == '-'); });
}

// One argument that begins with '-': its row, and the value that stands in it.
struct Word {
  const Flag* flag = nullptr;
  std::optional<std::string_view> value;
};

Word read_word(std::span<const Flag> flags, std::string_view argument) {
  const bool is_long = argument.starts_with("--");
  argument.remove_prefix(is_long ? 2 : 1);
  const std::size_t equal = argument.find('=');
  const std::string_view name = argument.substr(0, equal);
  Word out;
  if (equal != std::string_view::npos) out.value = argument.substr(equal + 1);
  for (const Flag& flag : flags)
    if (same_name(flag.name, name) || (!is_long && name.size() == 1 && name[0] == flag.letter)) out.flag = &flag;
  if (out.flag || is_long) return out;
  for (const Flag& flag : flags) {
    const char letter = flag.letter != 0 ? flag.letter : flag.name.size() == 1 ? flag.name[0] : '\0';
    if (letter == argument[0] && !is_switch(flag)) return {&flag, argument.substr(1)};
  }
  return out;
}

}  // namespace

bool FlagWords::has(std::string_view name) const { return std::ranges::find(given, name) != given.end(); }

std::optional<bool> parse_bool(std::string_view word) {
  static constexpr std::string_view kTrue[] = {"1", "t", "T", "true", "TRUE", "True"};
  static constexpr std::string_view kFalse[] = {"0", "f", "F", "false", "FALSE", "False"};
  if (std::ranges::find(kTrue, word) != std::end(kTrue)) return true;
  if (std::ranges::find(kFalse, word) != std::end(kFalse)) return false;
  return std::nullopt;
}

Result<FlagWords> parse_flags(std::span<const Flag> flags, const std::vector<std::string>& arguments) {
  FlagWords out;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--") {
      out.rest.insert(out.rest.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
      break;
    }
    if (argument.size() < 2 || argument[0] != '-') {
      out.rest.emplace_back(argument);
      continue;
    }
    Word word = read_word(flags, argument);
    const std::string_view shown = argument.substr(0, argument.find('='));
    if (!word.flag) return make_error(Code::kInvalid, format("unknown flag: {}", shown));
    if (!word.value && is_switch(*word.flag)) word.value = "true";
    if (!word.value && !std::holds_alternative<Elsewhere>(word.flag->target)) {
      if (i + 1 == arguments.size()) return make_error(Code::kInvalid, format("flag needs an argument: {}", shown));
      word.value = arguments[++i];
    }
    TRY_VOID(std::visit(Assign{*word.flag, word.value.value_or("")}, word.flag->target));
    out.given.push_back(word.flag->name);
  }
  return out;
}

bool asks_for_help(const std::vector<std::string>& arguments) {
  return std::ranges::any_of(arguments,
                             [](std::string_view word) { return word == "--help" || word == "-help" || word == "-h"; });
}

std::string flags_help(std::span<const Flag> flags) {
  const auto is_listed = [](const Flag& flag) { return !std::holds_alternative<Elsewhere>(flag.target); };
  const auto head = [](const Flag& flag) {
    return flag.letter != 0 ? format("-{}, --{}", flag.letter, flag.name) : format("--{}", flag.name);
  };
  std::size_t width = 22;
  for (const Flag& flag : flags)
    if (is_listed(flag)) width = std::max(width, head(flag).size());
  std::string out;
  for (const Flag& flag : flags) {
    if (!is_listed(flag)) continue;
    const std::string value = std::visit(Show{}, flag.target);
    out += format("  {:<{}} {}{}\n", head(flag), width, flag.help, value.empty() ? "" : " (default " + value + ")");
  }
  return out;
}

std::span<const Flag> klog_flags() {
  static constexpr std::string_view kHelp = "accepted; logs go to standard error";
  static const Flag kFlags[] = {{"logtostderr", Accepted::kSwitch, kHelp},
                                {"alsologtostderr", Accepted::kSwitch, kHelp},
                                {"one-output", Accepted::kSwitch, kHelp},
                                {"skip-headers", Accepted::kSwitch, kHelp},
                                {"skip-log-headers", Accepted::kSwitch, kHelp},
                                {"add-dir-header", Accepted::kSwitch, kHelp},
                                {"stderrthreshold", Accepted::kText, kHelp},
                                {"vmodule", Accepted::kText, kHelp},
                                {"log-backtrace-at", Accepted::kText, kHelp},
                                {"log-dir", Accepted::kText, kHelp},
                                {"log-file", Accepted::kText, kHelp},
                                {"log-file-max-size", Accepted::kText, kHelp},
                                {"log-flush-frequency", Accepted::kDuration, "accepted; logs are not buffered"}};
  return kFlags;
}

}  // namespace base
