// Watches over HTTP: each event is the stored bytes of its object, shared by all streams. A reader that does not keep
// up waits at its place in history.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "apiserver/documents/tables.h"
#include "apiserver/pipeline/api.h"
#include "apiserver/pipeline/metrics.h"
#include "rt/http.h"

namespace apiserver {

struct Format {
  enum class Kind : std::uint8_t { kJson, kYaml, kTable, kMetadata };

  Kind kind = Kind::kJson;
  IncludeObject include = IncludeObject::kMetadata;
  // Set: a watch goes over a WebSocket, with this subprotocol; empty: with none.
  std::optional<std::string> web_socket = {};
  bool packed = false;  // a long answer is packed before it is sent
};

// PartialObjectMetadata of an object or list.
api::Json metadata_only(const api::Json& object);

// Loop thread. Answers `exchange` until the peer goes, the watch times out, or the peer reads so slowly that history is
// ahead of it.
void stream_watch(Api& api, std::shared_ptr<RequestMetrics> metrics, const Request& request, const Format& format,
                  std::shared_ptr<rt::HttpExchange> exchange);

}  // namespace apiserver
