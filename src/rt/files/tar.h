// Files and folders as a tar in memory.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace rt {

struct TarEntry {
  std::string name;  // relative; that of a folder ends with a slash
  unsigned mode = 0644;
  base::Time modified = {};
};

class Tar {
 public:
  // `what` names the whole in errors.
  Tar(std::string what, std::size_t bytes_max) : what_(std::move(what)), bytes_max_(bytes_max) {}

  // Errors: kTooLarge.
  base::Status add(const TarEntry& entry, const std::string& bytes);
  std::string take();

 private:
  void append(const std::string& bytes);

  const std::string what_;
  const std::size_t bytes_max_;
  std::string out_;
};

}  // namespace rt
