// Parsing flags as users of the Go tools know it, and the help texts.
#include "cli/command.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "base/flags.h"
#include "base/format.h"
#include "base/number.h"
#include "base/split.h"

namespace cli {

namespace {

using Path = std::vector<const Command*>;

const std::array<Flag, 3> kGlobalFlags = {
    {{"log-flush-frequency", 0, Flag::Type::kDuration, "5s", "Maximum number of seconds between log flushes"},
     {"v", 'v', Flag::Type::kLevel, "", "number for the log level verbosity"},
     {"vmodule", 0, Flag::Type::kModules, "",
      "comma-separated list of pattern=N settings for file-filtered logging (only works for the default text log "
      "format)"}}};

std::string_view type_word(Flag::Type type) {
  switch (type) {
    case Flag::Type::kText: return "string";
    case Flag::Type::kBool: return "";
    case Flag::Type::kInt: return "int";
    case Flag::Type::kInt32: return "int32";
    case Flag::Type::kDuration: return "duration";
    case Flag::Type::kLevel: return "Level";
    case Flag::Type::kModules: return "moduleSpec";
  }
  return "";
}

std::string default_text(const Flag& flag) {
  if (flag.fallback.empty() || flag.type == Flag::Type::kBool) return {};
  if (flag.type == Flag::Type::kText) return base::format(" (default \"{}\")", flag.fallback);
  if ((flag.type == Flag::Type::kInt || flag.type == Flag::Type::kInt32) && flag.fallback == "0") return {};
  return base::format(" (default {})", flag.fallback);
}

std::string flag_lines(std::vector<Flag> flags) {
  std::sort(flags.begin(), flags.end(), [](const Flag& a, const Flag& b) { return a.name < b.name; });
  std::vector<std::string> heads;
  std::size_t width = 0;
  for (const Flag& flag : flags) {
    std::string head =
        flag.letter ? base::format("  -{}, --{}", flag.letter, flag.name) : base::format("      --{}", flag.name);
    if (const auto word = type_word(flag.type); !word.empty()) head += base::format(" {}", word);
    width = std::max(width, head.size());
    heads.push_back(std::move(head));
  }
  std::string text;
  for (std::size_t i = 0; i < flags.size(); ++i)
    text += base::format("{:<{}}   {}{}\n", heads[i], width, flags[i].help, default_text(flags[i]));
  return text;
}

std::string full_name(const Path& path) {
  std::string name;
  for (const Command* command : path) name += base::format("{}{}", name.empty() ? "" : " ", command->name);
  return name;
}

// The children of a command that Volcano has, or those that it has not.
std::string command_lines(const Path& path, bool extra) {
  std::vector<std::pair<std::string_view, std::string_view>> listed;
  for (const Command& child : path.back()->children)
    if (child.is_extra == extra) listed.emplace_back(child.name, child.summary);
  if (!extra && path.size() == 1) listed.emplace_back("help", "Help about any command");
  std::sort(listed.begin(), listed.end());
  std::string text;
  for (const auto& [name, summary] : listed) text += base::format("  {:<11} {}\n", name, summary);
  return text;
}

std::string usage_text(const Path& path, bool with_extras) {
  const Command& command = *path.back();
  const std::string name = full_name(path);
  std::string text = "Usage:\n";
  text += base::format("  {} {}\n", name,
                       !command.children.empty() ? "[command]"
                       : command.takes_words     ? "[flags] [command [arguments]]"
                                                 : "[flags]");
  if (!command.children.empty()) text += "\nAvailable Commands:\n" + command_lines(path, false);
  std::vector<Flag> own;
  std::vector<Flag> extra;
  for (const Flag& flag : command.flags) (flag.is_extra ? extra : own).push_back(flag);
  const std::string help = base::format("help for {}", command.name);
  own.push_back({.name = "help", .letter = 'h', .type = Flag::Type::kBool, .help = help});
  // Programs that Volcano does not have take its flags of logs without a word.
  const bool shows_global = !path.front()->name.starts_with("volcano ");
  if (path.size() == 1 && shows_global) own.insert(own.end(), kGlobalFlags.begin(), kGlobalFlags.end());
  text += "\nFlags:\n" + flag_lines(own);
  if (path.size() > 1 && shows_global)
    text += "\nGlobal Flags:\n" + flag_lines({kGlobalFlags.begin(), kGlobalFlags.end()});
  if (!command.children.empty())
    text += base::format("\nUse \"{} [command] --help\" for more information about a command.\n", name);
  // COMPAT(more-help): `--help` says what Volcano's tools say, and `vcctl help` what they do not have, too.
  if (!with_extras) return text;
  if (const std::string lines = command_lines(path, true); !lines.empty()) text += "\nMore Commands:\n" + lines;
  if (!extra.empty()) text += "\nMore Flags:\n" + flag_lines(std::move(extra));
  if (!command.remark.empty()) text += base::format("\n{}\n", command.remark);
  return text;
}

const Command* child_named(const Command& command, std::string_view name) {
  for (const Command& child : command.children)
    if (child.name == name) return &child;
  return nullptr;
}

// Takes what says in which base digits are: "0x", "0o", "0b", or a zero before octal digits.
int take_base(std::string_view& digits) {
  if (digits.size() < 2 || digits[0] != '0') return 10;
  const char letter = static_cast<char>(digits[1] | 0x20);
  const int base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
  digits.remove_prefix(base == 0 ? 1 : 2);
  return base == 0 ? 8 : base;
}

// Go's flags take the forms that its literals have; klog's level is decimal. Go's words for what is none of them.
template <class Number>
std::string read_number(std::string_view text, bool is_decimal, std::int64_t& value) {
  const bool has_sign = text.starts_with('-') || text.starts_with('+');
  std::string_view rest = text.substr(has_sign ? 1 : 0);
  const int base = is_decimal ? 10 : take_base(rest);
  // An underscore stands between two digits, or behind what says the base.
  std::string digits(text.starts_with('-') ? "-" : "");
  bool after_digit = base != 10, is_wrong = rest.empty() || rest.back() == '_' || rest.starts_with('-');
  for (const char c : rest) {
    is_wrong = is_wrong || (c == '_' && (is_decimal || !after_digit));
    after_digit = c != '_';
    if (after_digit) digits += c;
  }
  Number read = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), read, base);
  value = read;
  if (is_wrong || end != digits.data() + digits.size() || error == std::errc::invalid_argument) return "invalid syntax";
  return error == std::errc::result_out_of_range ? "value out of range" : "";
}

