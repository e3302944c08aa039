// Commands as tables: parsing, help and errors follow from the rows (cli.md 1).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/world.h"

namespace cli {

struct Flag {
  enum class Type : std::uint8_t { kText, kBool, kInt, kInt32, kDuration, kLevel, kModules };
  std::string_view name;
  char letter = 0;
  Type type = Type::kText;
  std::string fallback = {};
  std::string help = {};
  std::string_view choices = {};  // "json|yaml": the only values, beside none; empty: any
  bool is_extra = false;          // not of Volcano: listed by `vcctl help` only
  bool is_many = false;           // may be given several times, and each value counts
};

class Values {
 public:
  void set(std::string_view name, std::string value) { values_[std::string(name)] = std::move(value); }
  void add(std::string_view name, std::string value) {
    given_[std::string(name)].push_back(value);
    set(name, std::move(value));
  }
  bool is_given(std::string_view name) const { return given_.contains(name); }
  // The values of a flag in the order in which they were given.
  std::vector<std::string> list(std::string_view name) const;
  const std::string& text(std::string_view name) const;
  bool on(std::string_view name) const { return text(name) == "true"; }
  std::int64_t number(std::string_view name) const;
  base::Duration span(std::string_view name) const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
  std::map<std::string, std::vector<std::string>, std::less<>> given_;
};

// The name under which Values have the words of Command::takes_words.
inline constexpr std::string_view kWords = "(words)";

struct Command {
  std::string_view name;
  std::string_view summary;
  std::vector<Flag> flags = {};
  std::vector<Command> children = {};
  // A leaf's work; its error becomes "Failed to <words>: <error>".
  std::function<base::Status(World&, const Values&)> run = {};
  // The flag that an argument which is not a flag stands for; empty: such arguments are an error.
  std::string_view first_argument = {};
  std::string_view long_summary = {};  // what its own help begins with; empty: `summary`
  bool is_extra = false;               // not of Volcano: `vcctl help` lists it with its parent, and `--help` does not
  bool takes_words = false;            // the first argument that is not a flag begins a command of the user's own
  // Flags that stand in a file which the words name. They count where the command line is silent.
  std::function<base::Result<std::vector<std::string>>(World&, const Values&)> more_arguments = {};
  std::string_view remark = {};   // the last lines of its help
  std::string_view failure = {};  // "show the logs of job": a failure is "cannot ... NAME: why"; empty: Volcano's words
};

// The namespace of the kubeconfig's context, or "default". The command needs a flag --kubeconfig.
std::string namespace_of_context(const World& world, const Values& values);

// Runs what `arguments` name; returns the exit status: 1 for arguments that cannot be read, 255 for work that failed,
// otherwise world.exit_status.
int run_command(const Command& root, const std::vector<std::string>& arguments, World& world);
std::string help_text(const std::vector<const Command*>& path, bool with_extras);

}  // namespace cli
