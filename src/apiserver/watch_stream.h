// Watches over HTTP: events encoded once per format and shared by all streams that want it.
#pragma once

#include <memory>

#include "apiserver/api.h"
#include "apiserver/tables.h"
#include "rt/http.h"

namespace apiserver {

struct Format {
  enum class Kind : std::uint8_t { kJson, kYaml, kTable, kMetadata };

  Kind kind = Kind::kJson;
  IncludeObject include = IncludeObject::kMetadata;
};

// PartialObjectMetadata of an object or list.
api::Json metadata_only(const api::Json& object);

// Loop thread. Answers `exchange` until the peer goes, the watch times out or the peer reads too slowly.
void stream_watch(Api& api, const Request& request, const Format& format, std::shared_ptr<rt::HttpExchange> exchange);

}  // namespace apiserver