// The words of klog for a text that is not a list of PATTERN=N; null if it is one.
const char* modules_problem(std::string_view text) {
  for (const std::string_view part : base::split(text, ',')) {
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    const std::string_view level = part.substr(std::min(part.size(), equals + 1));
    const auto number = base::parse_number<std::int32_t>(level);
    if (equals == 0 || equals == std::string_view::npos || !number)
      return "syntax error: expect comma-separated list of filename=N";
    if (*number < 0) return "negative value for vmodule level";
  }
  return nullptr;
}

bool is_choice(const Flag& flag, std::string_view value) {
  for (std::string_view rest = flag.choices;;) {
    const std::size_t end = rest.find('|');
    if (rest.substr(0, end) == value) return true;
    if (end == std::string_view::npos) return false;
    rest.remove_prefix(end + 1);
  }
}

// Reads flags of one leaf. A word that has no meaning is an error.
class Parser {
 public:
  Parser(const Command& command, Values& values) : values_(values), command_(command) {
    flags_.insert(flags_.end(), command.flags.begin(), command.flags.end());
    flags_.insert(flags_.end(), kGlobalFlags.begin(), kGlobalFlags.end());
    flags_.push_back({.name = "help", .letter = 'h', .type = Flag::Type::kBool, .fallback = "false"});
    for (const Flag& flag : flags_)
      values_.set(flag.name, flag.type == Flag::Type::kBool && flag.fallback.empty() ? "false" : flag.fallback);
  }

