// Watches over HTTP: what all streams of a resource want is encoded once and shared.
#pragma once

#include <memory>

#include "apiserver/api.h"
#include "apiserver/metrics.h"
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

// The text of a batch of events, made once for all the streams that want all of it as plain JSON. Loop thread.
class WatchEncoder {
 public:
  std::shared_ptr<const std::string> encode(const std::vector<store::Event>& whole);

 private:
  std::uint32_t resource_ = 0;
  std::int64_t first_ = 0;
  std::int64_t last_ = 0;
  std::shared_ptr<const std::string> bytes_;
};

// What the streams of one server share.
struct StreamShared {
  std::shared_ptr<WatchEncoder> encoder;
  std::shared_ptr<RequestMetrics> metrics;
};

// Loop thread. Answers `exchange` until the peer goes, the watch times out or the peer reads too slowly.
void stream_watch(Api& api, StreamShared shared, const Request& request, const Format& format,
                  std::shared_ptr<rt::HttpExchange> exchange);

}  // namespace apiserver
