// Reading /proc.
#include "node/os/proc.h"

#include <dirent.h>

#include <charconv>
#include <cstdlib>

#include "base/format.h"
#include "rt/files/files.h"

namespace node {

namespace {

struct Stat {
  pid_t parent = 0;
  char state = 0;
  unsigned long long start = 0;
};

bool read_stat(pid_t pid, Stat& out) {
  const auto text = rt::read_file(base::format("/proc/{}/stat", pid));
  if (!text.ok()) return false;
  // The name in brackets may contain anything; fields are counted from behind it.
  const std::size_t close = text->rfind(')');
  if (close == std::string::npos) return false;
  std::string_view rest = std::string_view(*text).substr(close + 1);
  for (int field = 3; !rest.empty() && field <= 22; ++field) {
    rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of(' ')));
    const std::string_view word = rest.substr(0, rest.find(' '));
    if (field == 3 && !word.empty()) out.state = word[0];
    if (field == 4) std::from_chars(word.data(), word.data() + word.size(), out.parent);
    if (field == 22) std::from_chars(word.data(), word.data() + word.size(), out.start);
    rest.remove_prefix(word.size());
  }
  return out.start != 0;
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> found;
  DIR* folder = ::opendir("/proc");
  if (folder == nullptr) return found;
  while (const dirent* entry = ::readdir(folder))
    if (const pid_t pid = static_cast<pid_t>(std::atoi(entry->d_name)); pid > 0) found.push_back(pid);
  ::closedir(folder);
  return found;
}

}  // namespace

const std::string& boot_id() {
  static const std::string id = [] {
    const auto text = rt::read_file("/proc/sys/kernel/random/boot_id");
    return text.ok() ? text->substr(0, text->find('\n')) : std::string();
  }();
  return id;
}

std::string describe_process(pid_t pid) {
  Stat stat;
  read_stat(pid, stat);
  return base::format("{} {} {}", pid, stat.start, boot_id());
}

pid_t described_process(std::string_view description) {
  pid_t pid = 0;
  unsigned long long start = 0;
  const auto parsed = std::from_chars(description.data(), description.data() + description.size(), pid);
  if (parsed.ec != std::errc{} || parsed.ptr == description.data() + description.size()) return 0;
  const auto rest = std::from_chars(parsed.ptr + 1, description.data() + description.size(), start);
  const std::string_view boot(rest.ptr, static_cast<std::size_t>(description.data() + description.size() - rest.ptr));
  if (boot.size() > 1 && boot.substr(1) != boot_id()) return 0;
  Stat stat;
  if (!read_stat(pid, stat) || stat.start != start || stat.state == 'Z') return 0;
  return pid;
}

std::vector<pid_t> processes_with_argument(std::string_view word) {
  std::vector<pid_t> found;
  const std::string wanted = base::format("{0}{1}{0}", std::string(1, '\0'), word);
  for (const pid_t pid : all_processes()) {
    const auto line = rt::read_file(base::format("/proc/{}/cmdline", pid));
    if (line.ok() && line->find(wanted) != std::string::npos) found.push_back(pid);
  }
  return found;
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  for (const pid_t pid : all_processes()) {
    Stat stat;
    if (read_stat(pid, stat) && stat.parent == parent) children.push_back(pid);
  }
  return children;
}

std::vector<pid_t> tree_of(pid_t root) {
  std::vector<pid_t> tree{root};
  for (std::size_t i = 0; i < tree.size(); ++i)
    for (const pid_t child : children_of(tree[i])) tree.push_back(child);
  return tree;
}

}  // namespace node
