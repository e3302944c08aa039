// What an unpacked image may be: measured, and free of what has no place in a root file system.
#pragma once

#include <string>

#include "base/result.h"

namespace node {

inline constexpr std::int64_t kImageEntriesMax = 2'000'000;

// Goes through the tree without following a link; a few descriptors, however deep it is. Device nodes below dev/ are
// taken away (containers have a /dev of their own), others are an error, as are more entries than kImageEntriesMax.
// Gives the bytes on disk.
base::Result<std::int64_t> inspect_image_tree(const std::string& root);

// Watches the disk while an image is unpacked.
class SpaceGuard {
 public:
  SpaceGuard(std::string folder, std::int64_t bytes_max);
  // An error once the disk has lost more than `bytes_max`, or has less than a twentieth left.
  base::Status check() const;

 private:
  std::string folder_;
  std::int64_t bytes_max_;
  std::int64_t free_at_start_;
};

}  // namespace node
