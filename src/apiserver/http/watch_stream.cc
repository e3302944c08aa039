// One HTTP watch: its life, its encoding, its limits.
#include "apiserver/http/watch_stream.h"

#include <algorithm>

#include "base/format.h"

namespace apiserver {

using api::Json;
using store::Event;
using store::EventType;

namespace {

// Beyond, events wait in history. More of what all streams share than of what is made for one.
constexpr std::size_t kSharedBacklogMax = std::size_t{1} << 20;
constexpr std::size_t kOwnBacklogMax = std::size_t{256} << 10;
constexpr std::int64_t kLifetimeAskedMax = 365 * 86400;
constexpr base::Duration kLifetimeMin =
    base::minutes(30);  // and up to twice that, as the Kubernetes API server ends watches

using Bytes = rt::HttpExchange::Bytes;

const Bytes& begin_of(EventType type) {
  static const Bytes added = std::make_shared<const std::string>(R"({"type":"ADDED","object":)");
  static const Bytes modified = std::make_shared<const std::string>(R"({"type":"MODIFIED","object":)");
  static const Bytes deleted = std::make_shared<const std::string>(R"({"type":"DELETED","object":)");
  return type == EventType::kAdded ? added : type == EventType::kModified ? modified : deleted;
}

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  Stream(Api& api, std::shared_ptr<RequestMetrics> metrics, const Request& request, Format format,
         std::shared_ptr<rt::HttpExchange> exchange)
      : api_(api),
        metrics_(std::move(metrics)),
        kind_(*request.kind),
        holds_kind_(request.holds_kind),
        format_(std::move(format)),
        exchange_(std::move(exchange)) {}

  void begin(const Request& request) {
    WatchSink sink;
    sink.on_events = [this](const WatchSlicePtr& slice) { return send(*slice); };
    sink.on_bookmark = [this](std::int64_t revision, bool initial_end) { bookmark(revision, initial_end); };
    sink.on_end = [this] {
      const auto self = shared_from_this();
      end(true);
    };
    auto watch = api_.watch(request, std::move(sink));
    if (!watch.ok()) return refuse(watch.error());
    watch_ = *std::move(watch);
    metrics_->watching(kind_, 1);
    auto self = shared_from_this();
    rt::Loop& loop = api_.env().loop();
    const base::Duration lifetime =
        request.timeout_seconds > 0
            ? base::seconds(std::min(request.timeout_seconds, kLifetimeAskedMax))
            : kLifetimeMin + base::seconds(static_cast<std::int64_t>(api_.env().random().below(1800)));
    timer_ = loop.after(lifetime, [self] {
      self->timer_ = 0;
      self->end(true);
    });
    if (const base::Status begun = watch_->resume(); !begun.ok()) {
      end(started_);
      return started_ ? void() : refuse(begun.error());
    }
    start();
    exchange_->on_closed([&loop, self] { loop.post([self] { self->end(false); }); });
  }

 private:
  void refuse(const base::Error& error) {
    rt::HttpResponse response;
    response.status = base::http_status(error.code);
    response.headers = {{"Content-Type", "application/json"}};
    response.body = status_object(error).dump() + "\n";
    exchange_->respond(std::move(response));
  }

  void start() {
    if (std::exchange(started_, true)) return;
    if (!format_.web_socket)
      return exchange_->start(200, {{"Content-Type", "application/json"}, {"Cache-Control", "no-cache, private"}});
    rt::Headers headers;
    if (!format_.web_socket->empty()) headers.emplace_back("Sec-WebSocket-Protocol", *format_.web_socket);
    exchange_->start_web_socket(std::move(headers));
  }

