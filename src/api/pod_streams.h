// How the API server reaches into running pods, by way of the node agent: processes in containers, and ports. Wired in
// main.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace api {

struct ExecOptions {
  std::string container;
  std::vector<std::string> command;
  bool input = false;
  bool output = false;
  bool errors = false;
  bool terminal = false;  // output and errors are one then
};

// All come on threads of the source, one at a time.
struct PodStreamEvents {
  // 1: output, 2: errors. Returns when the reader has room for more.
  std::function<void(int channel, std::string bytes)> on_output;
  // After a write() that said false.
  std::function<void()> on_room;
  // Once, and last: the exit code of what ran, 0 for what has none, or why it did not run.
  std::function<void(base::Result<int>)> on_end;
};

// One process or connection. All methods from any thread; none waits.
class PodStream {
 public:
  virtual ~PodStream() = default;
  // False: it has enough, until on_room.
  virtual bool write(std::string bytes) = 0;
  virtual void close_input() = 0;
  virtual void resize(int columns, int rows) = 0;
  // Kills what runs; on_end still comes.
  virtual void end() = 0;
};

class PodStreams {
 public:
  virtual ~PodStreams() = default;  // ends all

  // A stream that stays open until on_end. kTooManyRequests: so many are open that this one is too much.
  using Opened = base::Result<std::shared_ptr<PodStream>>;
  virtual Opened exec(const std::string& pod_uid, ExecOptions options, PodStreamEvents events) = 0;
  // To the process that the container began with.
  virtual Opened attach(const std::string& pod_uid, ExecOptions options, PodStreamEvents events) = 0;
  // To a port of the pod's own loopback.
  virtual Opened connect(const std::string& pod_uid, int port, PodStreamEvents events) = 0;
};

}  // namespace api
