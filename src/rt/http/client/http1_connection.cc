// Writing a request, parsing its answer, and resting in between.
#include "rt/http/client/http1_connection.h"

#include <boost/asio/write.hpp>

#include "base/format.h"
#include "rt/http/parser_bytes.h"

namespace rt {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using base::Code;

// Servers end connections that were idle for 60 to 90 s (proxies, Go's servers); a request that crosses such an end
// has no answer.
constexpr base::Duration kIdleMax = base::seconds(45);

namespace {

// A request as it is on the wire. `authority` is the host of one that names none.
std::string encode(const HttpRequest& request, const std::string& authority) {
  const std::string_view host = header(request.headers, "Host");
  std::string text =
      base::format("{} {} HTTP/1.1\r\nHost: {}\r\n", request.method, request.target, host.empty() ? authority : host);
  for (const auto& [name, value] : request.headers)
    if (!same_header(name, "Host")) text += name + ": " + value + "\r\n";
  if (!request.upgrade.empty()) text += base::format("Connection: Upgrade\r\nUpgrade: {}\r\n", request.upgrade);
  if (!request.body.empty() || request.method != "GET")
    text += base::format("Content-Length: {}\r\n", request.body.size());
  text += "\r\n";
  return text + request.body;
}

Headers headers_of(const http::response<GrowingBody>& head) {
  Headers all;
  for (const auto& field : head) all.emplace_back(std::string(field.name_string()), std::string(field.value()));
  return all;
}

}  // namespace

Http1Connection::Http1Connection(std::shared_ptr<ClientShared> shared)
    : shared_(std::move(shared)), socket_(shared_), timer_(shared_->context), loop_timer_(shared_->context) {}

void Http1Connection::rest(std::function<void()> on_gone) {
  on_gone_ = std::move(on_gone);
  timer_.expires_after(std::chrono::nanoseconds(kIdleMax.ns));
  timer_.async_wait([self = shared_from_this(), armed = ++armed_](ErrorCode error) {
    if (!error && armed == self->armed_ && self->on_gone_) self->leave();
  });
  if (!reading_) read();
}

void Http1Connection::run(const HttpRequest& request, bool stream, base::Duration timeout, Callbacks callbacks) {
  callbacks_ = std::move(callbacks);
  on_gone_ = nullptr;
  stream_ = stream;
  wants_upgrade_ = stream && !request.upgrade.empty();
  upgraded_ = false;
  held_ = waits_held_ = false;
  unsaid_.clear();
  out_ = encode(request, shared_->authority());
  parser_.emplace();
  has_left_ = false;
  if (stream)
    parser_->body_limit(boost::none);
  else
    parser_->body_limit(shared_->options.answer_bytes_max);
  parser_->header_limit(kAnswerHeaderBytesMax);
  parser_->eager(true);
  if (request.method == "HEAD") parser_->skip(true);
  head_sent_ = false;
  got_bytes_ = false;
  arm(timeout);
  if (connected_) return write();
  connect();
}

void Http1Connection::abort() {
  callbacks_ = {};
  on_gone_ = nullptr;
  close();
}

void Http1Connection::arm(base::Duration timeout) {
  if (timeout.ns <= 0) return;
  timer_.expires_after(std::chrono::nanoseconds(timeout.ns));
  timer_.async_wait([self = shared_from_this(), armed = ++armed_](ErrorCode error) {
    // One that ran out just before it was cancelled no longer counts.
    if (!error && armed == self->armed_) self->fail(Code::kTimeout, "the server did not answer in time");
  });
}

void Http1Connection::connect() {
  socket_.connect(false, [self = shared_from_this()](const base::Status& connected) {
    if (!connected.ok()) return self->finish(connected.error());
    self->connected_ = true;
    self->write();
  });
}

void Http1Connection::write() {
  writing_ = true;
  socket_.with_stream([this](auto& stream) {
    asio::async_write(stream, asio::buffer(out_), [self = shared_from_this()](ErrorCode error, std::size_t) {
      self->writing_ = false;
      if (error) return self->fail(Code::kUnavailable, base::format("cannot send: {}", error.message()));
      if (!self->reading_ && self->connected_) self->read();  // it may have been given up meanwhile
    });
  });
}

void Http1Connection::read() {
  reading_ = true;
  socket_.with_stream([this](auto& stream) {
    stream.async_read_some(asio::buffer(chunk_), [self = shared_from_this()](ErrorCode error, std::size_t size) {
      self->reading_ = false;
      if (self->on_gone_) return self->leave();
      if (error) return self->ended(error);
      self->got_bytes_ = true;
      self->in_.append(self->chunk_.data(), size);
      self->consume();
    });
  });
}

void Http1Connection::ended(ErrorCode error) {
  if (!callbacks_.on_done) return close();
  if (upgraded_ && error == asio::error::eof) return done();
  if (parser_ && parser_->is_header_done() && parser_->need_eof()) {
    ErrorCode ignored;
    parser_->put_eof(ignored);
    return done();
  }
  fail(Code::kUnavailable, base::format("the connection was lost: {}", error.message()));
}

// Whether the head of a 101 is there, which ends HTTP on this connection.
bool Http1Connection::goes_on_otherwise() const {
  constexpr unsigned kSwitchingProtocols = 101;
  return wants_upgrade_ && parser_->is_header_done() && parser_->get().result_int() == kSwitchingProtocols;
}

void Http1Connection::hold(bool held) {
  held_ = held;
  if (!held_ && std::exchange(waits_held_, false) && callbacks_.on_done) read_when_taken();
}

void Http1Connection::write_bytes(std::string_view bytes) {
  unsaid_ += bytes;
  if (upgraded_ && !writing_) write_more();
}

void Http1Connection::write_more() {
  out_ = std::exchange(unsaid_, {});
  writing_ = true;
  socket_.with_stream([this](auto& stream) {
    asio::async_write(stream, asio::buffer(out_), [self = shared_from_this()](ErrorCode error, std::size_t size) {
      self->writing_ = false;
      if (error) return self->fail(Code::kUnavailable, base::format("cannot send: {}", error.message()));
      if (self->callbacks_.on_written) self->callbacks_.on_written(size);
      if (self->connected_ && !self->unsaid_.empty()) self->write_more();
    });
  });
}

void Http1Connection::consume() {
  while (!upgraded_ && !in_.empty() && callbacks_.on_done && !parser_->is_done()) {
    if (has_left_ && !may_parse_again(*parser_, in_.size())) break;
    ErrorCode error;
    const std::size_t used = put_bytes(*parser_, in_, error);
    in_.erase(0, used);
    has_left_ = !in_.empty();
    if (error == http::error::need_more) error = {};
    if (error) return fail(Code::kUnavailable, base::format("the answer is not HTTP: {}", error.message()));
    if (stream_) deliver();
    if (used == 0) break;
  }
  if (!callbacks_.on_done) return;
  if (!upgraded_ && goes_on_otherwise()) {
    upgraded_ = true;
    if (!unsaid_.empty() && !writing_) write_more();
  }
  if (upgraded_) {
    if (!in_.empty()) callbacks_.on_data(std::exchange(in_, {}));
    return read_when_taken();
  }
  if (parser_->is_done()) return done();
  read_when_taken();
}

// A server that sends faster than the loop takes has to wait, or all of it would be kept here.
void Http1Connection::read_when_taken() {
  waits_held_ = held_;
  if (held_) return;
  if (!stream_ || !shared_->loop_is_behind()) return read();
  loop_timer_.expires_after(kLoopLook);
  loop_timer_.async_wait([self = shared_from_this()](ErrorCode error) {
    if (!error && self->callbacks_.on_done) self->read_when_taken();
  });
}

void Http1Connection::deliver() {
  if (!parser_->is_header_done()) return;
  if (!head_sent_) {
    head_sent_ = true;
    disarm();
    if (callbacks_.on_head) callbacks_.on_head(parser_->get().result_int(), headers_of(parser_->get()));
  }
  std::string body = std::exchange(parser_->get().body(), {});
  if (!body.empty() && callbacks_.on_data) callbacks_.on_data(std::move(body));
}

void Http1Connection::disarm() {
  ++armed_;
  timer_.cancel();
}

void Http1Connection::done() {
  disarm();
  used_ = true;
  HttpResponse response;
  response.status = static_cast<int>(parser_->get().result_int());
  response.headers = headers_of(parser_->get());
  response.body = std::move(parser_->get().body());
  const bool reusable = parser_->get().keep_alive() && in_.empty() && !writing_;
  auto callback = std::exchange(callbacks_, {}).on_done;
  if (!reusable) close();
  callback(std::move(response), reusable);
}

void Http1Connection::fail(Code code, const std::string& why) { finish(shared_->error(code, why)); }

void Http1Connection::finish(base::Error error) {
  close();
  if (const auto callback = std::exchange(callbacks_, {}).on_done) callback(std::move(error), false);
}

void Http1Connection::leave() {
  close();
  std::exchange(on_gone_, nullptr)();
}

void Http1Connection::close() {
  connected_ = false;
  disarm();
  loop_timer_.cancel();
  socket_.close();
}

}  // namespace rt
