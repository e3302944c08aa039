// The client's side of one HTTP/2 connection as a state machine: bytes in, bytes out, no sockets and no clock.
//
// The cost of a hostile server is limited: the header of an answer, the settings and pings it has acknowledged
// (libnghttp2 ends such a session), and pushes, which are refused. Bodies are limited by who collects them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rt/http/client/http_client.h"
#include "rt/http/http.h"

namespace rt {

// One thread. Callbacks come from within receive(), close() and reset(); they may call start() and reset(), and nothing
// else of the session.
class Http2Session {
 public:
  enum class End : std::uint8_t {
    kDone,     // the answer is complete
    kRefused,  // the server says that it has not looked at the request: it may be sent again, whatever it is
    kLost,     // no answer, or half of one
  };
  struct Callbacks {
    std::function<void(int status, Headers headers)> on_head = {};
    std::function<void(std::string_view bytes)> on_data = {};
    std::function<void(End end, const std::string& why)> on_end = {};  // once, last
  };
  using StreamId = std::int32_t;

  Http2Session();
  ~Http2Session();
  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;

  // `authority` is host and port as in a URL. An error if the session takes no more requests.
  base::Result<StreamId> start(const HttpRequest& request, const std::string& authority, bool tls, Callbacks callbacks);
  // Tells the server that nobody waits for this answer; its callbacks do not come.
  void reset(StreamId stream);
  // An error ends the session: every open request has ended by then, as with close().
  base::Status receive(std::string_view bytes);
  // Bytes for the server, empty if there are none now.
  std::string take_output();
  // The connection is gone: requests that are open end as kLost.
  void close(const std::string& why);
  void ping();

  std::size_t open_count() const;
  // How many requests the server lets us have open at a time.
  std::size_t open_max() const;
  // True when there is nothing more to hear or to say: both have gone away, or the server has broken the rules and has
  // been told so.
  bool is_over() const;
  // False once the server has said that it goes away.
  bool takes_requests() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rt
