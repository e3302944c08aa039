// Watches over HTTP: in JSON each event is the stored bytes of its object, shared by all streams. A reader that does
// not keep up waits at its place in history.
#pragma once

#include <functional>
#include <map>
#include <memory>

#include "apiserver/http/negotiation.h"
#include "apiserver/pipeline/api.h"
#include "apiserver/pipeline/metrics.h"
#include "rt/http/http.h"

namespace apiserver {

// The watches of one server, which would hold its end up. Loop thread.
class WatchStreams {
 public:
  // Also those that begin from now on.
  void end_all();
  void add(const void* stream, std::function<void()> end);
  void remove(const void* stream) { ends_.erase(stream); }

 private:
  bool ending_ = false;
  std::map<const void*, std::function<void()>> ends_;  // in no order that anybody sees
};

// Loop thread. Answers `exchange` until the peer goes, the watch times out, the peer reads so slowly that history is
// ahead of it, or all of `streams` are ended.
void stream_watch(Api& api, std::shared_ptr<RequestMetrics> metrics, std::shared_ptr<WatchStreams> streams,
                  const Request& request, const Format& format, std::shared_ptr<rt::HttpExchange> exchange);

}  // namespace apiserver
