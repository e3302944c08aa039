// The rules of an unpacked image: measured, and free of what has no place in a root file system.
#pragma once

#include <sys/statvfs.h>

#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace node {

inline constexpr std::int64_t kImageEntriesMax = 2'000'000;

// Goes through the tree without following a link; a few descriptors, however deep it is. Device nodes below dev/ are
// taken away (containers have a /dev of their own), others are an error, as are more entries than kImageEntriesMax.
// Gives the bytes on disk.
base::Result<std::int64_t> inspect_image_tree(const std::string& root);

// The room of a file system, in bytes and in files. One that makes files as it needs them says 0 of them.
struct DiskRoom {
  std::int64_t free = 0;
  std::int64_t total = 0;  // without what is kept for the system's own account, as `free` is
  std::int64_t free_files = 0;
  std::int64_t files = 0;
};
DiskRoom room_of(const struct statvfs& facts);
// An error if more than `bytes_max`, or more files than an image may have, went between the two, or if less than a
// twentieth is left and less than 4 GiB.
base::Status check_room(const DiskRoom& before, const DiskRoom& now, std::int64_t bytes_max);

// Watches the disk while an image is unpacked.
class SpaceGuard {
 public:
  SpaceGuard(std::string folder, std::int64_t bytes_max);
  base::Status check() const;

 private:
  std::string folder_;
  std::int64_t bytes_max_;
  DiskRoom at_start_;
};

// Ends a download from which nothing comes, or next to nothing.
class StallGuard {
 public:
  StallGuard(base::Duration patience, std::int64_t bytes_min) : patience_(patience), bytes_min_(bytes_min) {}
  // An error once less than `bytes_min` more has come in as long. `uptime`: of any clock that is not set.
  base::Status check(std::int64_t bytes, base::Duration uptime);

 private:
  base::Duration patience_;
  std::int64_t bytes_min_;
  std::optional<std::int64_t> bytes_;  // when the time began
  base::Duration since_;
};

// The sum of all files below the folder.
std::int64_t bytes_below(const std::string& folder);

}  // namespace node