  // False when the peer does not keep up: it goes on from history when it has read.
  bool send(const WatchSlice& slice) {
    if (!watch_) return true;  // it has ended
    start();
    const bool plain = format_.kind == Format::Kind::kJson && !format_.web_socket;
    if (plain && slice.shared) {
      if (!slice.text) slice.text = lines_of(slice.events);
      exchange_->send_shared(slice.text);
    } else {
      send_events(slice.events);
    }
    if (exchange_->backlog_bytes() <= (plain ? kSharedBacklogMax : kOwnBacklogMax)) return true;
    exchange_->on_drained([&loop = api_.env().loop(), weak = weak_from_this()] {
      loop.post([weak] {
        if (const auto self = weak.lock()) self->go_on();
      });
    });
    return false;
  }

  static std::shared_ptr<const rt::SharedChunk> lines_of(const std::vector<Event>& events) {
    std::size_t size = 0;
    for (const Event& event : events) size += event.object->bytes.size() + 64;
    std::string text;
    text.reserve(size);
    for (const Event& event : events) {
      text += *begin_of(event.type);
      text += event.object->bytes;
      text += "}\n";
    }
    return std::make_shared<const rt::SharedChunk>(text);
  }

  void send_events(const std::vector<Event>& events) {
    static const Bytes end = std::make_shared<const std::string>("}\n");
    std::vector<Bytes> pieces;
    for (const Event& event : events) {
      pieces.push_back(begin_of(event.type));
      pieces.push_back(object_bytes(event.object));
      pieces.push_back(end);
      // Over a WebSocket an event is a message.
      if (format_.web_socket) exchange_->send(std::exchange(pieces, {}));
    }
    if (!pieces.empty()) exchange_->send(std::move(pieces));
  }

  Bytes object_bytes(const store::ObjectPtr& object) {
    if (format_.kind == Format::Kind::kTable) {
      const bool columns = !std::exchange(columns_sent_, true);
      return std::make_shared<const std::string>(
          make_table_for(kind_, object->json(), api_.env().now(), format_.include, columns).dump());
    }
    if (format_.kind == Format::Kind::kMetadata)
      return std::make_shared<const std::string>(metadata_only(object->json()).dump());
    return {object, &object->bytes};
  }

  void go_on() {
    if (watch_ && !watch_->resume().ok()) end(true);  // the client lists again
  }

  void bookmark(std::int64_t revision, bool initial_end) {
    if (!watch_) return;
    Json metadata = Json::object({{"resourceVersion", std::to_string(revision)}, {"creationTimestamp", Json()}});
    if (initial_end) metadata.set("annotations", Json::object({{"k8s.io/initial-events-end", "true"}}));
    Json object =
        Json::object({{"kind", kind_.kind}, {"apiVersion", kind_.resource.api_version()}, {"metadata", metadata}});
    if (format_.kind == Format::Kind::kTable)
      object = make_table_for(kind_, object, api_.env().now(), format_.include, false);
    if (format_.kind == Format::Kind::kMetadata) object = metadata_only(object);
    start();
    exchange_->send_one(
        std::make_shared<const std::string>(Json::object({{"type", "BOOKMARK"}, {"object", object}}).dump() + "\n"));
  }

  void end(bool finish) {
    if (timer_) api_.env().loop().cancel(std::exchange(timer_, 0));
    if (!watch_) return;
    metrics_->watching(kind_, -1);
    // Not inside its own callback: the watch goes with the next turn of the loop. Until then it still tells this
    // stream.
    api_.env().loop().post([self = shared_from_this(), watch = std::shared_ptr<ApiWatch>(std::move(watch_))] {});
    if (finish) exchange_->finish();
  }

  Api& api_;
  std::shared_ptr<RequestMetrics> metrics_;
  const api::KindInfo& kind_;
  std::shared_ptr<const void> holds_kind_;
  Format format_;
  std::shared_ptr<rt::HttpExchange> exchange_;
  std::unique_ptr<ApiWatch> watch_;
  rt::Loop::TimerId timer_ = 0;
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

void stream_watch(Api& api, std::shared_ptr<RequestMetrics> metrics, const Request& request, const Format& format,
                  std::shared_ptr<rt::HttpExchange> exchange) {
  std::make_shared<Stream>(api, std::move(metrics), request, format, std::move(exchange))->begin(request);
}

}  // namespace apiserver
