// One connection with HTTP/2: a socket, its session, and the exchanges whose answers go out over it. It belongs to one
// I/O thread; what other threads want of it waits in a list of which the thread takes all there is at a time, so that
// many answers, or events for many watchers, go out in one write.
#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "rt/http/server/http2_exchange.h"
#include "rt/http/server/http_connection.h"
#include "rt/loop/alarm.h"

namespace rt {
namespace {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;
using StreamId = Http2ServerSession::StreamId;
using Clock = Alarm::Clock;

// Requests of this connection that somebody still works on, whoever has given up waiting for them.
constexpr int kExchangesMax = 4 * static_cast<int>(Http2ServerSession::kStreamsMax);
constexpr base::Duration kTick = base::seconds(1);        // how late a stream's time may be noticed
constexpr base::Duration kLingerTime = base::seconds(2);  // for a peer that we leave to read why

base::Duration now() { return base::Duration{Clock::now().time_since_epoch().count()}; }

Http2ServerSession::Limits limits_of(const ServerOptions& options) {
  return {options.header_bytes_max, options.body_bytes_max, options.header_time_max, options.request_time_max,
          options.write_time_max};
}

class Connection : public ConnectionDriver, public Http2SendQueue, public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<ConnectionSlot> seat, std::unique_ptr<TlsStream> stream, PeerNames peer)
      : seat_(std::move(seat)),
        shared_(seat_->shared),
        stream_(std::move(stream)),
        peer_(std::move(peer)),
        alarm_(*seat_->context),
        session_(limits_of(shared_->options), callbacks()) {}
  ~Connection() override { shared_->request_bytes -= static_cast<std::size_t>(held_); }

  void begin() {
    idle_since_ = now();
    if (shared_->draining) session_.announce_end(now());
    flush();
    read();
    watch_time();
  }
  void shut() override { gone(); }
  void drain() override {
    if (gone_ || leaving_) return;
    session_.announce_end(now());
    flush();
    watch_time();
  }
  void push(Http2Step step) override;
  const AnswerLimits& limits() const override { return *shared_; }

 private:
  Http2ServerSession::Callbacks callbacks();
  std::optional<HttpResponse> refusal_of_head(const HttpRequest& head, bool has_body) const;
  bool hold(std::int64_t bytes);
  void ask(StreamId id, HttpRequest request);
  void do_steps();
  void read();
  void received(std::size_t size);
  void flush();
  void watch_time();
  void look_at_time();
  void leave();
  void gone();

  HttpRequest with_peer(HttpRequest request) const {
    peer_.name(request);
    return request;
  }

  std::shared_ptr<ConnectionSlot> seat_;
  std::shared_ptr<ConnectionsShared> shared_;
  std::unique_ptr<TlsStream> stream_;
  PeerNames peer_;
  Alarm alarm_;
  std::int64_t held_ = 0;  // bytes of requests, counted into the sum of the server
  Http2ServerSession session_;
  std::unordered_map<StreamId, std::shared_ptr<Http2Exchange>> open_;
  std::shared_ptr<std::atomic<int>> exchanges_ = std::make_shared<std::atomic<int>>(0);
  std::mutex mutex_;  // guards the next
  std::vector<Http2Step> steps_;
  std::array<char, 16384> chunk_;
  std::string out_;
  base::Duration idle_since_{};
  base::Duration write_due_{INT64_MAX};
  bool writing_ = false;
  bool leaving_ = false;  // nothing more is read; what is there to say is said
  bool gone_ = false;
};

// --- requests ---

Http2ServerSession::Callbacks Connection::callbacks() {
  return {.refusal_of_head = [this](const HttpRequest& head, bool body) { return refusal_of_head(head, body); },
          .refused = [this](const HttpRefusal& refusal) { return shared_->refused(refusal); },
          .hold = [this](std::int64_t bytes) { return hold(bytes); },
          .on_request = [this](StreamId id, HttpRequest request) { ask(id, std::move(request)); },
          .on_taken =
              [this](StreamId id, std::size_t bytes) {
                if (const auto found = open_.find(id); found != open_.end()) found->second->backlog.remove(bytes);
              },
          .on_end =
              [this](StreamId id, bool complete) {
                const auto found = open_.find(id);
                if (found == open_.end()) return;
                const auto exchange = std::move(found->second);
                open_.erase(found);
                exchange->ended(complete);
              }};
}

std::optional<HttpResponse> Connection::refusal_of_head(const HttpRequest& head, bool has_body) const {
  if (seat_->surplus)
    return shared_->refused({503, "the server has as many connections as it takes, please try again later", 1});
  if (const auto refusal = seat_->recognize([&] { return with_peer(head); })) return shared_->refused(*refusal);
  if (!has_body || !shared_->options.refusal_before_body) return std::nullopt;
  return shared_->options.refusal_before_body(with_peer(head));
}

bool Connection::hold(std::int64_t bytes) {
  held_ += bytes;
  const std::size_t sum = shared_->request_bytes += static_cast<std::size_t>(bytes);  // modulo 2^64
  constexpr std::int64_t kFree = std::int64_t{64} << 10;
  return held_ <= kFree || sum <= shared_->options.request_bytes_max;
}

