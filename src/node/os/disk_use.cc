// du, which knows folders of any depth, links between files, and files with holes.
#include "node/os/disk_use.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "base/log.h"
#include "node/os/command.h"

namespace node {

namespace {

// The others wait. A measurement that takes longer has no result, and no consequence (docs/operations/security.md).
constexpr base::Duration kPatience = base::minutes(1);

struct Place {
  std::string path;
  std::int64_t* bytes;
};

// A file that the node made takes so much of the disk; the container can write to it, and not replace it.
std::int64_t bytes_of(const std::string& path) {
  constexpr std::int64_t kBlock = 512;
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) ? facts.st_blocks * kBlock : 0;
}

void add_given_files(const PodFolders& folders, const DiskPlaces& places, DiskUse& use) {
  const std::string pod = folders.pod(places.pod_uid);
  for (const char* name : {"/hosts", "/hostname", "/resolv.conf"}) use.others += bytes_of(pod + name);
  use.given = use.others;
  for (const std::string& name : places.all_containers) {
    const auto running =
        std::ranges::find(places.containers, name, [](const auto& one) -> const std::string& { return one.first; });
    for (const std::string& attempt : list_folder(pod + "/containers/" + name)) {
      const std::int64_t bytes = bytes_of(base::format("{}/containers/{}/{}/termination-log", pod, name, attempt));
      const bool runs = running != places.containers.end() && std::to_string(running->second) == attempt;
      use.given += bytes;
      (runs && places.whole ? use.containers[name] : use.others) += bytes;
    }
  }
}

// A container keeps its changes in one of two places, see container_root.h.
std::vector<Place> places_on_disk(const PodFolders& folders, const DiskPlaces& places, DiskUse& use) {
  std::vector<Place> found;
  const auto add = [&found](std::string path, std::int64_t& bytes) {
    if (::access(path.c_str(), F_OK) == 0) found.push_back({std::move(path), &bytes});
  };
  for (const std::string& name : places.volumes) add(folders.volumes(places.pod_uid) + "/" + name, use.volumes[name]);
  for (const auto& [name, attempt] : places.containers) {
    std::int64_t& bytes = use.containers[name];
    const std::string folder = folders.container(places.pod_uid, name, attempt);
    add(folder + "/upper", bytes);
    add(folder + "/scratch/upper", bytes);
  }
  for (const std::string& name : places.all_containers) {
    const auto runs = use.containers.find(name);
    add(folders.pod(places.pod_uid) + "/logs/" + name, runs == use.containers.end() ? use.others : runs->second);
  }
  return found;
}

}  // namespace

DiskUse measure_disk_use(const PodFolders& folders, const DiskPlaces& places, const std::atomic<bool>& cancelled) {
  DiskUse use;
  std::vector<Place> found;
  if (places.whole) found = places_on_disk(folders, places, use);
  add_given_files(folders, places, use);
  if (found.empty()) return use;
  // Files that vanish while it looks are told on its other output, which is not read.
  std::vector<std::string> words = {"sh", "-c", "exec nice -n 10 du -s -x -0 -B1 -- \"$@\" 2> /dev/null", "du"};
  for (const Place& place : found) words.push_back(place.path);
  const auto answered = run_command(words, {.timeout = kPatience, .cancelled = &cancelled});
  if (!answered.ok()) {
    if (!cancelled) base::log_warning("node", answered.error().message);
    return {};
  }
  // A line a place, in their order; one that is gone by now has none.
  std::string_view rest = answered->out;
  for (const Place& place : found) {
    const std::string_view line = rest.substr(0, rest.find('\0'));
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos || line.substr(tab + 1) != place.path) continue;
    std::int64_t bytes = 0;
    std::from_chars(line.data(), line.data() + tab, bytes);
    *place.bytes += bytes;
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  return use;
}

}  // namespace node
