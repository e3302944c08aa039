// How a server ends that others ask: nobody who keeps to the protocol notices, and nobody holds it up.
#include <gtest/gtest.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <set>

#include "base/await_for_tests.h"
#include "rt/env.h"
#include "rt/http/http2_frames_for_tests.h"
#include "rt/http/peer_for_tests.h"
#include "rt/http/server/http_server.h"
#include "rt/tls/tls.h"

namespace rt {
namespace {

namespace tcp_asio = boost::asio;
using namespace frames;

const std::string kAsk = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

// Requests wait until the test answers them.
struct Ending {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<HttpExchange>> asked;
  std::unique_ptr<HttpServer> server;
  std::promise<void> drained;

  explicit Ending(bool tls = false, ServerOptions options = {}) {
    if (tls) {
      const base::Time now = make_real_env("test")->now();
      const KeyPair key = *issue_certificate(*make_ca("ca", now, base::hours(1)),
                                             {.common_name = "server", .server = true}, now, base::hours(1));
      options.tls = ServerKeys{key.certificate_pem, key.key_pem, ""};
    }
    server = *listen_http(options, [this](const HttpRequest&, std::shared_ptr<HttpExchange> exchange) {
      const std::lock_guard lock(mutex);
      asked.push_back(std::move(exchange));
      changed.notify_one();
    });
  }
  ~Ending() {
    for (const auto& exchange : asked) exchange->abandon();
    server.reset();
  }
  std::shared_ptr<HttpExchange> next() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return !asked.empty(); });
    auto first = std::move(asked.front());
    asked.pop_front();
    return first;
  }
  void drain(base::Duration time_max = base::hours(1)) {
    server->drain(time_max, [this] { drained.set_value(); });
  }
  void wait() { base::await(drained); }
};

// A client that speaks HTTP/2 frame by frame.
class FramePeer {
 public:
  explicit FramePeer(std::uint16_t port) {
    const unsigned char protocols[] = "\x02h2";
    SSL_set_alpn_protos(stream_.native_handle(), protocols, 3);
    stream_.next_layer().connect({tcp_asio::ip::address_v4::loopback(), port});
    stream_.handshake(tcp_asio::ssl::stream_base::client);
  }
  void write(const std::string& bytes) { tcp_asio::write(stream_, tcp_asio::buffer(bytes)); }
  // The next frame of this type; the others go to `seen`.
  Frame read_frame(int type) {
    for (;;) {
      Frame one = take_frame(bytes_);
      if (one.type == type) return one;
      if (one.type >= 0) {
        seen.push_back(std::move(one));
        continue;
      }
      char chunk[16384];
      boost::system::error_code error;
      const std::size_t size = stream_.read_some(tcp_asio::buffer(chunk), error);
      if (error) return {};
      bytes_.append(chunk, size);
    }
  }
  // Streams whose answer has come to its end, once nothing more comes.
  std::set<std::uint32_t> answered() {
    while (read_frame(-2).type >= 0) continue;
    std::set<std::uint32_t> out;
    for (const Frame& one : seen)
      if (one.type == kData && (one.flags & kEndStream) != 0) out.insert(one.stream);
    return out;
  }
  std::vector<Frame> seen;

 private:
  tcp_asio::io_context context_;
  tcp_asio::ssl::context tls_{tcp_asio::ssl::context::tls_client};
  tcp_asio::ssl::stream<tcp_asio::ip::tcp::socket> stream_{context_, tls_};
  std::string bytes_;
};

std::string get_on(std::uint32_t stream) { return frame(kHeaders, kEndHeaders | kEndStream, stream, kGet); }

bool announces_close(const std::string& answer) { return answer.find("Connection: close\r\n") != answer.npos; }

TEST(HttpDrain, over_http2_goaway_is_said_twice_and_what_was_asked_is_answered) {
  Ending ending(true);
  FramePeer peer(ending.server->port());
  peer.write(kBegin + get_on(1));
  const auto first = ending.next();
  ending.drain();
  EXPECT_EQ(peer.read_frame(kGoAway).last_stream(), kLastOfAll);
  const Frame ping = peer.read_frame(kPing);
  peer.write(get_on(3));  // it may cross the news
  const auto second = ending.next();
  peer.write(frame(kPing, kAck, 0, ping.payload));
  EXPECT_EQ(peer.read_frame(kGoAway).last_stream(), 3u);
  peer.write(get_on(5));  // this one the client asks again, elsewhere
  second->respond({200, {}, "second"});
  first->respond({200, {}, "first"});
  EXPECT_EQ(peer.answered(), (std::set<std::uint32_t>{1, 3}));
  for (const Frame& one : peer.seen) EXPECT_TRUE(one.stream != 5u && one.type != kReset) << one.type;
  EXPECT_TRUE(ending.asked.empty());
}

