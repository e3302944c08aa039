// One HTTP/2 connection of a client: a socket, its session, and the time that requests may take.
#pragma once

#include <array>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "rt/http/client/client_socket.h"
#include "rt/http/client/http2_session.h"
#include "rt/http/http.h"
#include "rt/http/read_pace.h"

namespace rt {

// All on the I/O thread. Callbacks never come from within the call that set them.
class Http2Connection : public std::enable_shared_from_this<Http2Connection> {
 public:
  // The possible effect of a request that failed.
  enum class Loss : std::uint8_t {
    kNone,     // it was answered
    kRefused,  // nothing: it may be sent again, whatever it is
    kUnheard,  // perhaps all of it; not a byte of the answer came, and the connection had answered others before
    kMidway,   // perhaps all of it; the answer broke off, or the connection is new, or time is up
  };
  struct Callbacks {
    std::function<void(int, Headers)> on_head = {};  // streams only
    std::function<void(std::string)> on_data = {};   // streams only
    std::function<void(base::Result<HttpResponse>, Loss)> on_done = {};
  };
  using StreamId = Http2Session::StreamId;

  explicit Http2Connection(std::shared_ptr<ClientShared> shared);

  // `done` once: true if the server speaks HTTP/2; otherwise the connection is of no use. `gone` once afterwards, when
  // it has ended; all requests have ended by then.
  void connect(std::function<void(base::Result<bool>)> done, std::function<void()> gone);

  // Whether requests may still begin here, now or when others have ended.
  bool takes_requests() const { return ready_ && !over_ && session_.takes_requests(); }
  bool has_room(std::size_t open_max) const;
  // Needs has_room(). A stream's answer comes in parts; it may take as long as it likes from its head on.
  StreamId run(const HttpRequest& request, bool stream, Callbacks callbacks);
  void cancel(StreamId id);
  void abort();

 private:
  struct Open {
    Callbacks callbacks;
    HttpResponse response;
    bool stream = false;
    bool has_head = false;
    std::string flaw;  // of ours: time is up, the body is too large
    base::Code code = base::Code::kUnavailable;
  };
  struct Deadline {
    std::chrono::steady_clock::time_point at;
    StreamId id;
  };

  void read();
  void read_more();
  void wait_for_loop();
  void hold_mail(bool hold);
  void write();
  void tick();
  void give_up(StreamId id, base::Code code, std::string why);
  void ended(StreamId id, Http2Session::End how, const std::string& why);
  void fail(const std::string& why);

  std::shared_ptr<ClientShared> shared_;
  ClientSocket socket_;
  boost::asio::steady_timer timer_;
  boost::asio::steady_timer connect_timer_;
  boost::asio::steady_timer pause_timer_;
  ReadPace pace_;
  Http2Session session_;
  std::map<StreamId, Open> open_;
  std::deque<Deadline> deadlines_;
  std::function<void()> gone_;
  std::array<char, 65536> chunk_;
  std::string out_;
  bool ready_ = false;
  bool writing_ = false;
  bool receiving_ = false;
  bool over_ = false;
  bool answered_any_ = false;
  int answers_read_ = 0;  // with the last read
  bool holds_mail_ = false;
  bool carries_streams_ = false;  // or requests; a connection has one of both
  bool has_received_ = false;     // anything since the last tick
  int silent_ticks_ = 0;
};

}  // namespace rt
