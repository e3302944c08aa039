// A look at the disk.
#include "node/dra/socket_folder.h"

#include <sys/stat.h>

#include "base/format.h"
#include "node/os/pod_folders.h"

namespace node {

namespace {

constexpr std::size_t kEntriesMax = 4096;  // looked at, in all

void look(const std::string& folder, int depth, std::size_t& left, std::map<std::string, std::string>& found) {
  for (const std::string& name : list_folder(folder)) {
    if (name.starts_with('.')) continue;
    if (left == 0 || found.size() == kSocketsMax) return;
    --left;
    const std::string path = folder + "/" + name;
    struct stat facts {};
    if (::lstat(path.c_str(), &facts) != 0) continue;
    if (S_ISSOCK(facts.st_mode))
      found[path] =
          base::format("{}:{}:{}.{}", facts.st_dev, facts.st_ino, facts.st_ctim.tv_sec, facts.st_ctim.tv_nsec);
    else if (S_ISDIR(facts.st_mode) && depth < kSocketDepthMax)
      look(path, depth + 1, left, found);
  }
}

}  // namespace

std::map<std::string, std::string> sockets_below(const std::string& folder) {
  std::map<std::string, std::string> found;
  std::size_t left = kEntriesMax;
  look(folder, 1, left, found);
  return found;
}

}  // namespace node
