// The lock's file.
#include "colocation/machine/agent_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>

#include "base/format.h"
#include "rt/files/files.h"

namespace colocation {

base::Result<rt::Descriptor> lock_node(const std::string& state_folder) {
  TRY_VOID(rt::make_folders(state_folder, 0700));
  const std::string path = state_folder + "/agent.lock";
  rt::Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open())
    return base::make_error(base::Code::kUnavailable, base::format("cannot open {}: {}", path, std::strerror(errno)));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    return base::make_error(base::Code::kConflict, base::format("another agent serves this node: it holds {}", path));
  return file;
}

}  // namespace colocation
