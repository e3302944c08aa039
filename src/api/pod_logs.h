// How the API server reads a container's output from the node agent; wired in main.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace api {

struct PodLogOptions {
  std::string container;
  bool follow = false;
  bool previous = false;
  bool timestamps = false;
  std::optional<std::int64_t> tail_lines;
  std::optional<std::int64_t> limit_bytes;
  std::optional<base::Time> since;  // sinceSeconds and sinceTime, resolved
  std::string no_log;               // the error if the container has written none; empty: that is none
};

class PodLogStream {
 public:
  virtual ~PodLogStream() = default;  // stops; no callback follows
};

class PodLogs {
 public:
  virtual ~PodLogs() = default;
  // From any thread. `on_data` and then `on_end` (once) may come on any thread but a loop's: `on_data` returns when the
  // reader has room for more.
  virtual std::shared_ptr<PodLogStream> open(std::string ns, std::string pod, std::string uid, PodLogOptions options,
                                             std::function<void(std::string)> on_data,
                                             std::function<void(base::Status)> on_end) = 0;
};

}  // namespace api
