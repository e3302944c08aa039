// The way of a request into a pod and of its answer out.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "api/pod_streams.h"
#include "base/result.h"
#include "rt/http/http.h"

namespace apiserver {

struct ProxiedPod {
  std::string uid;
  int port = 0;
  bool tls = false;  // it speaks HTTPS; its certificate is not judged, as by a stock server
};

// kUnavailable, in a stock server's words.
base::Error pod_unreachable(std::string_view why);
// Answers `exchange`, whose request is `http`, with what the pod says. `connect` opens a connection to the pod's port.
// Any thread; returns at once.
using ConnectToPod = std::function<api::PodStreams::Opened(api::PodStreamEvents)>;
void relay_to_pod(const ConnectToPod& connect, const ProxiedPod& pod, const rt::HttpRequest& http,
                  std::shared_ptr<rt::HttpExchange> exchange);

}  // namespace apiserver