void Connection::ask(StreamId id, HttpRequest request) {
  if (*exchanges_ >= kExchangesMax) return session_.refuse_stream(id);
  const ByteSum sum{shared_, &shared_->answer_bytes};
  const auto exchange = std::make_shared<Http2Exchange>(shared_from_this(), id, request, sum, exchanges_);
  open_.emplace(id, exchange);
  shared_->handler(with_peer(std::move(request)), exchange);
}

void Connection::read() {
  stream_->async_read_some(asio::buffer(chunk_), [self = shared_from_this()](ErrorCode error, std::size_t size) {
    if (self->gone_) return;
    if (error) return self->gone();
    if (!self->leaving_) self->received(size);
    if (!self->gone_) self->read();
  });
}

void Connection::received(std::size_t size) {
  const base::Status status = session_.receive({chunk_.data(), size}, now());
  if (!status.ok() && !std::exchange(leaving_, true)) idle_since_ = now();
  flush();
  watch_time();
}

// --- answers ---

void Connection::push(Http2Step step) {
  if (shared_->stopped) return;
  {
    const std::lock_guard lock(mutex_);
    steps_.push_back(std::move(step));
    if (steps_.size() > 1) return;  // the thread has been told
  }
  if (shared_->post(*seat_->context, [self = shared_from_this()] { self->do_steps(); })) return;
  std::vector<Http2Step> dropped;  // they may hold this connection
  const std::lock_guard lock(mutex_);
  steps_.swap(dropped);
}

void Connection::do_steps() {
  std::vector<Http2Step> steps;
  {
    const std::lock_guard lock(mutex_);
    steps.swap(steps_);
  }
  const base::Duration at = now();
  for (Http2Step& step : steps) {
    Http2Exchange& exchange = *step.exchange;
    if (step.on_closed) {
      exchange.when_closed(std::move(step.on_closed));
      continue;
    }
    if (step.reset) {
      session_.break_off(exchange.stream);
      continue;
    }
    std::size_t size = 0;
    for (const auto& piece : step.pieces) size += piece.bytes.size();
    const bool lives = !gone_ && open_.contains(exchange.stream);
    if (lives && step.head)
      session_.start(exchange.stream, step.head->status, step.head->headers, step.head->content_length);
    if (!lives || !session_.send(exchange.stream, std::move(step.pieces), step.end, at)) exchange.backlog.remove(size);
  }
  flush();
  watch_time();
}

void Connection::flush() {
  if (writing_ || gone_) return;
  out_ = session_.take_output(now(), std::move(out_));
  if (out_.empty()) {
    if (session_.is_over()) leave();
    return;
  }
  writing_ = true;
  write_due_ = now() + shared_->options.write_time_max;
  asio::async_write(*stream_, asio::buffer(out_), [self = shared_from_this()](ErrorCode error, std::size_t) {
    self->writing_ = false;
    self->write_due_ = base::Duration{INT64_MAX};
    if (self->gone_) return;
    if (error) return self->gone();
    self->flush();
    self->watch_time();
  });
}

// --- time ---

void Connection::watch_time() {
  if (gone_) return;
  if (session_.open_count() > 0 && !leaving_) idle_since_ = now();
  base::Duration due = idle_since_ + shared_->options.idle_time_max;
  if (leaving_) due = idle_since_ + kLingerTime;
  if (writing_ || session_.has_deadlines()) {
    const ServerOptions& options = shared_->options;
    const base::Duration shortest =
        std::min({options.header_time_max, options.request_time_max, options.write_time_max});
    due = std::min(due, now() + std::min(kTick, base::Duration{shortest.ns / 4 + 1}));
  } else if (session_.open_count() > 0 && !leaving_) {
    return;  // it may take as long as it likes
  }
  alarm_.set(Clock::time_point(std::chrono::nanoseconds(due.ns)),
             [self = shared_from_this()] { self->look_at_time(); });
}

void Connection::look_at_time() {
  if (gone_) return;
  const base::Duration at = now();
  if (at >= write_due_ || !session_.expire(at)) return gone();
  if (leaving_ && at >= idle_since_ + kLingerTime) return gone();
  if (session_.open_count() == 0 && at >= idle_since_ + shared_->options.idle_time_max) {
    if (leaving_) return gone();
    session_.go_away();
    leaving_ = true;
    idle_since_ = at;
  }
  flush();
  watch_time();
}

// All is written. A socket closed on a peer that still sends would take back what was said: its end is awaited for a
// moment.
void Connection::leave() {
  if (!std::exchange(leaving_, true)) idle_since_ = now();
  ErrorCode ignored;
  stream_->next_layer().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
}

void Connection::gone() {
  if (std::exchange(gone_, true)) return;
  alarm_.cancel();
  seat_->closed = true;
  ErrorCode ignored;
  stream_->next_layer().shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
  stream_->next_layer().close(ignored);
  for (const auto& [id, exchange] : std::exchange(open_, {})) exchange->ended(false);
}

}  // namespace

void begin_http2(const std::shared_ptr<ConnectionSlot>& seat, std::unique_ptr<TlsStream> stream, PeerNames peer) {
  const auto connection = std::make_shared<Connection>(seat, std::move(stream), std::move(peer));
  seat->driver = connection;
  connection->begin();
}

}  // namespace rt
