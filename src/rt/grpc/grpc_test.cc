// gRPC between our own two sides, and against peers that break the rules.
#include "rt/grpc/grpc.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <future>
#include <thread>

#include "base/await_for_tests.h"
#include "rt/env.h"

namespace rt {
namespace {

struct Ended {
  GrpcStatus status;
  std::vector<std::string> messages;
};

class Grpc : public ::testing::Test {
 protected:
  ~Grpc() override { env->stop(); }

  GrpcTarget socket(const std::string& name) const { return {.unix_path = folder + "/" + name}; }
  std::unique_ptr<GrpcServer> serve(const GrpcTarget& target, GrpcServer::Handler handler) {
    auto server = start_grpc_server(io, target, std::move(handler));
    EXPECT_TRUE(server.ok()) << (server.ok() ? "" : server.error().message);
    return std::move(*server);
  }
  Ended call(const GrpcTarget& target, const std::string& method, std::string request, GrpcCallOptions options = {}) {
    std::promise<Ended> promise;
    Ended ended;
    std::unique_ptr<GrpcCall> running;
    std::promise<void> begun;
    env->loop().post([&] {
      running =
          begin_grpc_call(io, env->loop(), target, method, std::move(request), options,
                          {.on_message = [&](std::string message) { ended.messages.push_back(std::move(message)); },
                           .on_end =
                               [&](GrpcStatus status) {
                                 ended.status = std::move(status);
                                 promise.set_value(ended);
                               }});
      begun.set_value();
    });
    base::await(begun);
    return base::await(promise);
  }
  // A peer that says these bytes to whoever connects.
  Ended call_liar(std::string bytes) {
    const GrpcTarget target = socket("liar");
    ::unlink(target.unix_path.c_str());
    const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    target.unix_path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener, 1), 0);
    std::thread peer([&] {
      const int peer_socket = ::accept(listener, nullptr, nullptr);
      (void)!::write(peer_socket, bytes.data(), bytes.size());
      ::shutdown(peer_socket, SHUT_WR);
      char ignored[4096];
      while (::read(peer_socket, ignored, sizeof ignored) > 0) {
      }
      ::close(peer_socket);
    });
    Ended ended = call(target, "/a/b", "x", {.timeout = base::seconds(10)});
    peer.join();
    ::close(listener);
    return ended;
  }

  std::string folder = [] {
    char path[] = "/tmp/grpc-test-XXXXXX";
    return std::string(::mkdtemp(path));
  }();
  std::unique_ptr<RealEnv> env = make_real_env("grpc-test");
  GrpcIo io;
};

void echo(const std::string& method, const std::string& request, const std::shared_ptr<GrpcAnswer>& answer) {
  if (method == "/test/Echo") {
    answer->send(request);
    return answer->finish({});
  }
  if (method == "/test/Count") {
    for (int i = 0; i < 100; ++i) answer->send(request + std::to_string(i));
    return answer->finish({});
  }
  if (method == "/test/Fail") return answer->finish({GrpcCode::kFailedPrecondition, "50% of it:\nno"});
  if (method == "/test/Silent") return;
  answer->finish({GrpcCode::kUnimplemented, "unknown method " + method});
}

TEST_F(Grpc, answers_calls_over_sockets_of_both_kinds) {
  const auto server = serve(socket("echo"), echo);
  const std::string large(3 << 20, 'x');
  for (const std::string& text : {std::string(), std::string("hello"), large}) {
    const Ended ended = call(socket("echo"), "/test/Echo", text);
    EXPECT_TRUE(ended.status.ok()) << ended.status.message;
    ASSERT_EQ(ended.messages.size(), 1u);
    EXPECT_EQ(ended.messages[0], text);
  }
  const auto tcp = serve({.address = "127.0.0.1"}, echo);
  EXPECT_EQ(call({.address = "127.0.0.1", .port = tcp->port()}, "/test/Echo", "hi").messages,
            std::vector<std::string>{"hi"});
}

TEST_F(Grpc, streams_answers_in_order) {
  const auto server = serve(socket("count"), echo);
  const Ended ended = call(socket("count"), "/test/Count", "n");
  EXPECT_TRUE(ended.status.ok());
  ASSERT_EQ(ended.messages.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ended.messages[static_cast<std::size_t>(i)], "n" + std::to_string(i));
}