  base::Status read(const std::vector<std::string>& arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string& argument = arguments[i];
      const bool is_end = argument == "--";
      if (is_end || (command_.takes_words && !argument.starts_with('-'))) {
        for (i += is_end ? 1 : 0; i < arguments.size(); ++i) TRY_VOID(take_word(arguments[i]));
      } else if (argument.starts_with("--")) {
        TRY_VOID(read_long(arguments, i));
      } else if (argument.size() > 1 && argument[0] == '-') {
        TRY_VOID(read_short(arguments, i));
      } else {
        TRY_VOID(take_word(argument));
      }
    }
    return {};
  }
  // The same from a file: flags that were given before stay.
  base::Status fill(const std::vector<std::string>& arguments) {
    kept_ = std::exchange(seen_, {});
    return read(arguments);
  }

 private:
  static base::Error bad(std::string message) { return base::make_error(base::Code::kBadRequest, std::move(message)); }

  // COMPAT(words-understood)
  base::Status take_word(const std::string& word) {
    if (command_.takes_words) {
      values_.add(kWords, word);
      return {};
    }
    for (const Flag& flag : flags_)
      if (!command_.first_argument.empty() && flag.name == command_.first_argument) return assign(flag, word);
    if (!command_.children.empty()) return bad(base::format("unknown command {:?} for {:?}", word, command_.name));
    return bad(base::format("unexpected argument {:?}", word));
  }

  base::Status read_long(const std::vector<std::string>& arguments, std::size_t& i) {
    const std::string& argument = arguments[i];
    const std::size_t equals = argument.find('=');
    std::string name = argument.substr(2, equals == std::string::npos ? equals : equals - 2);
    std::replace(name.begin(), name.end(), '_', '-');
    for (const Flag& flag : flags_) {
      if (flag.name != name) continue;
      if (equals != std::string::npos) return assign(flag, argument.substr(equals + 1));
      if (flag.type == Flag::Type::kBool) return assign(flag, "true");
      if (i + 1 == arguments.size()) return bad(base::format("flag needs an argument: --{}", name));
      return assign(flag, arguments[++i]);
    }
    return bad(base::format("unknown flag: --{}", name));
  }

  base::Status read_short(const std::vector<std::string>& arguments, std::size_t& i) {
    const std::string& argument = arguments[i];
    for (std::size_t at = 1; at < argument.size(); ++at) {
      const Flag* flag = nullptr;
      for (const Flag& one : flags_)
        if (one.letter == argument[at]) flag = &one;
      if (!flag) return bad(base::format("unknown shorthand flag: '{}' in {}", argument[at], argument));
      if (at + 1 < argument.size() && argument[at + 1] == '=') return assign(*flag, argument.substr(at + 2));
      if (flag->type == Flag::Type::kBool) {
        TRY_VOID(assign(*flag, "true"));
        continue;
      }
      if (at + 1 < argument.size()) return assign(*flag, argument.substr(at + 1));
      if (i + 1 == arguments.size())
        return bad(base::format("flag needs an argument: '{}' in {}", argument[at], argument));
      return assign(*flag, arguments[++i]);
    }
    return {};
  }

  // COMPAT(words-understood): of two values of one flag neither is dropped.
  base::Status assign(const Flag& flag, const std::string& value) {
    if (kept_.contains(flag.name) && !flag.is_many) return {};
    const auto [before, is_first] = seen_.emplace(flag.name, value);
    if (!is_first && !flag.is_many && before->second != value)
      return bad(base::format("flag --{} is given twice: {:?} and {:?}", flag.name, before->second, value));
    return assign_checked(flag, value);
  }

  base::Status assign_checked(const Flag& flag, const std::string& value) {
    const std::string shown =
        flag.letter ? base::format("-{}, --{}", flag.letter, flag.name) : base::format("--{}", flag.name);
    const bool is_level = flag.type == Flag::Type::kLevel;
    const bool is_int32 = flag.type == Flag::Type::kInt32 || is_level;
    if (is_int32 || flag.type == Flag::Type::kInt) {
      std::int64_t number = 0;
      const std::string problem = is_int32 ? read_number<std::int32_t>(value, is_level, number)
                                           : read_number<std::int64_t>(value, false, number);
      if (!problem.empty())
        return bad(base::format("invalid argument \"{}\" for \"{}\" flag: strconv.ParseInt: parsing \"{}\": {}", value,
                                shown, value, problem));
      values_.add(flag.name, std::to_string(number));
      return {};
    }
    if (flag.type == Flag::Type::kBool) {
      const std::optional<bool> on = base::parse_bool(value);
      if (!on)
        return bad(
            base::format("invalid argument \"{}\" for \"{}\" flag: strconv.ParseBool: parsing \"{}\": invalid syntax",
                         value, shown, value));
      values_.add(flag.name, *on ? "true" : "false");
      return {};
    }
    if (!flag.choices.empty() && !is_choice(flag, value))
      return bad(
          base::format("invalid argument \"{}\" for \"{}\" flag: must be one of {}", value, shown, flag.choices));
    if (const char* wrong = flag.type == Flag::Type::kModules ? modules_problem(value) : nullptr)
      return bad(base::format("invalid argument \"{}\" for \"{}\" flag: {}", value, shown, wrong));
    if (flag.type == Flag::Type::kDuration && !base::parse_go_duration(value))
      return bad(
          base::format("invalid argument \"{}\" for \"{}\" flag: time: invalid duration \"{}\"", value, shown, value));
    values_.add(flag.name, value);
    return {};
  }

  Values& values_;
  const Command& command_;
  std::vector<Flag> flags_;
  std::map<std::string_view, std::string> seen_;  // flags that were given, with their first values
  std::map<std::string_view, std::string> kept_;
};

// No namespace has this name, so that one that was given is told from none.
constexpr std::string_view kNotGiven = "\n";

bool has_default_namespace(const Flag& flag) { return flag.name == "namespace" && flag.fallback == "default"; }

Command without_default_namespace(const Command& command) {
  Command out = command;
  for (Flag& flag : out.flags)
    if (has_default_namespace(flag)) flag.fallback = kNotGiven;
  return out;
}

