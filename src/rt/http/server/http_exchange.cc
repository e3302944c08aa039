// How an answer becomes bytes, and how those that wait are counted.
#include "rt/http/server/http_exchange.h"

#include <boost/beast/http/status.hpp>

#include "base/format.h"
#include "rt/http/gzip.h"

namespace rt {
namespace {

constexpr std::size_t kGzipBytesMin = std::size_t{128} << 10;

std::size_t size_of(const std::vector<SharedBytes>& pieces) {
  std::size_t size = 0;
  for (const SharedBytes& piece : pieces) size += piece->size();
  return size;
}

std::string joined(const std::vector<SharedBytes>& pieces) {
  std::string out;
  out.reserve(size_of(pieces));
  for (const SharedBytes& piece : pieces) out += *piece;
  return out;
}

}  // namespace

std::string_view status_text(int status) {
  const auto text = boost::beast::http::obsolete_reason(static_cast<boost::beast::http::status>(status));
  return {text.data(), text.size()};
}

SharedBytes take_joined(std::deque<SharedBytes>& pieces, std::size_t bytes_max) {
  if (pieces.size() == 1 || pieces[0]->size() + pieces[1]->size() > bytes_max) {
    SharedBytes first = std::move(pieces.front());
    pieces.pop_front();
    return first;
  }
  auto joined = std::make_shared<std::string>();
  joined->reserve(bytes_max);
  while (!pieces.empty() && pieces.front()->size() + joined->size() <= bytes_max) {
    *joined += *pieces.front();
    pieces.pop_front();
  }
  return joined;
}

SharedChunk::SharedChunk(std::string_view bytes) : size_(bytes.size()) {
  framed_.reserve(bytes.size() + 16);
  framed_ = base::format("{:x}\r\n", bytes.size());
  begin_ = framed_.size();
  framed_ += bytes;
  framed_ += "\r\n";
}

void Backlog::add(std::size_t bytes) {
  *sum_ += bytes;
  bytes_ += bytes;
}

void Backlog::remove(std::size_t bytes) {
  *sum_ -= bytes;
  const std::size_t before = bytes_.fetch_sub(bytes);
  if (before <= kLow || before - bytes > kLow) return;
  std::function<void()> callback;
  {
    const std::lock_guard lock(mutex_);
    callback = std::exchange(on_low_, nullptr);
  }
  changed_.notify_all();
  if (callback) callback();
}

void Backlog::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    on_low_ = nullptr;
  }
  changed_.notify_all();
}

void Backlog::on_low(std::function<void()> callback) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    if (!low()) {
      on_low_ = std::move(callback);
      return;
    }
  }
  callback();
}

void Backlog::wait_until_low() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return closed_ || low(); });
}

ReadyAnswer make_ready(HttpResponse response, bool gzip_wanted, const AnswerLimits& limits) {
  ReadyAnswer out{response.status, std::move(response.headers), std::move(response.pieces), 0};
  if (out.body.empty()) out.body.push_back(std::make_shared<const std::string>(std::move(response.body)));
  out.size = size_of(out.body);
  const auto replace_body = [&](std::string body) {
    out.size = body.size();
    out.body.assign(1, std::make_shared<const std::string>(std::move(body)));
  };
  if (limits.too_much(out.size)) {
    response =
        limits.refused({.status = 429,
                        .message = "too many bytes of answers wait for clients to read them, please try again later",
                        .retry_after_seconds = 1});
    out.status = response.status;
    out.headers = std::move(response.headers);
    replace_body(std::move(response.body));
  }
  if (gzip_wanted && out.size >= kGzipBytesMin)
    if (auto small = gzip(joined(out.body))) {
      replace_body(*std::move(small));
      out.headers.emplace_back("Content-Encoding", "gzip");
    }
  return out;
}

void Exchange::respond(HttpResponse response) {
  ReadyAnswer answer = make_ready(std::move(response), style_.gzip_wanted, connection_->limits);
  if (connection_->limits.is_draining()) style_.keep_alive = false;
  auto bytes = std::make_shared<std::string>(head(answer.status, answer.headers));
  // An answer to HEAD that somebody else gave has the length of the body that is not sent.
  const bool has_length = !header(answer.headers, "Content-Length").empty();
  *bytes += has_length ? std::string("\r\n") : base::format("Content-Length: {}\r\n\r\n", answer.size);
  if (style_.head) answer.body.clear();
  answer.body.insert(answer.body.begin(), std::move(bytes));
  enqueue(std::move(answer.body), true);
}

