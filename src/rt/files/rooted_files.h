// Files below a folder in which a stranger writes (a container's root, a volume): no name leads out of the folder, and
// nothing but a regular file is opened for reading, up to a limit. A FIFO, a device or a file without end costs
// nothing.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "base/result.h"

namespace rt {

// An open file, closed at the end.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// `path` as somebody who has `root` as "/" would see it: links, too, stay inside.
struct RootedPath {
  std::string root;
  std::string path;
};

// The whole file. Errors: kNotFound, kInvalid (not a regular file), kTooLarge (more than `bytes_max`).
base::Result<std::string> read_rooted_file(const RootedPath& file, std::size_t bytes_max);
// Its first `bytes_max` bytes at most, and how many there are.
struct FileHead {
  std::string bytes;
  std::size_t size = 0;
};
base::Result<FileHead> read_rooted_head(const RootedPath& file, std::size_t bytes_max);
// Its last `bytes_max` bytes at most.
base::Result<std::string> read_rooted_tail(const RootedPath& file, std::size_t bytes_max);
// The folder, for reading its names. Errors: kNotFound, kInvalid (not a folder).
base::Result<Descriptor> open_rooted_folder(const RootedPath& folder);
// A place to mount from: the file or folder at `place`, which is made as folders where it is not there, with the root's
// mode and group. A path or link that leads out of the root is kInvalid. The descriptor can be named (/proc/PID/fd/N),
// not read.
base::Result<Descriptor> open_below(const RootedPath& place);

}  // namespace rt