// COMPAT(context-namespace)
void settle_namespace(const World& world, const Command& command, Values& values) {
  for (const Flag& flag : command.flags)
    if (has_default_namespace(flag) && values.text(flag.name) == kNotGiven)
      values.set(flag.name, namespace_of_context(world, values));
}

int run_leaf(const Path& path, const std::vector<std::string>& arguments, bool with_extras, World& world) {
  const Command& command = *path.back();
  Values values;
  const Command unsettled = without_default_namespace(command);
  Parser parser(unsettled, values);
  if (const base::Status read = parser.read(arguments); !read.ok()) {
    world.err += usage_text(path, false) + base::format("Error: {}\n", read.error().message);
    return 1;
  }
  if (command.more_arguments && !values.on("help")) {
    auto more = command.more_arguments(world, values);
    base::Status filled = more.ok() ? parser.fill(*more) : more.take_error();
    if (!filled.ok()) {
      world.err += base::format("Error: {}\n", filled.error().message);
      return 1;
    }
  }
  settle_namespace(world, command, values);
  if (values.on("help") || !command.run) {
    world.out += help_text(path, with_extras);
    return 0;
  }
  if (const base::Status done = command.run(world, values); !done.ok()) {
    if (!command.failure.empty()) {
      const std::string name = command.first_argument.empty() ? "" : values.text(command.first_argument);
      // Errors of files begin with their path.
      std::string_view why = done.error().message;
      if (!name.empty() && why.starts_with(name + ": ")) why.remove_prefix(name.size() + 2);
      world.out += base::format("cannot {}{}{}: {}\n", command.failure, name.empty() ? "" : " ", name, why);
      return 255;
    }
    std::string words;
    for (std::size_t i = path.size() - 1; i > 0; --i) words += base::format(" {}", path[i]->name);
    world.out += base::format("Failed to{}: {}\n", words, done.error().message);
    return 255;
  }
  return world.exit_status;
}

// Before the name of a subcommand, whose flags are not known yet: the word behind the flag is its value, unless the
// flag has one itself or asks for help.
bool takes_next(std::string_view flag) {
  if (flag.find('=') != std::string_view::npos || flag == "--help" || flag == "-h") return false;
  return flag.starts_with("--") || flag.size() == 2;
}

}  // namespace

std::string namespace_of_context(const World& world, const Values& values) {
  std::string ns = world.context_namespace ? world.context_namespace(values.text("kubeconfig")) : "";
  return ns.empty() ? "default" : ns;
}

const std::string& Values::text(std::string_view name) const {
  const auto found = values_.find(name);
  CHECK(found != values_.end());
  return found->second;
}

base::Duration Values::span(std::string_view name) const {
  return base::parse_go_duration(text(name)).value_or(base::Duration{});
}

std::vector<std::string> Values::list(std::string_view name) const {
  const auto found = given_.find(name);
  return found == given_.end() ? std::vector<std::string>() : found->second;
}

std::int64_t Values::number(std::string_view name) const {
  std::int64_t value = 0;
  const std::string& digits = text(name);
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::string help_text(const Path& path, bool with_extras) {
  const std::string_view summary = path.back()->long_summary.empty() ? path.back()->summary : path.back()->long_summary;
  const std::string usage = usage_text(path, with_extras);
  return summary.empty() ? usage : base::format("{}\n\n{}", summary, usage);
}

int run_command(const Command& root, const std::vector<std::string>& arguments, World& world) {
  Path path = {&root};
  std::vector<std::string> rest;
  bool asked_for_help = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const bool is_flag = argument.size() > 1 && argument[0] == '-';
    const bool at_group = !path.back()->children.empty();
    if (at_group && argument == "--") {
      rest.insert(rest.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end());
      break;
    }
    if (!at_group || is_flag) {
      rest.push_back(argument);
      if (at_group && takes_next(argument) && i + 1 < arguments.size()) rest.push_back(arguments[++i]);
      continue;
    }
    if (path.size() == 1 && argument == "help" && !asked_for_help) {
      asked_for_help = true;
      continue;
    }
    const Command* child = child_named(*path.back(), argument);
    if (child) {
      path.push_back(child);
    } else if (path.size() > 1) {
      // The group has its say: a command behind a word that is none was perhaps not meant.
      rest.insert(rest.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end());
      break;
    } else {
      world.err += base::format("Error: unknown command \"{}\" for \"{}\"\nRun '{} --help' for usage.\n", argument,
                                root.name, root.name);
      return 1;
    }
  }
  if (asked_for_help) rest = {"--help"};
  return run_leaf(path, rest, asked_for_help || root.children.empty(), world);
}

}  // namespace cli
