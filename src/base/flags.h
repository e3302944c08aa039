// Flags of programs: one row each; parsing, --help and errors follow from the rows.
//
// Read as users of Go's programs know it: `--name=value`, `--name value`, `-name` as well, `_` for `-` inside a name, a
// switch without a value, and a letter with its value behind it (`-v4`, `-ojson`).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace base {

// A list of texts whose flag may be given several times; commas cut a value into several.
struct CommaList {
  std::vector<std::string>* into;
};
// Flags of Volcano's programs that have no effect in this one: only its form is checked.
enum class Accepted : std::uint8_t { kSwitch, kNumber, kDuration, kText };
// A flag of a sibling program, which users try here, too: an error that says `help` of it.
struct Elsewhere {};

struct Flag {
  std::string_view name;
  // The place for the value; a vector without CommaList gets each value as it is.
  std::variant<bool*, int*, std::int64_t*, double*, Duration*, std::string*, std::vector<std::string>*, CommaList,
               Accepted, Elsewhere>
      target;
  std::string_view help;
  char letter = 0;  // another name; 0: none
};

struct FlagWords {
  std::vector<std::string> rest;        // what is not a flag, in order: "-" is none, and nothing behind "--" is
  std::vector<std::string_view> given;  // names of rows

  bool has(std::string_view name) const;
};

// The words that Go takes for booleans; nothing for any other.
std::optional<bool> parse_bool(std::string_view word);
// kInvalid names the flag and the value; then the targets before it are set already. `given` points into the rows.
Result<FlagWords> parse_flags(std::span<const Flag> flags, const std::vector<std::string>& arguments);
// Whether --help or -h is among the arguments.
bool asks_for_help(const std::vector<std::string>& arguments);
// A line a flag, with the present values of the targets as its defaults.
std::string flags_help(std::span<const Flag> flags);
// The flags of Kubernetes' logging library but -v, without effect: logs go to standard error, unbuffered.
std::span<const Flag> klog_flags();

}  // namespace base