TEST(HttpDrain, an_http2_connection_that_waits_is_left_in_words) {
  Ending ending(true);
  {
    FramePeer peer(ending.server->port());
    peer.write(kBegin + get_on(1));
    ending.next()->respond({200, {}, "first"});
    peer.read_frame(kData);
    ending.drain();
    EXPECT_EQ(peer.read_frame(kGoAway).last_stream(), kLastOfAll);
    peer.write(frame(kPing, kAck, 0, peer.read_frame(kPing).payload));
    EXPECT_EQ(peer.read_frame(kGoAway).last_stream(), 1u);
    EXPECT_EQ(peer.read_frame(-2).type, -1);
  }
  ending.wait();
}

TEST(HttpDrain, over_http1_the_answer_says_that_it_is_the_last) {
  Ending ending;
  {
    // In this order they are accepted.
    Peer fresh(ending.server->port()), peer(ending.server->port()), idle(ending.server->port());
    idle.write(kAsk);
    ending.next()->respond({200, {}, "kept"});
    EXPECT_FALSE(announces_close(idle.read_until("kept")));
    peer.write(kAsk);
    const auto under_way = ending.next();
    ending.drain();
    std::vector exchanges = {under_way};
    for (Peer* one : {&fresh, &idle}) {  // they ask now
      one->write(kAsk);
      exchanges.push_back(ending.next());
    }
    for (const auto& exchange : exchanges) exchange->respond({200, {}, "last"});
    for (Peer* one : {&peer, &fresh, &idle}) {
      const std::string answer = one->read_all();
      EXPECT_TRUE(announces_close(answer) && answer.ends_with("last")) << answer;
    }
  }
  ending.wait();
}

TEST(HttpDrain, an_http1_stream_that_ends_takes_its_connection_along) {
  ServerOptions options;
  options.idle_time_max = base::hours(1);
  options.last_request_time_max = base::milliseconds(1);
  Ending ending(false, options);
  {
    Peer peer(ending.server->port());
    peer.write(kAsk);
    const auto stream = ending.next();
    stream->start(200, {});
    stream->send_one(std::make_shared<const std::string>("part"));
    EXPECT_FALSE(announces_close(peer.read_until("part\r\n")));
    ending.drain();
    stream->finish();
    EXPECT_EQ(peer.read_all(), "0\r\n\r\n");
  }
  ending.wait();
}

TEST(HttpDrain, new_connections_are_not_taken_and_nobody_holds_it_longer_than_it_may_be) {
  Ending ending(true);
  FramePeer half(ending.server->port()), silent(ending.server->port());
  half.write(kBegin + frame(kHeaders, kEndHeaders, 1, kGet) + frame(kData, 0, 1, "half a bo"));
  silent.write(kBegin + get_on(1));
  const auto never_answered = ending.next();
  Peer no_handshake(ending.server->port());
  ending.drain(base::milliseconds(50));
  ending.wait();
  EXPECT_THROW(FramePeer(ending.server->port()), boost::system::system_error);
  ending.server.reset();
  EXPECT_EQ(silent.answered(), std::set<std::uint32_t>());
}

TEST(HttpDrain, who_waits_to_be_accepted_is_served) {
  std::promise<void> entered, go_on, drained;
  bool held = false;  // I/O thread
  const auto server = *listen_http({}, [&](const HttpRequest&, const std::shared_ptr<HttpExchange>& exchange) {
    if (!std::exchange(held, true)) {
      entered.set_value();
      base::await(go_on);
    }
    exchange->respond({200, {}, "served"});
  });
  {
    Peer first(server->port());
    first.write(kAsk);
    base::await(entered);  // from here on nobody is accepted
    Peer second(server->port()), third(server->port()), fourth(server->port());
    for (Peer* one : {&second, &third, &fourth}) one->write(kAsk);
    server->drain(base::hours(1), [&] { drained.set_value(); });
    go_on.set_value();
    for (Peer* one : {&first, &second, &third, &fourth}) {
      const std::string answer = one->read_all();
      EXPECT_TRUE(announces_close(answer) && answer.ends_with("served")) << answer;
    }
  }
  base::await(drained);
}

TEST(HttpDrain, half_a_request_over_http1_does_not_hold_it) {
  Ending ending;
  Peer half(ending.server->port()), other(ending.server->port());
  half.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab");
  other.write(kAsk);
  const auto other_asked = ending.next();
  ending.drain(base::milliseconds(50));
  ending.wait();
}

TEST(HttpDrain, a_server_that_nobody_asks_is_done_at_once_and_one_that_ends_before_drops_it) {
  Ending ending;
  ending.drain();
  ending.wait();
  Ending busy;
  Peer peer(busy.server->port());
  peer.write(kAsk);
  const auto exchange = busy.next();
  busy.drain();
  busy.server.reset();
  EXPECT_EQ(busy.drained.get_future().wait_for(std::chrono::seconds(0)), std::future_status::timeout);
}

}  // namespace
}  // namespace rt
