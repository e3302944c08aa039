// One look at a container from outside, as probes and lifecycle hooks ask for: a command in it, a request, a
// connection.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/json/json.h"
#include "api/pod_streams.h"
#include "node/probe.h"
#include "rt/env.h"

namespace node {

struct CheckWish {
  api::Json handler;    // of one of: exec, httpGet, tcpSocket, grpc, sleep
  api::Json container;  // its spec, which names ports
  std::string pod_uid;
  std::string address;     // of the pod
  base::Duration timeout;  // then it has failed
};

struct CheckAnswer {
  Answer answer = Answer::kUnknown;  // kUnknown: it could not be made
  std::string text;                  // the beginning of what was said; any bytes
};

// Ends what is under way when it is destroyed, and tells nothing then. Loop thread only.
class Check {
 public:
  virtual ~Check() = default;
};

// `done` is called once, on the loop, not before this returns. `env` and `streams` outlive the check; without streams
// commands cannot be run.
std::shared_ptr<Check> begin_check(rt::Env& env, api::PodStreams* streams, CheckWish wish,
                                   std::function<void(CheckAnswer)> done);

}  // namespace node