void Exchange::start(int status, Headers headers) {
  if (!style_.chunked || connection_->limits.is_draining()) style_.keep_alive = false;
  auto bytes = std::make_shared<std::string>(head(status, headers));
  *bytes += style_.chunked ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n";
  enqueue({std::move(bytes)}, false);
}

void Exchange::start_web_socket(Headers headers, Messages messages, OnBytes on_bytes) {
  web_socket_ = true;
  connection_->post(
      [self = shared_from_this(), headers = std::move(headers), messages, on_bytes = std::move(on_bytes)]() mutable {
        if (!self->closed_) self->connection_->open_web_socket(std::move(headers), messages, std::move(on_bytes));
      });
}

void Exchange::start_upgraded(Headers headers, OnBytes on_bytes) {
  upgraded_ = true;
  headers.emplace_back("Connection", "Upgrade");
  style_.keep_alive = true;  // the header says how it goes on
  auto bytes = std::make_shared<std::string>(head(101, headers));
  *bytes += "\r\n";
  enqueue({std::move(bytes)}, false);
  connection_->post([self = shared_from_this(), on_bytes = std::move(on_bytes)]() mutable {
    if (!self->closed_) self->connection_->open_upgraded(std::move(on_bytes));
  });
}

void Exchange::resume_reading() {
  connection_->post([self = shared_from_this()] {
    if (!self->closed_) self->connection_->resume_reading();
  });
}

void Exchange::send(std::vector<Bytes> pieces) {
  const std::size_t size = size_of(pieces);
  if (size == 0) return;
  if (web_socket_) {
    if (pieces.size() > 1) pieces.assign(1, std::make_shared<const std::string>(joined(pieces)));
  } else if (style_.chunked && !upgraded_) {
    static const auto end = std::make_shared<const std::string>("\r\n");
    pieces.insert(pieces.begin(), std::make_shared<const std::string>(base::format("{:x}\r\n", size)));
    pieces.push_back(end);
  }
  enqueue(std::move(pieces), false);
}

void Exchange::send_shared(std::shared_ptr<const SharedChunk> chunk) {
  if (web_socket_ || upgraded_ || !style_.chunked) return send_one(std::make_shared<const std::string>(chunk->bytes()));
  enqueue({{chunk, &chunk->framed()}}, false);
}

void Exchange::finish() {
  if (web_socket_ || upgraded_ || !style_.chunked) return enqueue({}, true);
  enqueue({std::make_shared<const std::string>("0\r\n\r\n")}, true);
}

void Exchange::abandon() {
  style_.keep_alive = false;
  enqueue({}, true);
}

void Exchange::on_closed(std::function<void()> callback) {
  connection_->post([self = shared_from_this(), callback = std::move(callback)]() mutable {
    if (self->closed_) return callback();
    if (!self->complete_) self->on_closed_ = std::move(callback);
  });
}

void Exchange::closed() {
  closed_ = true;
  if (auto callback = std::exchange(on_closed_, nullptr)) callback();
}

std::string Exchange::head(int status, const Headers& headers) const {
  std::string text = base::format("HTTP/1.1 {} {}\r\n", status, status_text(status));
  for (const auto& [name, value] : headers) text += name + ": " + value + "\r\n";
  if (!style_.keep_alive) text += "Connection: close\r\n";
  return text;
}

void Exchange::enqueue(std::vector<Bytes> pieces, bool last) {
  connection_->backlog.add(size_of(pieces));
  {
    const std::lock_guard lock(mutex_);
    queued_.push_back({std::move(pieces), last});
  }
  connection_->post([self = shared_from_this()] { self->write_queued(); });
}

void Exchange::write_queued() {
  std::vector<Piece> queued;
  {
    const std::lock_guard lock(mutex_);
    queued.swap(queued_);
  }
  for (Piece& piece : queued) {
    connection_->write(std::move(piece.bytes), !piece.last);
    if (!piece.last || closed_) continue;
    complete_ = true;
    on_closed_ = nullptr;
    connection_->answered(style_.keep_alive && !web_socket_ && !upgraded_);
  }
}

}  // namespace rt
