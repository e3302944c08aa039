// The server's side of one HTTP/2 connection as a state machine: bytes in, bytes out, no sockets, and the time is said.
//
// The cost of a hostile client is limited: streams at a time, the header and the body of a request, the time for each,
// the time in which it takes what waits for it, and how often it resets requests, pings or changes settings (libnghttp2
// ends such a session). Its priorities are not asked for: streams take turns.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "rt/http/http.h"
#include "rt/http/server/http_server.h"

namespace rt {

// One thread. Callbacks come from within receive(), take_output() and expire(); they may call whatever sends, and
// nothing else of the session.
class Http2ServerSession {
 public:
  using StreamId = std::int32_t;
  static constexpr std::uint32_t kStreamsMax = 100;  // at a time, as kube-apiserver has it

  // A part of an answer; it lives as long as its owner.
  struct Slice {
    std::shared_ptr<const void> owner;
    std::string_view bytes;
  };
  struct Limits {
    std::size_t header_bytes_max = std::size_t{64} << 10;
    std::size_t body_bytes_max = std::size_t{3} << 20;
    base::Duration header_time_max = base::seconds(32);
    base::Duration request_time_max = base::seconds(60);
    base::Duration write_time_max = base::seconds(60);
  };
  struct Callbacks {
    // The header is there; an answer ends the request, and its body is neither read nor held.
    std::function<std::optional<HttpResponse>(const HttpRequest&, bool has_body)> refusal_of_head = {};
    // How the session's own refusals are said.
    std::function<HttpResponse(const HttpRefusal&)> refused = {};
    // So many bytes more are held of requests, or fewer again. False: too many, and the request is refused.
    std::function<bool(std::int64_t)> hold = {};
    std::function<void(StreamId, HttpRequest)> on_request = {};
    // So many bytes of the stream's answer wait no longer: they are on their way, or will never be.
    std::function<void(StreamId, std::size_t)> on_taken = {};
    // After on_request, once: nothing more is sent. `complete`: the whole answer is on its way.
    std::function<void(StreamId, bool complete)> on_end = {};
  };

  Http2ServerSession(const Limits& limits, Callbacks callbacks);
  ~Http2ServerSession();
  Http2ServerSession(const Http2ServerSession&) = delete;
  Http2ServerSession& operator=(const Http2ServerSession&) = delete;

  // An error ends the session: what take_output() has then is the last that the client hears.
  base::Status receive(std::string_view bytes, base::Duration now);
  // Bytes for the client, 128 KiB at a time or a little more; empty, and without memory, if there are none now. They
  // come in the memory of `buffer`.
  std::string take_output(base::Duration now, std::string buffer = {});
  // Resets streams whose time is up. False: the connection itself is of no more use.
  bool expire(base::Duration now);
  // Whether there is anything that expire() should look at.
  bool has_deadlines() const;

  // Each answer: one head, then pieces, then its end. They do nothing for a stream that is gone, and send() says so.
  void start(StreamId stream, int status, const Headers& headers, std::optional<std::size_t> content_length);
  // `end` is the answer's. Needs start() before.
  bool send(StreamId stream, std::vector<Slice> pieces, bool end, base::Duration now);
  // Says that the request was not looked at.
  void refuse_stream(StreamId stream);
  // Ends an answer that is not whole.
  void break_off(StreamId stream);
  // No new requests; those that are open are answered.
  void go_away();
  // The same for a client that may be asking at the moment: it is told that the end comes, and what it asks until it
  // has heard that (it answers a ping), a second at the most, is answered. Its later requests were not looked at, and
  // it knows that from the last words.
  void announce_end(base::Duration now);

  std::size_t open_count() const;
  // True when there is nothing more to hear or to say.
  bool is_over() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rt
