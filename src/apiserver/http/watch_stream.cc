// One HTTP watch: its life, its encoding, its limits.
#include "apiserver/http/watch_stream.h"

#include <algorithm>
#include <array>

#include "api/json/cbor.h"
#include "api/protobuf/protobuf.h"
#include "apiserver/http/answers.h"
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

std::string_view name_of(EventType type) {
  return type == EventType::kAdded ? "ADDED" : type == EventType::kModified ? "MODIFIED" : "DELETED";
}

// The text before the object of an event; behind it stands kEnd in JSON, and nothing in CBOR. In protobuf each event is
// made as a whole.
std::string begin_of(std::string_view type, Encoding encoding) {
  if (encoding == Encoding::kJson) return base::format(R"({{"type":"{}","object":)", type);
  std::string event = api::to_cbor(Json::object({{"type", type}, {"object", Json()}}));
  event.pop_back();  // the object, which comes last
  return event;
}

constexpr std::string_view kEnd = "}\n";

const Bytes& begin_of(EventType type, Encoding encoding) {
  using Row = std::array<Bytes, 3>;
  static const auto row = [](Encoding in) {
    Row made;
    for (const EventType each : {EventType::kAdded, EventType::kModified, EventType::kDeleted})
      made[static_cast<std::size_t>(each)] = std::make_shared<const std::string>(begin_of(name_of(each), in));
    return made;
  };
  static const Row json = row(Encoding::kJson), cbor = row(Encoding::kCbor);
  return (encoding == Encoding::kCbor ? cbor : json)[static_cast<std::size_t>(type)];
}

std::string_view stream_type(Encoding encoding) {
  switch (encoding) {
    case Encoding::kCbor: return "application/cbor-seq";
    case Encoding::kProtobuf: return "application/vnd.kubernetes.protobuf;stream=watch";
    default: return "application/json";
  }
}

