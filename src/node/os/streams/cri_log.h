// A container's log file, line by line with time and stream, in the form that Kubernetes' tools expect.
#pragma once

#include <string>
#include <string_view>

namespace node {

// A log that grows beyond this starts anew: what one container says cannot fill the disk.
inline constexpr long kLogBytesMax = 50L << 20;

// Writes "2026-01-02T03:04:05.123456789Z stdout F text"; P instead of F marks a part of a line.
class CriLog {
 public:
  explicit CriLog(const std::string& path, long bytes_max = kLogBytesMax);
  ~CriLog();
  CriLog(const CriLog&) = delete;
  CriLog& operator=(const CriLog&) = delete;

  // Lines that cannot be written (a full disk) are lost; the process is not held up.
  void write(std::string_view stream, std::string_view bytes);

 private:
  void open(int flags);

  std::string path_;
  long bytes_max_;
  long bytes_ = 0;
  int fd_ = -1;
};

}  // namespace node
