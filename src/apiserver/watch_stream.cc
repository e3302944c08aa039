// One HTTP watch: its life, its encoding, its limits.
#include "apiserver/watch_stream.h"

#include <algorithm>

#include "base/format.h"

namespace apiserver {

using api::Json;
using store::Event;
using store::EventType;

namespace {

constexpr std::size_t kBacklogMax = std::size_t{64} << 20;
constexpr std::int64_t kLifetimeAskedMax = 365 * 86400;
constexpr base::Duration kLifetimeMin =
    base::minutes(30);  // and up to twice that, as the Kubernetes API server ends watches

std::string_view type_name(EventType type) {
  switch (type) {
    case EventType::kAdded: return "ADDED";
    case EventType::kModified: return "MODIFIED";
    case EventType::kDeleted: return "DELETED";
  }
  return "";
}

void begin_event(EventType type, std::string& out) {
  out += "{\"type\":\"";
  out += type_name(type);
  out += "\",\"object\":";
}

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  Stream(Api& api, StreamShared shared, const api::KindInfo& kind, Format format,
         std::shared_ptr<rt::HttpExchange> exchange)
      : api_(api), shared_(std::move(shared)), kind_(kind), format_(format), exchange_(std::move(exchange)) {}

  void begin(const Request& request) {
    auto self = shared_from_this();
    WatchSink sink;
    sink.on_events = [this](const std::vector<Event>& events, bool whole) { send(events, whole); };
    sink.on_bookmark = [this](std::int64_t revision, bool initial_end) { bookmark(revision, initial_end); };
    auto watch = api_.watch(request, std::move(sink));
    if (!watch.ok()) {
      rt::HttpResponse response;
      response.status = base::http_status(watch.error().code);
      response.headers = {{"Content-Type", "application/json"}};
      response.body = status_object(watch.error()).dump() + "\n";
      exchange_->respond(std::move(response));
      return;
    }
    watch_ = *std::move(watch);
    shared_.metrics->watching(kind_, 1);
    if (!started_) start();
    flush();
    rt::Loop& loop = api_.env().loop();
    exchange_->on_closed([&loop, self] { loop.post([self] { self->end(false); }); });
    const base::Duration lifetime =
        request.timeout_seconds > 0
            ? base::seconds(std::min(request.timeout_seconds, kLifetimeAskedMax))
            : kLifetimeMin + base::seconds(static_cast<std::int64_t>(api_.env().random().below(1800)));
    timer_ = loop.after(lifetime, [self] {
      self->timer_ = 0;
      self->end(true);
    });
  }

 private:
  void start() {
    started_ = true;
    exchange_->start(200, {{"Content-Type", "application/json"}, {"Cache-Control", "no-cache, private"}});
  }

  void send(const std::vector<Event>& events, bool whole) {
    if (whole && watch_ && pending_.empty() && format_.kind == Format::Kind::kJson) {
      if (!started_) start();
      return give(shared_.encoder->encode(events));
    }
    for (const Event& event : events) {
      begin_event(event.type, pending_);
      if (format_.kind == Format::Kind::kTable) {
        make_table_for(kind_, event.object->json(), api_.env().now(), format_.include, !columns_sent_)
            .dump_to(pending_);
        columns_sent_ = true;
      } else if (format_.kind == Format::Kind::kMetadata) {
        metadata_only(event.object->json()).dump_to(pending_);
      } else {
        pending_ += event.object->bytes;
      }
      pending_ += "}\n";
    }
    if (watch_) flush();
  }

  void bookmark(std::int64_t revision, bool initial_end) {
    Json metadata = Json::object({{"resourceVersion", std::to_string(revision)}, {"creationTimestamp", Json()}});
    if (initial_end) metadata.set("annotations", Json::object({{"k8s.io/initial-events-end", "true"}}));
    Json object =
        Json::object({{"kind", kind_.kind}, {"apiVersion", kind_.resource.api_version()}, {"metadata", metadata}});
    if (format_.kind == Format::Kind::kTable)
      object = make_table_for(kind_, object, api_.env().now(), format_.include, false);
    if (format_.kind == Format::Kind::kMetadata) object = metadata_only(object);
    pending_ += Json::object({{"type", "BOOKMARK"}, {"object", object}}).dump() + "\n";
    if (watch_) flush();
  }

  void flush() {
    if (pending_.empty()) return;
    if (!started_) start();
    give(std::make_shared<const std::string>(std::exchange(pending_, {})));
  }

  void give(std::shared_ptr<const std::string> bytes) {
    if (exchange_->backlog_bytes() > kBacklogMax) return end(true);  // the client lists again
    exchange_->send(std::move(bytes));
  }

  void end(bool finish) {
    if (timer_) api_.env().loop().cancel(std::exchange(timer_, 0));
    if (!watch_) return;
    shared_.metrics->watching(kind_, -1);
    // Not inside its own callback: the watch goes with the next turn of the loop.
    api_.env().loop().post([watch = std::shared_ptr<ApiWatch>(std::move(watch_))] {});
    if (finish) exchange_->finish();
  }

  Api& api_;
  StreamShared shared_;
  const api::KindInfo& kind_;
  Format format_;
  std::shared_ptr<rt::HttpExchange> exchange_;
  std::unique_ptr<ApiWatch> watch_;
  rt::Loop::TimerId timer_ = 0;
  std::string pending_;
  bool started_ = false;
  bool columns_sent_ = false;
};

}  // namespace

Json metadata_only(const Json& object) {
  if (const Json* items = object.find("items")) {
    Json list = Json::object(
        {{"kind", "PartialObjectMetadataList"}, {"apiVersion", "meta.k8s.io/v1"}, {"metadata", object["metadata"]}});
    Json rows = Json::array();
    for (const Json& item : items->items()) rows.push_back(metadata_only(item));
    list.set("items", std::move(rows));
    return list;
  }
  return Json::object(
      {{"kind", "PartialObjectMetadata"}, {"apiVersion", "meta.k8s.io/v1"}, {"metadata", object["metadata"]}});
}

std::shared_ptr<const std::string> WatchEncoder::encode(const std::vector<Event>& whole) {
  const Event& first = whole.front();
  const Event& last = whole.back();
  if (bytes_ && resource_ == first.resource && first_ == first.revision && last_ == last.revision) return bytes_;
  std::size_t size = 0;
  for (const Event& event : whole) size += event.object->bytes.size() + 40;
  auto out = std::make_shared<std::string>();
  out->reserve(size);
  for (const Event& event : whole) {
    begin_event(event.type, *out);
    *out += event.object->bytes;
    *out += "}\n";
  }
  resource_ = first.resource;
  first_ = first.revision;
  last_ = last.revision;
  return bytes_ = std::move(out);
}

void stream_watch(Api& api, StreamShared shared, const Request& request, const Format& format,
                  std::shared_ptr<rt::HttpExchange> exchange) {
  std::make_shared<Stream>(api, std::move(shared), *request.kind, format, std::move(exchange))->begin(request);
}

}  // namespace apiserver
