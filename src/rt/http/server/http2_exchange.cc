// How an answer becomes steps of its connection.
#include "rt/http/server/http2_exchange.h"

namespace rt {

namespace {

using Slice = Http2ServerSession::Slice;

std::vector<Slice> slices_of(std::vector<SharedBytes> pieces) {
  std::vector<Slice> out;
  out.reserve(pieces.size());
  for (SharedBytes& piece : pieces) {
    const std::string_view bytes = *piece;
    out.push_back({std::move(piece), bytes});
  }
  return out;
}

}  // namespace

Http2Exchange::Http2Exchange(std::shared_ptr<Http2SendQueue> sends, StreamId id, const HttpRequest& request,
                             ByteSum sum, std::shared_ptr<std::atomic<int>> open)
    : stream(id),
      backlog(std::move(sum)),
      sends_(std::move(sends)),
      open_(std::move(open)),
      gzip_wanted_(header(request.headers, "Accept-Encoding").find("gzip") != std::string_view::npos),
      head_(request.method == "HEAD") {
  ++*open_;
}

void Http2Exchange::push(std::optional<Http2Step::Head> head, std::vector<Slice> pieces, bool end) {
  std::size_t size = 0;
  for (const Slice& piece : pieces) size += piece.bytes.size();
  backlog.add(size);
  sends_->push({shared_from_this(), std::move(head), std::move(pieces), end});
}

void Http2Exchange::respond(HttpResponse response) {
  ReadyAnswer answer = make_ready(std::move(response), gzip_wanted_, sends_->limits());
  if (head_) answer.body.clear();
  const bool has_length = !header(answer.headers, "Content-Length").empty();
  const std::optional<std::size_t> length = has_length ? std::nullopt : std::optional(answer.size);
  push(Http2Step::Head{answer.status, std::move(answer.headers), length}, slices_of(std::move(answer.body)), true);
}

void Http2Exchange::start(int status, Headers headers) {
  push(Http2Step::Head{status, std::move(headers), std::nullopt}, {}, false);
}

void Http2Exchange::start_web_socket(Headers, Messages, OnBytes) {
  respond(sends_->limits().refused({400, "HTTP/2 goes on as nothing else"}));
}
void Http2Exchange::start_upgraded(Headers, OnBytes) {
  respond(sends_->limits().refused({400, "HTTP/2 goes on as nothing else"}));
}

void Http2Exchange::send(std::vector<Bytes> pieces) { push({}, slices_of(std::move(pieces)), false); }

void Http2Exchange::send_shared(std::shared_ptr<const SharedChunk> chunk) {
  const std::string_view bytes = chunk->bytes();
  std::vector<Slice> pieces;
  pieces.push_back({std::move(chunk), bytes});
  push({}, std::move(pieces), false);
}

void Http2Exchange::finish() { push({}, {}, true); }

void Http2Exchange::abandon() { sends_->push({.exchange = shared_from_this(), .reset = true}); }

void Http2Exchange::on_closed(std::function<void()> callback) {
  sends_->push({.exchange = shared_from_this(), .on_closed = std::move(callback)});
}

void Http2Exchange::when_closed(std::function<void()> callback) {
  if (!ended_)
    on_closed_ = std::move(callback);
  else if (!complete_)
    callback();
}

void Http2Exchange::ended(bool complete) {
  ended_ = true;
  complete_ = complete;
  const auto callback = std::exchange(on_closed_, nullptr);
  if (complete) return;
  backlog.close();
  if (callback) callback();
}

}  // namespace rt
