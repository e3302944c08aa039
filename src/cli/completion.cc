// vcctl completion bash|zsh: a script that knows every command and flag of the tables.
#include <algorithm>

#include "base/format.h"
#include "cli/slurm.h"
#include "cli/table.h"
#include "cli/vcctl.h"

namespace cli {

namespace {

// One line of a shell's `case` for each command: what may follow it.
void add_cases(const Command& command, const std::string& path, std::string& text) {
  std::string words;
  for (const Command& child : command.children) words += base::format("{} ", child.name);
  for (const Flag& flag : command.flags) words += base::format("--{} ", flag.name);
  text += base::format("    '{}') found='{}--help' ;;\n", path, words);
  for (const Flag& flag : command.flags) {
    if (flag.choices.empty()) continue;
    std::string choices(flag.choices);
    std::replace(choices.begin(), choices.end(), '|', ' ');
    text += base::format("    '{} --{}') found='{}' ;;\n", path, flag.name, choices);
    if (flag.letter) text += base::format("    '{} -{}') found='{}' ;;\n", path, flag.letter, choices);
  }
  for (const Command& child : command.children) add_cases(child, base::format("{} {}", path, child.name), text);
}

std::string cases(std::string& programs) {
  std::vector<Command> roots = slurm_roots([](const std::string&) { return std::string(); });
  roots.insert(roots.begin(), vcctl_root());
  std::string text;
  for (const Command& root : roots) {
    programs += base::format(" {}", root.name);
    add_cases(root, std::string(root.name), text);
  }
  return text;
}

// Both shells: $path grows by each word that is a command, then by a flag that stands before the cursor.
constexpr std::string_view kBash = R"(# Completion for bash: source <(vcctl completion bash)
_volcano_words() {{
  found=
  case $1 in
{}  esac
}}
_volcano_complete() {{
  local path=${{COMP_WORDS[0]##*/}} found= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    _volcano_words "$path ${{COMP_WORDS[i]}}"
    [[ ${{COMP_WORDS[i]}} != -* && -n $found ]] && path="$path ${{COMP_WORDS[i]}}"
  done
  _volcano_words "$path ${{COMP_WORDS[COMP_CWORD - 1]}}"
  [[ ${{COMP_WORDS[COMP_CWORD - 1]}} == -* && -n $found ]] || _volcano_words "$path"
  COMPREPLY=($(compgen -W "$found" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -F _volcano_complete{}
)";

constexpr std::string_view kZsh = R"(# Completion for zsh: source <(vcctl completion zsh)
_volcano_words() {{
  found=
  case $1 in
{}  esac
}}
_volcano_complete() {{
  local -a line=("${{words[@]}}")
  local at=$CURRENT path_so_far=${{line[1]:t}} found= i
  for ((i = 2; i < at; i++)); do
    _volcano_words "$path_so_far ${{line[i]}}"
    [[ ${{line[i]}} != -* && -n $found ]] && path_so_far="$path_so_far ${{line[i]}}"
  done
  _volcano_words "$path_so_far ${{line[at - 1]}}"
  [[ ${{line[at - 1]}} == -* && -n $found ]] || _volcano_words "$path_so_far"
  compadd -- ${{=found}}
}}
compdef _volcano_complete{}
)";

base::Status print_script(World& world, const Values& values) {
  const std::string& shell = values.text("shell");
  if (shell != "bash" && shell != "zsh")
    return usage_error(base::format("unknown shell \"{}\", known are bash and zsh", shell));
  std::string programs;
  const std::string text = cases(programs);
  world.out += shell == "bash" ? base::format(kBash, text, programs) : base::format(kZsh, text, programs);
  return {};
}

}  // namespace

Command completion_command() {
  return {.name = "completion",
          .summary = "print a script that completes commands and flags in bash or zsh",
          .flags = {{.name = "shell", .help = "the shell, also the first argument", .choices = "bash|zsh"}},
          .run = print_script,
          .first_argument = "shell",
          .is_extra = true};
}

}  // namespace cli