TEST_F(Grpc, a_server_that_sends_without_end_is_read_a_piece_at_a_time) {
  const auto server = serve(socket("flood"), echo);
  const std::string large(10'000, 'x');
  const auto began = std::chrono::steady_clock::now();
  Ended ended = call(socket("flood"), "/test/Count", large, {.pause = base::milliseconds(10)});
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(500)) << "a megabyte in 62 pieces";
  EXPECT_TRUE(ended.status.ok()) << ended.status.message;
  ASSERT_EQ(ended.messages.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ended.messages[static_cast<std::size_t>(i)], large + std::to_string(i));
  ended = call(socket("flood"), "/test/Count", "n", {.pause = base::milliseconds(10), .newest_only = true});
  EXPECT_TRUE(ended.status.ok()) << ended.status.message;
  ASSERT_FALSE(ended.messages.empty());
  EXPECT_EQ(ended.messages.back(), "n99");
  EXPECT_LT(ended.messages.size(), 50u);
}

TEST_F(Grpc, clients_that_hold_connections_and_say_nothing_keep_nobody_out) {
  const auto server = serve(socket("held"), echo);
  std::vector<int> held;
  sockaddr_un address{.sun_family = AF_UNIX};
  socket("held").unix_path.copy(address.sun_path, sizeof address.sun_path - 1);
  for (int i = 0; i < 100; ++i) {
    held.push_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::connect(held.back(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  const Ended ended = call(socket("held"), "/test/Echo", "hello", {.timeout = base::seconds(10)});
  EXPECT_TRUE(ended.status.ok()) << ended.status.message;
  for (const int one : held) ::close(one);
}

TEST_F(Grpc, tells_how_calls_fail) {
  const auto server = serve(socket("fail"), echo);
  Ended ended = call(socket("fail"), "/test/Fail", "");
  EXPECT_EQ(ended.status.code, GrpcCode::kFailedPrecondition);
  EXPECT_EQ(ended.status.message, "50% of it:\nno");
  ended = call(socket("fail"), "/test/Nothing", "");
  EXPECT_EQ(ended.status.code, GrpcCode::kUnimplemented);
  ended = call(socket("fail"), "/test/Silent", "", {.timeout = base::milliseconds(100)});
  EXPECT_EQ(ended.status.code, GrpcCode::kDeadlineExceeded);
  ended = call(socket("fail"), "/test/Count", std::string(100, 'x'), {.message_bytes_max = 50});
  EXPECT_EQ(ended.status.code, GrpcCode::kResourceExhausted);
  EXPECT_EQ(ended.status.message, "the server sends a message of 101 bytes, 50 at most");
  ended = call(socket("fail"), "/test/Count", "n", {.messages_max = 1});
  EXPECT_EQ(ended.status.code, GrpcCode::kInternal);
  EXPECT_EQ(ended.status.message, "the server sends more than 1 message");
  EXPECT_EQ(ended.messages, std::vector<std::string>{"n0"});
  ended = call(socket("nobody"), "/test/Echo", "");
  EXPECT_EQ(ended.status.code, GrpcCode::kUnavailable);
  EXPECT_EQ(call({.unix_path = std::string(200, 'x')}, "/a/b", "").status.code, GrpcCode::kInvalidArgument);
  EXPECT_EQ(call({.address = "localhost", .port = 1}, "/a/b", "").status.message, "\"localhost\" is not an IP address");
}

TEST_F(Grpc, outlives_servers_that_break_the_rules) {
  EXPECT_EQ(call_liar("").status.code, GrpcCode::kUnavailable);
  EXPECT_EQ(call_liar("HTTP/1.1 400 Bad Request\r\n\r\n").status.code, GrpcCode::kUnavailable);
  const std::string settings("\0\0\0\4\0\0\0\0\0", 9);
  EXPECT_EQ(call_liar(settings).status.code, GrpcCode::kUnavailable);
  // The answer ends with its head: ":status: 200", END_STREAM.
  EXPECT_EQ(call_liar(settings + std::string("\0\0\1\1\5\0\0\0\1\x88", 10)).status.message,
            "server closed the stream without sending trailers");
}

TEST_F(Grpc, a_server_that_ends_ends_its_calls) {
  auto server = serve(socket("end"), echo);
  std::promise<void> called;
  std::unique_ptr<GrpcServer> other = serve(socket("other"), [&](const std::string&, const std::string&,
                                                                 std::shared_ptr<GrpcAnswer>) { called.set_value(); });
  std::thread ender([&] {
    base::await(called);
    other.reset();
  });
  EXPECT_EQ(call(socket("other"), "/a/b", "").status.code, GrpcCode::kUnavailable);
  ender.join();
  EXPECT_NE(::access(socket("other").unix_path.c_str(), F_OK), 0) << "its socket is gone";
  EXPECT_EQ(::access(socket("end").unix_path.c_str(), F_OK), 0);
}

}  // namespace
}  // namespace rt