// Watches have three forms. Messages of WebSockets are not in protobuf.
Encoding encoding_of(const Format& format, const api::KindInfo& kind) {
  if (format.encoding == Encoding::kCbor) return Encoding::kCbor;
  const bool protobuf =
      format.encoding == Encoding::kProtobuf && !format.web_socket && is_in_protobuf(kind, format.shape);
  return protobuf ? Encoding::kProtobuf : Encoding::kJson;
}

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  Stream(Api& api, std::shared_ptr<RequestMetrics> metrics, std::shared_ptr<WatchStreams> streams,
         const Request& request, Format format, std::shared_ptr<rt::HttpExchange> exchange)
      : api_(api),
        metrics_(std::move(metrics)),
        streams_(std::move(streams)),
        kind_(*request.kind),
        holds_kind_(request.holds_kind),
        format_(std::move(format)),
        encoding_(encoding_of(format_, kind_)),
        whole_(format_.shape == Format::Shape::kWhole),
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
    streams_->add(this, [self] { self->end(true); });
  }

 private:
  void refuse(const base::Error& error) { fail(*exchange_, error, format_.encoding); }

  void start() {
    if (std::exchange(started_, true)) return;
    if (!format_.web_socket)
      return exchange_->start(
          200, {{"Content-Type", std::string(stream_type(encoding_))}, {"Cache-Control", "no-cache, private"}});
    rt::Headers headers;
    if (!format_.web_socket->empty()) headers.emplace_back("Sec-WebSocket-Protocol", *format_.web_socket);
    using Messages = rt::HttpExchange::Messages;
    exchange_->start_web_socket(std::move(headers), encoding_ == Encoding::kCbor ? Messages::kBytes : Messages::kText);
  }

  // False when the peer does not keep up: it goes on from history when it has read.
  bool send(const WatchSlice& slice) {
    if (!watch_) return true;  // it has ended
    start();
    const bool plain = whole_ && !format_.web_socket;
    if (plain && slice.shared) {
      std::shared_ptr<const rt::SharedChunk>& text = encoding_ == Encoding::kCbor       ? slice.cbor
                                                     : encoding_ == Encoding::kProtobuf ? slice.protobuf
                                                                                        : slice.text;
      if (!text) text = text_of(slice.events);
      exchange_->send_shared(text);
    } else {
      send_events(slice.events);
    }
    const bool shared = plain && (slice.shared || encoding_ == Encoding::kJson);
    if (exchange_->backlog_bytes() <= (shared ? kSharedBacklogMax : kOwnBacklogMax)) return true;
    exchange_->on_drained([&loop = api_.env().loop(), weak = weak_from_this()] {
      loop.post([weak] {
        if (const auto self = weak.lock()) self->go_on();
      });
    });
    return false;
  }

  // One event after the other, whole.
  std::shared_ptr<const rt::SharedChunk> text_of(const std::vector<Event>& events) const {
    std::size_t size = 0;
    for (const Event& event : events) size += event.object->bytes.size() + 64;
    std::string text;
    text.reserve(size);
    for (const Event& event : events) {
      if (encoding_ == Encoding::kProtobuf) {
        text += api::event_to_protobuf(name_of(event.type), event.object->json());
        continue;
      }
      text += *begin_of(event.type, encoding_);
      if (encoding_ == Encoding::kCbor)
        text += api::to_cbor(event.object->json());
      else
        text.append(event.object->bytes).append(kEnd);
    }
    return std::make_shared<const rt::SharedChunk>(text);
  }

  void send_events(const std::vector<Event>& events) {
    static const Bytes end = std::make_shared<const std::string>(kEnd);
    std::vector<Bytes> pieces;
    for (const Event& event : events) {
      if (encoding_ == Encoding::kProtobuf) {
        const Json shown = whole_ ? event.object->json() : metadata_only(event.object->json());
        pieces.push_back(std::make_shared<const std::string>(api::event_to_protobuf(name_of(event.type), shown)));
        continue;
      }
      pieces.push_back(begin_of(event.type, encoding_));
      pieces.push_back(object_bytes(event.object));
      if (encoding_ == Encoding::kJson) pieces.push_back(end);
      // Over a WebSocket an event is a message.
      if (format_.web_socket) exchange_->send(std::exchange(pieces, {}));
    }
    if (!pieces.empty()) exchange_->send(std::move(pieces));
  }

  Bytes object_bytes(const store::ObjectPtr& object) {
    if (whole_ && encoding_ == Encoding::kJson) return {object, &object->bytes};
    Json shown = object->json();
    if (format_.shape == Format::Shape::kTable)
      shown = make_table_for(kind_, shown, api_.env().now(), format_.include, !std::exchange(columns_sent_, true));
    else if (!whole_)
      shown = metadata_only(shown);
    return std::make_shared<const std::string>(encoding_ == Encoding::kCbor ? api::to_cbor(shown) : shown.dump());
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
    if (format_.shape == Format::Shape::kTable)
      object = make_table_for(kind_, object, api_.env().now(), format_.include, false);
    else if (!whole_)
      object = metadata_only(object);
    start();
    std::string event;
    if (encoding_ == Encoding::kProtobuf)
      event = api::event_to_protobuf("BOOKMARK", object);
    else
      event = begin_of("BOOKMARK", encoding_) +
              (encoding_ == Encoding::kCbor ? api::to_cbor(object) : object.dump().append(kEnd));
    exchange_->send_one(std::make_shared<const std::string>(std::move(event)));
  }

  void end(bool finish) {
    if (timer_) api_.env().loop().cancel(std::exchange(timer_, 0));
    if (!watch_) return;
    const auto self = shared_from_this();
    streams_->remove(this);
    metrics_->watching(kind_, -1);
    // Not inside its own callback: the watch goes with the next turn of the loop. Until then it still tells this
    // stream.
    api_.env().loop().post([self, watch = std::shared_ptr<ApiWatch>(std::move(watch_))] {});
    if (finish) exchange_->finish();
  }

  Api& api_;
  std::shared_ptr<RequestMetrics> metrics_;
  std::shared_ptr<WatchStreams> streams_;
  const api::KindInfo& kind_;
  std::shared_ptr<const void> holds_kind_;
  Format format_;
  const Encoding encoding_;
  const bool whole_;
  std::shared_ptr<rt::HttpExchange> exchange_;
  std::unique_ptr<ApiWatch> watch_;
  rt::Loop::TimerId timer_ = 0;
  bool started_ = false;
  bool columns_sent_ = false;
};

}  // namespace

void WatchStreams::end_all() {
  ending_ = true;
  for (const auto& [stream, end] : std::exchange(ends_, {})) end();
}

void WatchStreams::add(const void* stream, std::function<void()> end) {
  if (ending_) return end();
  ends_.emplace(stream, std::move(end));
}

void stream_watch(Api& api, std::shared_ptr<RequestMetrics> metrics, std::shared_ptr<WatchStreams> streams,
                  const Request& request, const Format& format, std::shared_ptr<rt::HttpExchange> exchange) {
  std::make_shared<Stream>(api, std::move(metrics), std::move(streams), request, format, std::move(exchange))
      ->begin(request);
}

}  // namespace apiserver
