// Watches over HTTP: in JSON each event is the stored bytes of its object, shared by all streams. A reader that does
// not keep up waits at its place in history.
#pragma once

#include <memory>

#include "apiserver/http/negotiation.h"
#include "apiserver/pipeline/api.h"
#include "apiserver/pipeline/metrics.h"
#include "rt/http.h"

namespace apiserver {

// Loop thread. Answers `exchange` until the peer goes, the watch times out, or the peer reads so slowly that history is
// ahead of it.
void stream_watch(Api& api, std::shared_ptr<RequestMetrics> metrics, const Request& request, const Format& format,
                  std::shared_ptr<rt::HttpExchange> exchange);

}  // namespace apiserver
