// Bytes between socket and session; deadlines, pings, and what becomes of requests when the connection ends.
#include "rt/http/client/http2_connection.h"

#include <algorithm>
#include <boost/asio/write.hpp>

#include "base/format.h"

namespace rt {

namespace asio = boost::asio;
using base::Code;
using Clock = std::chrono::steady_clock;
using ErrorCode = boost::system::error_code;

namespace {

constexpr std::chrono::seconds kTick(1);
// A server from which nothing comes is asked for a sign of life; a connection that nobody uses is left before the
// server or a proxy ends it (after 60 to 90 s).
constexpr int kSilentTicksToPing = 30;
constexpr int kSilentTicksMax = 45;
constexpr std::size_t kFew = 8;  // requests
constexpr std::chrono::milliseconds kHoldMax(5);

}  // namespace

Http2Connection::Http2Connection(std::shared_ptr<ClientShared> shared)
    : shared_(std::move(shared)),
      socket_(shared_),
      timer_(shared_->context),
      connect_timer_(shared_->context),
      pause_timer_(shared_->context) {}

void Http2Connection::connect(std::function<void(base::Result<bool>)> done, std::function<void()> gone) {
  gone_ = std::move(gone);
  const auto once = std::make_shared<std::function<void(base::Result<bool>)>>(std::move(done));
  const auto report = [once](base::Result<bool> result) {
    if (auto callback = std::exchange(*once, nullptr)) callback(std::move(result));
  };
  connect_timer_.expires_after(std::chrono::nanoseconds(shared_->options.timeout.ns));
  connect_timer_.async_wait([self = shared_from_this(), report](ErrorCode error) {
    if (error || self->ready_) return;
    self->socket_.close();
    report(self->shared_->error(Code::kTimeout, "the server did not answer in time"));
  });
  socket_.connect(true, [self = shared_from_this(), report](base::Status connected) {
    self->connect_timer_.cancel();
    if (self->over_) return;
    if (!connected.ok()) return report(connected.take_error());
    if (!self->socket_.speaks_http2()) {
      self->socket_.close();
      return report(false);
    }
    self->ready_ = true;
    self->read();
    self->write();
    self->tick();
    report(true);
  });
}

bool Http2Connection::has_room(std::size_t open_max) const {
  return takes_requests() && open_.size() < std::min(open_max, session_.open_max());
}

Http2Connection::StreamId Http2Connection::run(const HttpRequest& request, bool stream, Callbacks callbacks) {
  // The id is known only when the session has taken the request; no callback comes before that.
  const auto id = std::make_shared<StreamId>(0);
  Http2Session::Callbacks inner;
  inner.on_head = [this, id](int status, Headers headers) {
    Open& one = open_[*id];
    one.has_head = true;
    one.response.status = status;
    if (one.stream && one.callbacks.on_head) return one.callbacks.on_head(status, std::move(headers));
    one.response.headers = std::move(headers);
  };
  inner.on_data = [this, id](std::string_view bytes) {
    Open& one = open_[*id];
    if (one.stream) {
      if (one.callbacks.on_data) one.callbacks.on_data(std::string(bytes));
      return;
    }
    if (one.response.body.size() + bytes.size() > shared_->options.answer_bytes_max)
      return give_up(*id, Code::kInternal,
                     base::format("the answer is larger than {} bytes", shared_->options.answer_bytes_max));
    one.response.body.append(bytes);
  };
  inner.on_end = [this, id](Http2Session::End how, const std::string& why) { ended(*id, how, why); };
  const auto started = session_.start(request, shared_->authority(), shared_->options.tls, std::move(inner));
  if (!started.ok()) {
    asio::post(shared_->context, [self = shared_from_this(), callbacks = std::move(callbacks), started] {
      if (callbacks.on_done)
        callbacks.on_done(self->shared_->error(Code::kUnavailable, started.error().message), Loss::kRefused);
    });
    return 0;
  }
  *id = *started;
  Open& one = open_[*id];
  one.callbacks = std::move(callbacks);
  one.stream = stream;
  carries_streams_ = stream;
  if (shared_->options.timeout.ns > 0)
    deadlines_.push_back({Clock::now() + std::chrono::nanoseconds(shared_->options.timeout.ns), *id});
  // Requests that are made in one turn travel together.
  if (!writing_ && !receiving_) asio::post(shared_->context, [self = shared_from_this()] { self->write(); });
  return *id;
}

void Http2Connection::cancel(StreamId id) {
  if (open_.erase(id) == 0) return;
  session_.reset(id);
  if (!receiving_) write();
}

void Http2Connection::give_up(StreamId id, Code code, std::string why) {
  auto found = open_.extract(id);
  if (found.empty()) return;
  session_.reset(id);
  if (const auto done = std::move(found.mapped().callbacks.on_done)) done(shared_->error(code, why), Loss::kMidway);
}

void Http2Connection::ended(StreamId id, Http2Session::End how, const std::string& why) {
  auto found = open_.extract(id);
  if (found.empty()) return;
  Open& one = found.mapped();
  const auto done = std::move(one.callbacks.on_done);
  if (!done) return;
  if (how == Http2Session::End::kDone) {
    answered_any_ = true;
    ++answers_read_;
    return done(std::move(one.response), Loss::kNone);
  }
  const Loss loss = how == Http2Session::End::kRefused ? Loss::kRefused
                    : one.has_head || !answered_any_   ? Loss::kMidway
                                                       : Loss::kUnheard;
  done(shared_->error(Code::kUnavailable, why), loss);
}

void Http2Connection::read() {
  socket_.with_stream([this](auto& stream) {
    stream.async_read_some(asio::buffer(chunk_), [self = shared_from_this()](ErrorCode error, std::size_t size) {
      if (self->over_) return;
      if (error) return self->fail(base::format("the connection was lost: {}", error.message()));
      self->has_received_ = true;
      self->receiving_ = true;
      const base::Status status = self->session_.receive({self->chunk_.data(), size});
      self->receiving_ = false;
      if (self->over_) return;
      if (!status.ok()) return self->fail(status.error().message);
      if (!self->session_.takes_requests() && self->open_.empty()) return self->fail("the server ended the connection");
      self->write();
      if (!self->over_) self->read_more();
    });
  });
}

// A caller of one of few answers wants it at once; where many are under way, what counts is what each of them costs.
void Http2Connection::read_more() {
  if (carries_streams_ && shared_->loop_is_behind()) return wait_for_loop();
  pace_.took(std::exchange(answers_read_, 0));
  hold_mail(!socket_.is_drained());
  if (holds_mail_) return read();
  const auto pause = pace_.pause(Clock::now());
  const bool few = !carries_streams_ && open_.size() < kFew;
  if (pause <= Clock::duration::zero() || few) return read();
  pause_timer_.expires_after(pause);
  pause_timer_.async_wait([self = shared_from_this()](ErrorCode error) {
    if (!error && !self->over_) self->read();
  });
}

// A server that sends faster than the loop takes has to wait, or all of it would be kept here.
void Http2Connection::wait_for_loop() {
  hold_mail(false);
  has_received_ = true;  // it is we who do not listen
  pause_timer_.expires_after(kLoopLook);
  pause_timer_.async_wait([self = shared_from_this()](ErrorCode error) {
    if (!error && !self->over_) self->read_more();
  });
}

void Http2Connection::hold_mail(bool hold) {
  if (std::exchange(holds_mail_, hold) == hold) return;
  if (!hold) return shared_->mail.let_go();
  shared_->mail.hold();
  // The bytes at hand may be the beginning of a record whose rest is late.
  pause_timer_.expires_after(kHoldMax);
  pause_timer_.async_wait([self = shared_from_this()](ErrorCode error) {
    if (!error) self->hold_mail(false);
  });
}

void Http2Connection::write() {
  if (writing_ || over_ || !ready_) return;
  out_ = session_.take_output();
  if (out_.empty() && session_.is_over()) return fail("the server broke the rules of HTTP/2, or has gone away");
  if (out_.empty()) return;
  writing_ = true;
  socket_.with_stream([this](auto& stream) {
    asio::async_write(stream, asio::buffer(out_), [self = shared_from_this()](ErrorCode error, std::size_t) {
      self->writing_ = false;
      if (self->over_) return;
      if (error) return self->fail(base::format("cannot send: {}", error.message()));
      self->write();
    });
  });
}

void Http2Connection::tick() {
  timer_.expires_after(kTick);
  timer_.async_wait([self = shared_from_this()](ErrorCode error) {
    if (error || self->over_) return;
    const auto now = Clock::now();
    bool gave_up = false;
    while (!self->deadlines_.empty() && self->deadlines_.front().at <= now) {
      const StreamId id = self->deadlines_.front().id;
      self->deadlines_.pop_front();
      const auto found = self->open_.find(id);
      // An answer that has begun may last.
      if (found != self->open_.end() && !(found->second.stream && found->second.has_head)) {
        self->give_up(id, Code::kTimeout, "the server did not answer in time");
        gave_up = true;
      }
    }
    self->silent_ticks_ = std::exchange(self->has_received_, false) ? 0 : self->silent_ticks_ + 1;
    // After a silence as long as a request may last, the next one would go the same way.
    const bool leads_nowhere =
        gave_up && kTick * (self->silent_ticks_ + 1) >= std::chrono::nanoseconds(self->shared_->options.timeout.ns);
    if (leads_nowhere || self->silent_ticks_ >= kSilentTicksMax) return self->fail("the server has gone silent");
    if (self->silent_ticks_ == kSilentTicksToPing && !self->open_.empty()) self->session_.ping();
    self->write();
    self->tick();
  });
}

void Http2Connection::fail(const std::string& why) {
  if (over_) return;
  over_ = true;
  const auto self = shared_from_this();
  socket_.close();
  timer_.cancel();
  pause_timer_.cancel();
  session_.close(why);
  hold_mail(false);
  if (const auto gone = std::exchange(gone_, nullptr)) gone();
}

void Http2Connection::abort() {
  over_ = true;
  gone_ = nullptr;
  open_.clear();
  socket_.close();
  timer_.cancel();
  connect_timer_.cancel();
  pause_timer_.cancel();
  hold_mail(false);
}

}  // namespace rt
