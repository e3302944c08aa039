// One folder, entered by its owner alone.
#include "main/host/data/data_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/format.h"

namespace volcano_main {

namespace {

constexpr mode_t kOwnerOnly = 0700;
constexpr mode_t kOthers = 0077;

base::Error failed(const char* what, const std::string& path, int error) {
  return base::make_error(base::Code::kUnavailable, base::format("cannot {} {}: {}", what, path, std::strerror(error)));
}

// Whether it holds what a cluster keeps, or nothing. A name that somebody else made proves nothing.
bool is_own(const std::string& path) {
  for (const char* name : {"objects", "keys", "node/images"}) {
    struct stat facts {};
    if (::lstat((path + "/" + name).c_str(), &facts) == 0 && facts.st_uid == ::geteuid()) return true;
  }
  std::error_code error;
  for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().filename() != "lost+found") return false;  // which each file system has
  return !error;
}

}  // namespace

std::string default_data_folder() {
  const char* home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/.local/share/volcano" : "/var/lib/volcano";
}

base::Result<std::string> open_data_folder(const std::string& path) {
  std::string plain = path;
  while (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(plain).parent_path(), error);
  if (error) return failed("create the folder above", plain, error.value());
  if (::mkdir(plain.c_str(), kOwnerOnly) != 0 && errno != EEXIST) return failed("create folder", plain, errno);
  struct stat facts {};
  if (::stat(plain.c_str(), &facts) != 0) return failed("look at", plain, errno);
  if (!S_ISDIR(facts.st_mode)) return failed("use", plain, ENOTDIR);
  std::string reported;
  if ((facts.st_mode & kOthers) != 0) {
    // A home, /tmp or / has to stay open.
    if (!is_own(plain))
      return base::make_error(
          base::Code::kInvalid,
          base::format("{} holds files that are not this program's, and other users of this machine may enter it (mode "
                       "{:04o}): please name a folder of its own with --data",
                       plain, facts.st_mode & 07777));
    if (::chmod(plain.c_str(), kOwnerOnly) != 0) return failed("take the rights of other users on", plain, errno);
    reported = base::format("{} had mode {:04o}, so that other users of this machine could enter it; it has {:04o} now",
                            plain, facts.st_mode & 07777, kOwnerOnly);
  }
  if (facts.st_uid != ::geteuid())
    reported += base::format("{}{} belongs to user {}, who can read all keys in it and replace every file",
                             reported.empty() ? "" : "; ", plain, facts.st_uid);
  return reported;
}

}  // namespace volcano_main
