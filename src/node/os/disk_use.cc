// du, which knows folders of any depth, links between files, and files with holes.
#include "node/os/disk_use.h"

#include <unistd.h>

#include <charconv>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "node/os/command.h"

namespace node {

namespace {

// The others wait. What takes longer is not known, and has no consequence (docs/operations/security.md).
constexpr base::Duration kPatience = base::minutes(1);

struct Place {
  std::string path;
  std::int64_t* bytes;
};

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
    add(folders.pod(places.pod_uid) + "/logs/" + name, bytes);
  }
  return found;
}

}  // namespace

DiskUse measure_disk_use(const PodFolders& folders, const DiskPlaces& places, const std::atomic<bool>& cancelled) {
  DiskUse use;
  const std::vector<Place> found = places_on_disk(folders, places, use);
  if (found.empty()) return use;
  // What vanishes while it looks is told on its other output, which nobody needs.
  std::vector<std::string> words = {"sh", "-c", "exec nice -n 10 du -s -x -0 -B1 -- \"$@\" 2> /dev/null", "du"};
  for (const Place& place : found) words.push_back(place.path);
  const auto told = run_command(words, {.timeout = kPatience, .cancelled = &cancelled});
  if (!told.ok()) {
    if (!cancelled) base::log_warning("node", told.error().message);
    return {};
  }
  // A line a place, in their order; one that is gone by now has none.
  std::string_view rest = told->out;
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
