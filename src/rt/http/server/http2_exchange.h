// One answer over HTTP/2: what it says goes, in order, to the connection's I/O thread, and is counted while it waits.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "rt/http/server/http2_server_session.h"
#include "rt/http/server/http_exchange.h"

namespace rt {

class Http2Exchange;

// The next act of a connection for an exchange.
struct Http2Step {
  struct Head {
    int status;
    Headers headers;
    std::optional<std::size_t> content_length;
  };
  std::shared_ptr<Http2Exchange> exchange;
  std::optional<Head> head = {};
  std::vector<Http2ServerSession::Slice> pieces = {};
  bool end = false;
  bool reset = false;  // it ends before it is whole
  std::function<void()> on_closed = {};
};

// The part of a connection that exchanges see.
class Http2SendQueue {
 public:
  virtual ~Http2SendQueue() = default;
  // Any thread. Steps are done in the order of the calls; none is once the server has stopped.
  virtual void push(Http2Step step) = 0;
  virtual const AnswerLimits& limits() const = 0;
};

class Http2Exchange : public HttpExchange, public std::enable_shared_from_this<Http2Exchange> {
 public:
  using StreamId = Http2ServerSession::StreamId;

  // `open` counts those that somebody still holds.
  Http2Exchange(std::shared_ptr<Http2SendQueue> sends, StreamId stream, const HttpRequest& request, ByteSum sum,
                std::shared_ptr<std::atomic<int>> open);
  ~Http2Exchange() override { --*open_; }

  void respond(HttpResponse response) override;
  void start(int status, Headers headers) override;
  // No request asks for these: HTTP/2 has no upgrades here.
  void start_web_socket(Headers headers, Messages messages, OnBytes on_bytes) override;
  void start_upgraded(Headers headers, OnBytes on_bytes) override;
  void resume_reading() override {}
  void send(std::vector<Bytes> pieces) override;
  void send_shared(std::shared_ptr<const SharedChunk> chunk) override;
  void finish() override;
  void abandon() override;
  std::size_t backlog_bytes() const override { return backlog.bytes(); }
  void on_drained(std::function<void()> callback) override { backlog.on_low(std::move(callback)); }
  void wait_until_drained() override { backlog.wait_until_low(); }
  void on_closed(std::function<void()> callback) override;

  // I/O thread, both. `complete`: the whole answer went out.
  void ended(bool complete);
  void when_closed(std::function<void()> callback);

  const StreamId stream;
  Backlog backlog;

 private:
  void push(std::optional<Http2Step::Head> head, std::vector<Http2ServerSession::Slice> pieces, bool end);

  std::shared_ptr<Http2SendQueue> sends_;
  std::shared_ptr<std::atomic<int>> open_;
  bool gzip_wanted_, head_;
  bool ended_ = false, complete_ = false;  // I/O thread, as is the next
  std::function<void()> on_closed_;
};

}  // namespace rt
