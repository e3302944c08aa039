// One connection with HTTP/1.x: TLS by Asio, framing by Beast's parser fed by hand. It belongs to one I/O thread, and
// its requests are answered one after the other: the next is read when little of the answers before it is left.
#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/parser.hpp>
#include <deque>
#include <optional>

#include "base/format.h"
#include "rt/http/growing_body.h"
#include "rt/http/server/http_connection.h"
#include "rt/http/server/http_framing.h"
#include "rt/http/web_socket.h"
#include "rt/loop/alarm.h"

namespace rt {
namespace {
namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;
using Clock = Alarm::Clock;
using Due = Clock::time_point;

constexpr std::size_t kJoinBytesMax = std::size_t{16} << 10;   // one TLS record
constexpr std::size_t kWriteBytesMax = std::size_t{64} << 10;  // at once: each write that ends shows a reader at work
constexpr std::size_t kAheadBytesMax = std::size_t{64} << 10;  // read while a request is answered
constexpr base::Duration kLingerTime = base::seconds(2);       // for a refused peer to read why
constexpr std::chrono::seconds kLook{2};                       // between two looks after a peer that is not read

template <class Stream>
class Connection : public ConnectionBase,
                   public ConnectionDriver,
                   public std::enable_shared_from_this<Connection<Stream>> {
 public:
  Connection(std::shared_ptr<ConnectionSlot> seat, std::unique_ptr<Stream> stream, PeerNames peer)
      : ConnectionBase({seat->shared, &seat->shared->answer_bytes}, *seat->shared),
        seat_(std::move(seat)),
        context_(seat_->context),
        shared_(seat_->shared),
        stream_(std::move(stream)),
        alarm_(*context_),
        peer_(std::move(peer)) {}
  ~Connection() override { shared_->request_bytes -= counted_; }

  bool post(std::function<void()> task) override { return shared_->post(*context_, std::move(task)); }
  void shut() override { gone(); }
  void drain() override;
  void write(std::vector<SharedBytes> pieces, bool more) override;
  void answered(bool keep_alive) override;
  void open_web_socket(Headers headers, HttpExchange::Messages messages, HttpExchange::OnBytes on_bytes) override;
  void open_upgraded(HttpExchange::OnBytes on_bytes) override;
  void resume_reading() override;
  void start();

 private:
  // The peer's next step, and its deadline.
  enum class Step : std::uint8_t { kIdle, kHeader, kBody, kAnswered, kLinger };

  tcp::socket& socket() {
    if constexpr (std::is_same_v<Stream, TlsStream>)
      return stream_->next_layer();
    else
      return *stream_;
  }

  void enter(Step step, base::Duration time) {
    step_ = step;
    peer_due_ = Clock::now() + std::chrono::nanoseconds(time.ns);
    due_at(peer_due_);
  }
  // At the end of the server it may be asking at the moment.
  base::Duration idle_time() const {
    const ServerOptions& options = shared_->options;
    return shared_->draining ? std::min(options.last_request_time_max, options.idle_time_max) : options.idle_time_max;
  }
  void due_at(Due due);
  void begin_request();
  void read();
  void consume();
  void deliver() {
    const auto on_bytes = on_bytes_;
    paused_ = !(*on_bytes)(std::exchange(in_, {}));
    count_request();
  }
  bool refused_by_header();
  void watch_progress();
  void watch_peer();
  bool count_request();
  void refuse(const HttpRefusal& refusal) { end_with(shared_->refused(refusal)); }
  void end_with(const HttpResponse& last_answer);
  void write_now(std::string text) {
    backlog.add(text.size());
    write({std::make_shared<const std::string>(std::move(text))}, false);
  }
  HttpRequest known_request(const http::request_header<>& header) const {
    HttpRequest request = request_of(header);
    peer_.name(request);
    return request;
  }
  void dispatch();
  void flush();
  void flush_slice();
  void written(ErrorCode error, std::size_t size);
  void run_dry();
  // A socket closed on a peer that still sends would take the answer back: its end is awaited for a moment.
  void linger() {
    enter(Step::kLinger, kLingerTime);
    ErrorCode ignored;
    socket().shutdown(tcp::socket::shutdown_send, ignored);
    read();
  }
  void gone();
  void close();

  std::shared_ptr<ConnectionSlot> seat_;
  std::shared_ptr<asio::io_context> context_;
  std::shared_ptr<ConnectionsShared> shared_;
  std::unique_ptr<Stream> stream_;
  Alarm alarm_;
  asio::steady_timer look_timer_{*context_};
  Due peer_due_ = Due::max();
  Due write_due_ = Due::max();
  std::array<char, 16384> chunk_;
  std::string in_;
  std::optional<http::request_parser<GrowingBody>> parser_;
  std::size_t serving_ = 0;  // bytes of the request that is answered now
  std::size_t counted_ = 0;  // into the sum of the server
  std::shared_ptr<Exchange> current_;
  std::optional<WebSocket::Request> upgrade_;  // of `current_`
  std::unique_ptr<WebSocket> web_socket_;
  std::shared_ptr<const HttpExchange::OnBytes> on_bytes_;  // set: what comes is for whoever upgraded the connection
  std::deque<SharedBytes> out_;
  SharedBytes in_flight_;
  std::size_t in_flight_sent_ = 0;
  PeerNames peer_;
  Step step_ = Step::kIdle;
  bool paused_ = false;   // they want no more bytes for now
  bool resumed_ = false;  // they wanted more since the last look after the peer
  bool opening_ = false;  // the answer to a WebSocket handshake is on its way
  bool writing_ = false;
  bool flush_posted_ = false;
  bool reading_ = false;
  bool failed_ = false;
  bool header_seen_ = false;
  bool continued_ = false;
  bool wait_to_write_ = false;  // the next request is looked at when this one's answer is nearly out
  bool close_when_written_ = false;
};

template <class Stream>
void Connection<Stream>::start() {
  if (failed_) return;
  begin_request();
  if (seat_->surplus) refuse({503, "the server has as many connections as it takes, please try again later", 1});
  if (!failed_) read();
}

template <class Stream>
void Connection<Stream>::drain() {
  if (failed_ || step_ != Step::kIdle || !in_.empty()) return;  // its answer will be the last
  enter(Step::kIdle, idle_time());
}

// --- time ---

template <class Stream>
void Connection<Stream>::due_at(Due due) {
  alarm_.set(due, [self = this->shared_from_this()] {
    const Due next = std::min(self->peer_due_, self->write_due_);
    if (self->failed_) return;
    if (next <= Clock::now()) return self->gone();
    if (next != Due::max()) self->due_at(next);
  });
}

// --- requests ---

template <class Stream>
void Connection<Stream>::begin_request() {
  begin_parser(parser_.emplace(), shared_->options);
  header_seen_ = continued_ = false;
  serving_ = 0;
  enter(Step::kIdle, idle_time());
  if (writing_) peer_due_ = Due::max();  // a peer that still reads an answer is not idle
}

// A read is pending while a request is answered, so that it is noticed when the peer has gone; not while the peer has
// sent more than enough ahead.
template <class Stream>
void Connection<Stream>::read() {
  if (reading_ || failed_ || upgrade_ || paused_) return;
  if ((current_ || wait_to_write_) && in_.size() >= kAheadBytesMax) return watch_peer();
  reading_ = true;
  stream_->async_read_some(asio::buffer(chunk_), [self = this->shared_from_this()](ErrorCode error, std::size_t size) {
    self->reading_ = false;
    if (self->failed_) return;
    if (error) return self->gone();
    if (!self->close_when_written_) {
      self->in_.append(self->chunk_.data(), size);
      self->on_bytes_ ? self->deliver() : self->consume();
    }
    self->read();
  });
}

template <class Stream>
void Connection<Stream>::consume() {
  while (!current_ && !wait_to_write_ && !in_.empty() && !failed_ && !close_when_written_ &&
         may_parse_again(*parser_, in_.size())) {
    ErrorCode error;
    const std::size_t used = put_bytes(*parser_, in_, error);
    if (error && error != http::error::need_more) {
      const std::string_view text = in_;
      const bool in_header = !parser_->is_header_done();
      return refuse(parse_refusal(error, in_header ? text : text.substr(used), shared_->options.body_bytes_max));
    }
    in_.erase(0, used);
    if (refused_by_header()) return;
    if (!count_request()) return;
    if (parser_->is_done()) {
      dispatch();
      continue;
    }
    watch_progress();
    if (used > 0) continue;
    // Only the text around the chunks of a body waits for its end.
    if (in_.size() > kAheadBytesMax && parser_->is_header_done())
      return refuse({400, base::format("a chunk's head or the trailer is longer than {} bytes", kAheadBytesMax)});
    break;
  }
  if (in_.empty() && in_.capacity() > chunk_.size()) in_ = std::string();
  count_request();
}

// True if the header is there and the request goes no further.
template <class Stream>
bool Connection<Stream>::refused_by_header() {
  if (header_seen_ || !parser_->is_header_done()) return false;
  header_seen_ = true;
  std::optional<HttpRefusal> refusal = framing_refusal(parser_->get().base());
  if (!refusal) refusal = seat_->recognize([this] { return known_request(parser_->get().base()); });
  if (refusal) {
    refuse(*refusal);
    return true;
  }
  if (!parser_->is_done() && shared_->options.refusal_before_body)
    if (const auto response = shared_->options.refusal_before_body(known_request(parser_->get().base()))) {
      end_with(*response);
      return true;
    }
  if (!continued_ && !parser_->is_done() && expects_continue(parser_->get().base())) {
    continued_ = true;
    write_now("HTTP/1.1 100 Continue\r\n\r\n");
  }
  return false;
}

// A peer that begins a request must end it: a connection that waits for the rest costs as much as a busy one.
template <class Stream>
void Connection<Stream>::watch_progress() {
  const auto& options = shared_->options;
  if (parser_->is_header_done()) {
    if (step_ != Step::kBody) enter(Step::kBody, options.request_time_max);
  } else if (step_ != Step::kHeader) {
    enter(Step::kHeader, options.header_time_max);
  }
}

// While nothing is read the peer's end would not be noticed: a command that reads no input would go on for hours.
template <class Stream>
void Connection<Stream>::watch_peer() {
  look_timer_.expires_after(kLook);
  look_timer_.async_wait([weak = this->weak_from_this()](ErrorCode error) {
    const auto self = weak.lock();
    if (error || !self || self->failed_ || !self->current_) return;
    if (!std::exchange(self->resumed_, false) && has_left(self->socket())) return self->gone();
    self->watch_peer();
  });
}

// Counts what is held of requests. False if the server holds so much of them that this one cannot go on.
template <class Stream>
bool Connection<Stream>::count_request() {
  std::size_t held = in_.size() + serving_;
  if (parser_ && parser_->is_header_done() && !current_) held += parser_->get().body().size();
  shared_->request_bytes += held - counted_;  // modulo 2^64: it may be less than before
  counted_ = held;
  if (held <= kAheadBytesMax || current_ || shared_->request_bytes <= shared_->options.request_bytes_max) return true;
  refuse({429, "the server holds too many bytes of requests, please try again later", 1});
  return false;
}

template <class Stream>
void Connection<Stream>::end_with(const HttpResponse& last_answer) {
  close_when_written_ = true;
  in_ = std::string();
  parser_.reset();
  count_request();
  write_now(closing_bytes(last_answer));
}

template <class Stream>
void Connection<Stream>::dispatch() {
  step_ = Step::kAnswered;
  peer_due_ = Due::max();
  auto message = parser_->release();
  HttpRequest request = known_request(message.base());
  request.body = std::move(message.body());
  serving_ = request.body.size();
  const AnswerStyle style{
      .keep_alive = message.keep_alive(),
      .gzip_wanted = header(request.headers, "Accept-Encoding").find("gzip") != std::string_view::npos,
      .head = request.method == "HEAD",
      .chunked = message.version() == 11};
  // A peer that already speaks has not waited for the answer to its handshake.
  request.web_socket = wants_web_socket(message.base()) && in_.empty();
  if (request.body.empty()) request.upgrade = upgrade_of(message.base());
  if (request.web_socket) upgrade_.emplace(std::move(message.base()));
  current_ = std::make_shared<Exchange>(this->shared_from_this(), style);
  if (upgrade_) watch_peer();
  shared_->handler(std::move(request), current_);
}

// --- answers ---

template <class Stream>
void Connection<Stream>::write(std::vector<SharedBytes> pieces, bool more) {
  for (SharedBytes& bytes : pieces) {
    if (failed_)
      backlog.remove(bytes->size());
    else
      out_.push_back(std::move(bytes));
  }
  if (writing_) return;
  if (!more) return flush();
  if (std::exchange(flush_posted_, true)) return;
  asio::post(*context_, [self = this->shared_from_this()] {
    self->flush_posted_ = false;
    self->flush();
  });
}

template <class Stream>
void Connection<Stream>::answered(bool keep_alive) {
  current_.reset();
  upgrade_.reset();
  on_bytes_.reset();
  paused_ = false;
  if (failed_) return;
  serving_ = 0;
  if (!keep_alive) {
    close_when_written_ = true;
    if (!writing_ && !opening_ && out_.empty()) run_dry();
    return;
  }
  begin_request();
  wait_to_write_ = !backlog.low();
  consume();
  read();
}

template <class Stream>
void Connection<Stream>::open_web_socket(Headers headers, HttpExchange::Messages messages,
                                         HttpExchange::OnBytes on_bytes) {
  if (failed_ || !upgrade_) return;
  opening_ = true;
  web_socket_ = make_web_socket(*stream_);
  const bool binary = messages == HttpExchange::Messages::kBytes;
  web_socket_->accept(*upgrade_, std::move(headers), binary,
                      [self = this->shared_from_this(), on_bytes = std::move(on_bytes)](ErrorCode error) mutable {
                        self->opening_ = false;
                        if (self->failed_) return;
                        if (error) return self->gone();
                        if (on_bytes) self->watch_peer();
                        self->web_socket_->read(std::move(on_bytes), [self](ErrorCode) { self->gone(); });
                        self->flush();
                      });
}

template <class Stream>
void Connection<Stream>::open_upgraded(HttpExchange::OnBytes on_bytes) {
  if (failed_ || !current_) return;
  upgrade_.reset();  // of a WebSocket, too, the bytes are then for whoever takes them
  on_bytes_ = std::make_shared<const HttpExchange::OnBytes>(std::move(on_bytes));
  if (!in_.empty()) deliver();
  watch_peer();
  read();
}

template <class Stream>
void Connection<Stream>::resume_reading() {
  if (failed_) return;
  resumed_ = true;
  if (web_socket_) return web_socket_->resume();
  paused_ = false;
  read();
}

template <class Stream>
void Connection<Stream>::flush() {
  if (failed_ || opening_ || writing_) return;
  if (out_.empty()) return run_dry();
  writing_ = true;
  write_due_ = Clock::now() + std::chrono::nanoseconds(shared_->options.write_time_max.ns);
  due_at(write_due_);
  in_flight_sent_ = 0;
  in_flight_ = take_joined(out_, web_socket_ ? 0 : kJoinBytesMax);
  if (!web_socket_) return flush_slice();
  web_socket_->write(*in_flight_, [self = this->shared_from_this()](ErrorCode error) {
    self->written(error, self->in_flight_->size());
  });
}

template <class Stream>
void Connection<Stream>::flush_slice() {
  const auto rest = asio::buffer(*in_flight_) + in_flight_sent_;
  asio::async_write(
      *stream_, asio::buffer(rest, kWriteBytesMax),
      [self = this->shared_from_this()](ErrorCode error, std::size_t size) { self->written(error, size); });
}

template <class Stream>
void Connection<Stream>::written(ErrorCode error, std::size_t size) {
  if (error) {
    writing_ = false;
    return gone();
  }
  backlog.remove(size);
  in_flight_sent_ += size;
  if (in_flight_sent_ < in_flight_->size() && !failed_) {
    write_due_ = Clock::now() + std::chrono::nanoseconds(shared_->options.write_time_max.ns);
    return flush_slice();
  }
  writing_ = false;
  write_due_ = Due::max();
  in_flight_.reset();
  flush();
  if (failed_ || !wait_to_write_ || !backlog.low()) return;
  wait_to_write_ = false;
  consume();
  read();
}

// All is written.
template <class Stream>
void Connection<Stream>::run_dry() {
  if (!close_when_written_ && step_ == Step::kIdle) enter(step_, idle_time());
  if (!close_when_written_ || step_ == Step::kLinger) return;
  if (!web_socket_) return linger();
  enter(Step::kLinger, kLingerTime);
  web_socket_->close([self = this->shared_from_this()](ErrorCode) { self->gone(); });
}

template <class Stream>
void Connection<Stream>::gone() {
  if (failed_) return;
  close();
  backlog.close();
  if (const auto current = std::exchange(current_, nullptr)) current->closed();
}

template <class Stream>
void Connection<Stream>::close() {
  failed_ = seat_->closed = true;
  on_bytes_.reset();
  alarm_.cancel();
  if (web_socket_) web_socket_->forget();
  ErrorCode ignored;
  socket().shutdown(tcp::socket::shutdown_both, ignored);
  socket().close(ignored);
  for (const SharedBytes& bytes : out_) backlog.remove(bytes->size());
  out_.clear();
}

}  // namespace

void begin_http1(const std::shared_ptr<ConnectionSlot>& seat, std::unique_ptr<TlsStream> stream, PeerNames peer) {
  const auto connection = std::make_shared<Connection<TlsStream>>(seat, std::move(stream), std::move(peer));
  seat->driver = connection;
  connection->start();
}

void begin_connection(const std::shared_ptr<ConnectionSlot>& seat, tcp::socket socket) {
  if (const auto tls = seat->shared->tls()) return begin_handshake(seat, std::move(socket), tls);
  PeerNames peer;
  peer.address = address_of(socket);
  const auto connection = std::make_shared<Connection<tcp::socket>>(
      seat, std::make_unique<tcp::socket>(std::move(socket)), std::move(peer));
  seat->driver = connection;
  connection->post([connection] { connection->start(); });
}

}  // namespace rt
