// A file that lines are added to, on a thread of its own, so that nobody waits for the disk.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"

namespace rt {

struct LineLogOptions {
  std::string path;  // made with mode 0600 where it is missing
  // The limit of lines that wait for the disk; lines beyond are left out.
  std::size_t lines_max = 10'000;
  std::size_t bytes_max = std::size_t{64} << 20;
  // Told when lines begin to be lost, and why; once until a line is written again. On the log's thread.
  std::function<void(const std::string&)> on_problem = {};
};

// Any thread.
class LineLog {
 public:
  virtual ~LineLog() = default;  // writes what waits
  // `make` is called on the log's thread, or never; `bytes` is about what it holds. It returns a line without its end.
  virtual void append(std::size_t bytes, std::function<std::string()> make) = 0;
  // Goes on in a file of this name that may be another one now.
  virtual void reopen() = 0;
};

base::Result<std::unique_ptr<LineLog>> open_line_log(LineLogOptions options);

}  // namespace rt
