// Parsing and printing of flag rows.
#include "main/host/flags.h"

#include <algorithm>
#include <charconv>

#include "base/format.h"

namespace volcano_main {
namespace {

using base::Code;
using base::make_error;

base::Status assign(const Flag& flag, std::string_view value) {
  if (auto* const* text = std::get_if<std::string*>(&flag.target)) {
    **text = value;
  } else if (auto* const* list = std::get_if<std::vector<std::string>*>(&flag.target)) {
    (*list)->emplace_back(value);
  } else if (auto* const* number = std::get_if<int*>(&flag.target)) {
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), **number);
    if (error != std::errc() || end != value.data() + value.size())
      return make_error(Code::kInvalid, base::format("--{}: \"{}\" is not a number", flag.name, value));
  } else if (auto* const* boolean = std::get_if<bool*>(&flag.target)) {
    const std::optional<bool> read = parse_bool(value);
    if (!read)
      return make_error(Code::kInvalid, base::format("--{}: \"{}\" is neither true nor false", flag.name, value));
    **boolean = *read;
  }
  return {};
}

}  // namespace

std::optional<bool> parse_bool(std::string_view word) {
  static constexpr std::string_view kTrue[] = {"1", "t", "T", "true", "TRUE", "True"};
  static constexpr std::string_view kFalse[] = {"0", "f", "F", "false", "FALSE", "False"};
  if (std::find(std::begin(kTrue), std::end(kTrue), word) != std::end(kTrue)) return true;
  if (std::find(std::begin(kFalse), std::end(kFalse), word) != std::end(kFalse)) return false;
  return std::nullopt;
}

base::Result<std::vector<std::string>> parse_flags(const std::vector<Flag>& flags,
                                                   const std::vector<std::string>& arguments) {
  std::vector<std::string> rest;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string_view word = arguments[i];
    if (word == "--") {
      rest.insert(rest.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
      break;
    }
    if (!word.starts_with("--")) {
      rest.emplace_back(word);
      continue;
    }
    word.remove_prefix(2);
    const std::size_t equal = word.find('=');
    const std::string_view name = word.substr(0, equal);
    const Flag* found = nullptr;
    for (const Flag& flag : flags)
      if (flag.name == name) found = &flag;
    if (!found) return make_error(Code::kInvalid, base::format("unknown flag: --{}", name));
    if (equal != std::string_view::npos) {
      TRY_VOID(assign(*found, word.substr(equal + 1)));
    } else if (std::holds_alternative<bool*>(found->target)) {
      TRY_VOID(assign(*found, "true"));
    } else if (i + 1 < arguments.size()) {
      TRY_VOID(assign(*found, arguments[++i]));
    } else {
      return make_error(Code::kInvalid, base::format("flag needs an argument: --{}", name));
    }
  }
  return rest;
}

std::string flags_help(const std::vector<Flag>& flags) {
  std::string out;
  for (const Flag& flag : flags) {
    std::string value;
    if (auto* const* text = std::get_if<std::string*>(&flag.target)) value = **text;
    if (auto* const* number = std::get_if<int*>(&flag.target)) value = std::to_string(**number);
    if (auto* const* boolean = std::get_if<bool*>(&flag.target)) value = **boolean ? "true" : "";
    out += base::format("  --{:<20} {}{}\n", flag.name, flag.help, value.empty() ? "" : " (default " + value + ")");
  }
  return out;
}

}  // namespace volcano_main
