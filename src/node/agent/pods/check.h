// One look at a container from outside, as probes and lifecycle hooks ask for: a command in it, a request, a
// connection.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/json/json.h"
#include "api/pod_streams.h"
#include "node/pod/probe.h"
#include "rt/env.h"
#include "rt/grpc/grpc.h"

namespace node {

struct CheckRequest {
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

// With what checks are made; all of it outlives them.
struct CheckMeans {
  rt::Env& env;
  api::PodStreams* streams;  // null: commands cannot be run
  rt::GrpcIo* grpc;          // null: the health of a server of gRPC cannot be asked
};

// `done` is called once, on the loop, not before this returns.
std::shared_ptr<Check> begin_check(const CheckMeans& means, CheckRequest wanted, std::function<void(CheckAnswer)> done);

}  // namespace node
