// Kept connections that the server ends: noticed, and what had no answer is sent again where it may be.
#include "rt/http/client/http_client.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "base/await_for_tests.h"
#include "rt/env.h"

namespace rt {
namespace {

// A server of one connection after the other: each plays its script.
class Server {
 public:
  using Script = std::function<void(int connection)>;

  explicit Server(std::vector<Script> scripts) : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&at), size), 0);
    EXPECT_EQ(::listen(listener_, 16), 0);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size), 0);
    port_ = ntohs(at.sin_port);
    thread_ = std::thread([this, scripts = std::move(scripts)] {
      for (const Script& script : scripts) {
        const int connection = ::accept(listener_, nullptr, nullptr);
        script(connection);
        ::close(connection);
      }
    });
  }
  ~Server() {
    thread_.join();
    ::close(listener_);
  }
  std::uint16_t port() const { return port_; }

  // Reads one request without a body. False: the peer has gone.
  static bool read_request(int connection) {
    std::string text;
    char c = 0;
    while (!text.ends_with("\r\n\r\n"))
      if (::recv(connection, &c, 1, 0) != 1)
        return false;
      else
        text += c;
    return true;
  }
  static void answer(int connection, const std::string& body) {
    const std::string text = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    EXPECT_EQ(::send(connection, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }

 private:
  int listener_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

struct Caller {
  std::unique_ptr<RealEnv> env = make_real_env("test");
  std::unique_ptr<HttpClient> client;

  explicit Caller(std::uint16_t port, ClientOptions to = {}) {
    to.host = "127.0.0.1";
    to.port = port;
    to.tls = false;
    client = *make_http_client(to, env->loop());
  }
  ~Caller() {
    client.reset();
    env->stop();
  }
  bool connects() {
    std::promise<bool> got;
    client->connect([&](const base::Status& status) { got.set_value(status.ok()); });
    return base::await(got);
  }
  // The answer's body, with "again " before it where the request was sent twice; "lost" without an answer.
  std::string ask(const std::string& method, bool may_repeat = false) {
    HttpRequest request{.method = method, .target = "/"};
    request.may_repeat = may_repeat;
    std::promise<std::string> got;
    client->send(std::move(request), [&](base::Result<HttpResponse> response) {
      got.set_value(response.ok() ? (response->repeated ? "again " : "") + response->body : "lost");
    });
    return base::await(got);
  }
};

void answer_once_then_end(int connection) {
  ASSERT_TRUE(Server::read_request(connection));
  Server::answer(connection, "first");
  ASSERT_TRUE(Server::read_request(connection));
}

void answer_two(int connection) {
  ASSERT_TRUE(Server::read_request(connection));
  Server::answer(connection, "second");
  EXPECT_FALSE(Server::read_request(connection));
}

TEST(HttpClient, what_a_kept_connection_lost_is_sent_again_where_it_may_be) {
  for (const auto& [method, may_repeat, wanted] :
       {std::tuple{"GET", false, "again second"}, std::tuple{"POST", true, "again second"}}) {
    Server server({answer_once_then_end, answer_two});
    Caller caller(server.port());
    EXPECT_EQ(caller.ask("POST"), "first");
    EXPECT_EQ(caller.ask(method, may_repeat), wanted);
  }
}

TEST(HttpClient, what_may_not_be_sent_twice_is_an_error) {
  Server server({answer_once_then_end, answer_two});
  Caller caller(server.port());
  EXPECT_EQ(caller.ask("POST"), "first");
  EXPECT_EQ(caller.ask("POST"), "lost");
  EXPECT_EQ(caller.ask("POST"), "second");
}

TEST(HttpClient, what_is_lost_on_a_new_connection_is_an_error) {
  Server server({[](int connection) { Server::read_request(connection); }});
  Caller caller(server.port());
  EXPECT_EQ(caller.ask("GET"), "lost");
}

TEST(HttpClient, what_is_not_wanted_any_more_when_its_turn_comes_is_not_sent) {
  Server server({answer_two});
  Caller caller(server.port());
  EXPECT_EQ(caller.ask("POST"), "second");
  std::promise<base::Result<HttpResponse>> got;
  HttpRequest request{.method = "POST", .target = "/late"};
  request.wanted = [] { return false; };
  caller.client->send(std::move(request),
                      [&](base::Result<HttpResponse> response) { got.set_value(std::move(response)); });
  const auto answer = base::await(got);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().message, "POST /late is not sent any more: the right to write is over");
}

// A name that somebody wrote must not become a second request. The server gets nothing, and no callback runs at once.
TEST(HttpClient, what_would_end_its_own_line_is_not_sent) {
  const std::string zero("a\0b", 3);
  const HttpRequest requests[] = {
      {.method = "GET", .target = "/x HTTP/1.1\r\nHost: h\r\n\r\nDELETE /y"},
      {.method = "GET", .target = "/a b"},
      {.method = "GET", .target = "/a\tb"},
      {.method = "GET", .target = "/a\x7f"},
      {.method = "GET", .target = "/" + zero},
      {.method = "GET /x", .target = "/"},
      {.method = "GET", .target = "/", .headers = {{"A", "b\r\nC: d"}}},
      {.method = "GET", .target = "/", .headers = {{"A", "b\nC: d"}}},
      {.method = "GET", .target = "/", .headers = {{"A", zero}}},
      {.method = "GET", .target = "/", .headers = {{"A: b\r\nC", "d"}}},
  };
  Server server({[](int connection) {
    ASSERT_TRUE(Server::read_request(connection));
    Server::answer(connection, "the only one");
  }});
  Caller caller(server.port());
  for (const HttpRequest& request : requests) {
    std::promise<base::Code> answered, ended;
    std::unique_ptr<HttpStream> stream;
    bool at_once = true;
    caller.env->loop().post([&] {
      caller.client->send(request, [&](const base::Result<HttpResponse>& response) {
        EXPECT_FALSE(at_once) << request.target;
        answered.set_value(response.ok() ? base::Code::kInternal : response.error().code);
      });
      HttpClient::StreamCallbacks callbacks;
      callbacks.on_end = [&](const base::Status& how) {
        EXPECT_FALSE(at_once) << request.target;
        ended.set_value(how.ok() ? base::Code::kInternal : how.error().code);
      };
      stream = caller.client->stream(request, std::move(callbacks));
      at_once = false;
    });
    EXPECT_EQ(base::await(answered), base::Code::kInvalid) << request.target;
    EXPECT_EQ(base::await(ended), base::Code::kInvalid) << request.target;
    std::promise<void> gone;
    caller.env->loop().post([&] {
      stream.reset();
      gone.set_value();
    });
    base::await(gone);
  }
  EXPECT_EQ(caller.ask("POST"), "the only one");
}

TEST(HttpClient, whether_a_connection_is_accepted) {
  std::uint16_t port = 0;
  {
    Server server({[](int connection) { EXPECT_FALSE(Server::read_request(connection)); }});
    port = server.port();
    EXPECT_TRUE(Caller(port).connects());
  }
  EXPECT_FALSE(Caller(port).connects());
  // Requests under way are forgotten when the client goes.
  Caller caller(port);
  std::promise<void> gone;
  caller.env->loop().post([&] {  // in one turn: the refusal may come between two
    caller.client->connect([](const base::Status&) { FAIL(); });
    caller.client.reset();
    gone.set_value();
  });
  base::await(gone);
}

// The length of a stream has no limit: an announced one must not be memory, and a long field must not throw.
TEST(HttpClient, what_a_server_announces_does_not_end_the_process) {
  struct Row {
    std::string answer, got;
  };
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  const Row rows[] = {
      {ok + "Content-Length: 4000000000000000000\r\n\r\nx", "x"},
      {ok + "A: " + std::string(70'000, 'a') + "\r\n\r\n", ""},
      {ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nA: " + std::string(70'000, 'a') + "\r\n\r\n", "x"}};
  for (const Row& row : rows) {
    Server server({[&row](int connection) {
      ASSERT_TRUE(Server::read_request(connection));
      ASSERT_EQ(::send(connection, row.answer.data(), row.answer.size(), MSG_NOSIGNAL),
                static_cast<ssize_t>(row.answer.size()));
    }});
    Caller caller(server.port());
    std::string got;
    std::promise<bool> ended;
    std::unique_ptr<HttpStream> stream;
    caller.env->loop().post([&] {
      HttpClient::StreamCallbacks callbacks;
      callbacks.on_data = [&got](std::string_view bytes) { got += bytes; };
      callbacks.on_end = [&ended](const base::Status& how) { ended.set_value(how.ok()); };
      stream = caller.client->stream({.method = "GET", .target = "/"}, std::move(callbacks));
    });
    EXPECT_FALSE(base::await(ended)) << row.answer.substr(0, 60);
    EXPECT_EQ(got, row.got) << row.answer.substr(0, 60);
    std::promise<void> gone;
    caller.env->loop().post([&] {
      stream.reset();
      gone.set_value();
    });
    base::await(gone);
  }
}

TEST(HttpClient, a_stream_that_outlives_the_client_keeps_nothing) {
  Server server({[&](int connection) {
    ASSERT_TRUE(Server::read_request(connection));
    Server::answer(connection, "all");
    Server::read_request(connection);
  }});
  auto kept = std::make_shared<int>();
  {
    Caller caller(server.port());
    std::unique_ptr<HttpStream> stream;
    std::promise<void> ended, gone;
    caller.env->loop().post([&, kept] {
      HttpClient::StreamCallbacks callbacks;
      callbacks.on_end = [&ended, kept](const base::Status&) { ended.set_value(); };
      stream = caller.client->stream({.method = "GET", .target = "/"}, std::move(callbacks));
    });
    base::await(ended);
    caller.env->loop().post([&] {
      caller.client.reset();
      stream.reset();
      gone.set_value();
    });
    base::await(gone);
  }
  EXPECT_EQ(kept.use_count(), 1);
}

TEST(HttpClient, a_stream_that_is_upgraded_says_bytes_both_ways) {
  Server server({[&](int connection) {
    ASSERT_TRUE(Server::read_request(connection));
    const std::string head = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nfirst ";
    ASSERT_EQ(::send(connection, head.data(), head.size(), MSG_NOSIGNAL), static_cast<ssize_t>(head.size()));
    char c = 0;
    while (::recv(connection, &c, 1, 0) == 1 && c != '.') ::send(connection, &c, 1, MSG_NOSIGNAL);
  }});
  Caller caller(server.port());
  std::unique_ptr<HttpStream> stream;
  std::string received, upgrade;
  int status = 0;
  std::promise<base::Status> ended;
  caller.env->loop().post([&] {
    HttpClient::StreamCallbacks callbacks;
    callbacks.on_start = [&](int code, const Headers& headers) {
      status = code;
      upgrade = header(headers, "Upgrade");
      EXPECT_TRUE(stream->write("hel"));
      EXPECT_TRUE(stream->write("lo."));
    };
    callbacks.on_data = [&](std::string_view bytes) { received += bytes; };
    callbacks.on_end = [&](base::Status end) { ended.set_value(std::move(end)); };
    HttpRequest request{.method = "GET", .target = "/"};
    request.upgrade = "echo";
    stream = caller.client->stream(std::move(request), std::move(callbacks));
  });
  EXPECT_TRUE(base::await(ended).ok());
  EXPECT_EQ(status, 101);
  EXPECT_EQ(upgrade, "echo");
  EXPECT_EQ(received, "first hello");
  std::promise<void> gone;
  caller.env->loop().post([&] {
    stream.reset();
    gone.set_value();
  });
  base::await(gone);
}

TEST(HttpClient, a_stream_that_the_loop_does_not_take_waits_at_the_server) {
  constexpr std::size_t kAll = std::size_t{64} << 20;
  std::atomic<std::size_t> sent{0};
  Server server({[&](int connection) {
    ASSERT_TRUE(Server::read_request(connection));
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kAll) + "\r\n\r\n";
    ASSERT_EQ(::send(connection, head.data(), head.size(), MSG_NOSIGNAL), static_cast<ssize_t>(head.size()));
    for (const std::string piece(std::size_t{1} << 16, 'x'); sent < kAll; sent += piece.size())
      if (::send(connection, piece.data(), piece.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(piece.size())) return;
  }});
  ClientOptions options;
  options.stream_bytes_max = std::size_t{1} << 20;
  Caller caller(server.port(), options);
  std::promise<void> go_on, ended;
  std::size_t got = 0;
  std::unique_ptr<HttpStream> stream;
  caller.env->loop().post([&] {
    HttpClient::StreamCallbacks callbacks;
    callbacks.on_start = [&](int, const Headers&) { base::await(go_on); };  // the loop is busy
    callbacks.on_data = [&](std::string_view bytes) { got += bytes.size(); };
    callbacks.on_end = [&](const base::Status&) { ended.set_value(); };
    stream = caller.client->stream({.method = "GET", .target = "/"}, std::move(callbacks));
  });
  // Until nothing more goes: what is on its way between both is a few megabytes.
  std::size_t before = 0;
  do {
    before = sent;
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  } while (sent != before || sent == 0);
  EXPECT_LT(sent, kAll / 2);
  go_on.set_value();
  base::await(ended);
  EXPECT_EQ(got, kAll);
  std::promise<void> gone;
  caller.env->loop().post([&] {
    stream.reset();
    gone.set_value();
  });
  base::await(gone);
}

TEST(HttpClient, a_resting_connection_that_ends_is_left) {
  std::promise<void> left;
  Server server({[&](int connection) {
                   ASSERT_TRUE(Server::read_request(connection));
                   Server::answer(connection, "first");
                   ::shutdown(connection, SHUT_WR);
                   EXPECT_FALSE(Server::read_request(connection));  // the client closes its side
                   left.set_value();
                 },
                 answer_two});
  Caller caller(server.port());
  EXPECT_EQ(caller.ask("POST"), "first");
  base::await(left);
  EXPECT_EQ(caller.ask("POST"), "second");
}

}  // namespace
}  // namespace rt
