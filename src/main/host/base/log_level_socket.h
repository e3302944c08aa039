// The socket over which the log level of a scheduler that runs is asked for and changed, as Volcano's have it.
#pragma once

#include <cstdint>
#include <memory>

#include "rt/env.h"
#include "rt/http/server/local_server.h"

namespace volcano_main {

// `klog-klog.sock` in the folder $DEBUG_SOCKET_DIR (default /tmp/klog-socks): GET /getlevel, and
// GET /setlevel?level=N&duration=D, which goes back after D. Kept while the level may be changed; destroyed on the loop
// of `env`, which must outlive it. A socket that cannot be made is told in the log: the program does without.
class LogLevelSocket {
 public:
  LogLevelSocket(rt::Env& env, std::int64_t verbosity);
  ~LogLevelSocket();

 private:
  struct State;
  std::shared_ptr<State> state_;
  std::unique_ptr<rt::LocalServer> server_;
};

}  // namespace volcano_main
