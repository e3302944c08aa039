// The facts of this machine.
#include "node/machine/machine.h"

#include <sched.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <charconv>

#include "base/format.h"
#include "base/number.h"
#include "node/machine/container_text.h"
#include "node/machine/image_name.h"
#include "node/os/pod_folders.h"
#include "rt/files/files.h"

namespace node {

namespace {

std::string first_line(const std::string& path) {
  const auto text = rt::read_file(path);
  return text.ok() ? text->substr(0, text->find('\n')) : std::string();
}

// The value after `key` at the start of a line, up to the line's end.
std::string value_of(const std::string& path, std::string_view key) {
  const auto text = rt::read_file(path);
  if (!text.ok()) return {};
  std::size_t begin = 0;
  while (begin < text->size()) {
    std::size_t end = text->find('\n', begin);
    if (end == std::string::npos) end = text->size();
    const std::string_view line = std::string_view(*text).substr(begin, end - begin);
    if (line.starts_with(key)) return std::string(line.substr(key.size()));
    begin = end + 1;
  }
  return {};
}

// A machine's own name can be anything; a node's cannot.
std::string node_name_from(std::string name) {
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.')) c = '-';
  }
  while (name.ends_with('-') || name.ends_with('.')) name.pop_back();
  return check_node_name(name).ok() ? name : "localhost";
}

}  // namespace

std::map<std::int64_t, std::int64_t> read_huge_pages(const std::string& folder) {
  constexpr std::string_view kBegin = "hugepages-", kEnd = "kB";
  constexpr std::int64_t kBytesMax = std::int64_t{1} << 60;
  std::map<std::int64_t, std::int64_t> found;
  for (const std::string& name : list_folder(folder)) {
    if (!name.starts_with(kBegin) || !name.ends_with(kEnd) || name.size() < kBegin.size() + kEnd.size()) continue;
    const std::string_view digits(name.data() + kBegin.size(), name.size() - kBegin.size() - kEnd.size());
    const auto kibibytes = base::parse_number<std::int64_t>(digits);
    const auto count = base::parse_number<std::int64_t>(first_line(base::format("{}/{}/nr_hugepages", folder, name)));
    if (!kibibytes || *kibibytes <= 0 || *kibibytes > kBytesMax / 1024 || !count || *count <= 0) continue;
    const std::int64_t page = *kibibytes * 1024;
    if (*count <= kBytesMax / page) found[page] = *count * page;
  }
  return found;
}

MachineFacts read_machine_facts(const std::string& data_dir) {
  MachineFacts facts;
  utsname names{};
  if (::uname(&names) == 0) {
    facts.hostname = names.nodename;
    facts.kernel = names.release;
    const std::string_view machine = names.machine;
    facts.architecture = machine == "x86_64" ? "amd64" : machine == "aarch64" ? "arm64" : std::string(machine);
  }
  facts.hostname = node_name_from(facts.hostname);
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  facts.cpus = ::sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : ::sysconf(_SC_NPROCESSORS_ONLN);
  std::string memory = value_of("/proc/meminfo", "MemTotal:");
  memory.erase(0, memory.find_first_not_of(' '));
  std::int64_t kibibytes = 0;
  std::from_chars(memory.data(), memory.data() + memory.size(), kibibytes);
  facts.memory_bytes = kibibytes * 1024;
  struct statvfs disk {};
  if (::statvfs(data_dir.empty() ? "/" : data_dir.c_str(), &disk) == 0 || ::statvfs("/", &disk) == 0)
    facts.disk_bytes = static_cast<std::int64_t>(disk.f_blocks) * static_cast<std::int64_t>(disk.f_frsize);
  facts.huge_pages = read_huge_pages("/sys/kernel/mm/hugepages");
  facts.os_image = reason_text(value_of("/etc/os-release", "PRETTY_NAME="));
  if (facts.os_image.size() >= 2 && facts.os_image.front() == '"')
    facts.os_image = facts.os_image.substr(1, facts.os_image.size() - 2);
  facts.machine_id = reason_text(first_line("/etc/machine-id"));
  facts.boot_id = first_line("/proc/sys/kernel/random/boot_id");
  return facts;
}

}  // namespace node
