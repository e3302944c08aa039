// One answer of the HTTP server: bytes handed to the connection's I/O thread, and counted while they wait.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "rt/http/http.h"
#include "rt/http/server/http_server.h"

namespace rt {

using SharedBytes = HttpExchange::Bytes;

// The bytes that wait on all connections of a server. An answer may outlive the server, and the last one its sum.
using ByteSum = std::shared_ptr<std::atomic<std::size_t>>;

// Bytes that wait to be written on one connection; they count into the sum of the server. Any thread.
class Backlog {
 public:
  static constexpr std::size_t kLow = std::size_t{64} << 10;

  explicit Backlog(ByteSum sum) : sum_(std::move(sum)) {}
  ~Backlog() { *sum_ -= bytes_; }
  Backlog(const Backlog&) = delete;
  Backlog& operator=(const Backlog&) = delete;

  std::size_t bytes() const { return bytes_; }
  bool low() const { return bytes_ <= kLow; }
  void add(std::size_t bytes);
  void remove(std::size_t bytes);
  // The reader has gone: who waits goes on, callbacks are dropped.
  void close();
  void on_low(std::function<void()> callback);
  void wait_until_low();

 private:
  ByteSum sum_;
  std::atomic<std::size_t> bytes_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> on_low_;  // under the mutex, as is the next
  bool closed_ = false;
};

// The limits that the answers of a server share. Any thread.
class AnswerLimits {
 public:
  virtual ~AnswerLimits() = default;
  // True if the server holds so many answers that nobody has read that this one is too much.
  virtual bool too_much(std::size_t bytes) const = 0;
  virtual HttpResponse refused(const HttpRefusal& refusal) const = 0;
  // Connections end with the answers that are under way.
  virtual bool is_draining() const = 0;
};

// An answer as it goes out: packed where that is worth it, or a refusal in its place.
struct ReadyAnswer {
  int status = 200;
  Headers headers;
  std::vector<SharedBytes> body;
  std::size_t size = 0;
};
ReadyAnswer make_ready(HttpResponse response, bool gzip_wanted, const AnswerLimits& limits);

// The view that an exchange has of its connection, whatever its stream.
class ConnectionBase {
 public:
  // `limits` outlive it.
  ConnectionBase(ByteSum sum, const AnswerLimits& limits) : backlog(std::move(sum)), limits(limits) {}
  virtual ~ConnectionBase() = default;
  // False once the server has stopped; the answer is then dropped.
  virtual bool post(std::function<void()> task) = 0;
  // I/O thread, all of them. The bytes were added to the backlog before. `more`: it may wait for what else is written
  // in this turn of the thread.
  virtual void write(std::vector<SharedBytes> pieces, bool more) = 0;
  virtual void answered(bool keep_alive) = 0;
  virtual void open_web_socket(Headers headers, HttpExchange::Messages messages, HttpExchange::OnBytes on_bytes) = 0;
  // The answer to the upgrade was written before.
  virtual void open_upgraded(HttpExchange::OnBytes on_bytes) = 0;
  virtual void resume_reading() = 0;

  Backlog backlog;
  const AnswerLimits& limits;
};

struct AnswerStyle {
  bool keep_alive = true;
  bool gzip_wanted = false;
  bool head = false;
  bool chunked = true;  // HTTP/1.0 knows no chunks: the end of the connection ends the answer
};

class Exchange : public HttpExchange, public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(std::shared_ptr<ConnectionBase> connection, AnswerStyle style)
      : connection_(std::move(connection)), style_(style) {}

  void respond(HttpResponse response) override;
  void start(int status, Headers headers) override;
  void start_web_socket(Headers headers, Messages messages, OnBytes on_bytes) override;
  void start_upgraded(Headers headers, OnBytes on_bytes) override;
  void resume_reading() override;
  void send(std::vector<Bytes> pieces) override;
  void send_shared(std::shared_ptr<const SharedChunk> chunk) override;
  void finish() override;
  void abandon() override;
  std::size_t backlog_bytes() const override { return connection_->backlog.bytes(); }
  void on_drained(std::function<void()> callback) override { connection_->backlog.on_low(std::move(callback)); }
  void wait_until_drained() override { connection_->backlog.wait_until_low(); }
  void on_closed(std::function<void()> callback) override;

  void closed();  // I/O thread

 private:
  std::string head(int status, const Headers& headers) const;
  void enqueue(std::vector<Bytes> pieces, bool last);
  void write_queued();

  struct Piece {
    std::vector<Bytes> bytes;
    bool last;
  };

  std::shared_ptr<ConnectionBase> connection_;
  AnswerStyle style_;
  std::atomic<bool> web_socket_{false};
  std::atomic<bool> upgraded_{false};
  std::mutex mutex_;           // guards the next
  std::vector<Piece> queued_;  // in the order of the calls, which tasks that are posted by several threads do not keep
  bool closed_ = false;        // I/O thread, as are the next
  bool complete_ = false;      // all was handed to the connection: nobody is told of its end any more
  std::function<void()> on_closed_;
};

std::string_view status_text(int status);

// The next bytes to write. TLS writes one record a buffer: small pieces are joined up to `bytes_max`, a large one goes
// alone; with 0 each does.
SharedBytes take_joined(std::deque<SharedBytes>& pieces, std::size_t bytes_max);

}  // namespace rt
