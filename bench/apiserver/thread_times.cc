// From /proc/self/task.
#include "thread_times.h"

#include <filesystem>
#include <fstream>

#include "base/format.h"

namespace bench {

std::map<std::string, std::int64_t> thread_times() {
  std::map<std::string, std::int64_t> times;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::int64_t ns = 0;
    std::getline(std::ifstream(task.path() / "comm"), name);
    std::ifstream(task.path() / "schedstat") >> ns;
    times[name] += ns;
  }
  return times;
}

std::string times_each(const std::map<std::string, std::int64_t>& before, int count) {
  std::string text;
  for (const auto& [name, ns] : thread_times()) {
    const auto was = before.find(name);
    const std::int64_t added = ns - (was == before.end() ? 0 : was->second);
    text += base::format("{}{} {:.1f}", text.empty() ? "" : ", ", name, static_cast<double>(added) / 1e3 / count);
  }
  return text;
}

}  // namespace bench
