// The servers whose answers reach pods when their questions are passed on. On loopback addresses of the test's own;
// needs port 53.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "node/os/network/dns.h"

namespace node {
namespace {

constexpr const char* kServer = "127.77.0.1";
constexpr const char* kUpstream = "127.77.0.2";

struct Socket {
  int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  bool is_bound = false;
  Socket(const char* address, std::uint16_t port) {
    const sockaddr_in at = place(address, port);
    is_bound = ::bind(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
    const timeval patience{10, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  ~Socket() { ::close(fd); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  static sockaddr_in place(const char* address, std::uint16_t port) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    ::inet_pton(AF_INET, address, &at.sin_addr);
    return at;
  }
  void send(const sockaddr_in& to, const std::string& text) const {
    ::sendto(fd, text.data(), text.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
  }
  std::string receive(sockaddr_in& from) const {
    char buffer[2048];
    socklen_t length = sizeof from;
    const ssize_t got = ::recvfrom(fd, buffer, sizeof buffer, 0, reinterpret_cast<sockaddr*>(&from), &length);
    return got < 0 ? std::string() : std::string(buffer, static_cast<std::size_t>(got));
  }
};

std::string query_for(std::string_view name) {
  std::string query("\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00", 12);
  query += static_cast<char>(name.size());
  query += name;
  return query + std::string("\x03org\x00\x00\x01\x00\x01", 9);
}

// The answer to `query` that says who it is from.
std::string answered(std::string query, const char* who) {
  query[2] = static_cast<char>(0x81);
  query[3] = static_cast<char>(0x80);
  return query + who;
}

TEST(NameServer, nobody_answers_for_its_upstream) {
  const Socket upstream(kUpstream, 53);
  if (!upstream.is_bound) GTEST_SKIP() << "port 53 takes rights that this test has not";
  const auto server = start_name_server(kServer, std::string("nameserver ") + kUpstream + "\n");
  ASSERT_TRUE(server.ok()) << server.error().message;
  const Socket pod("127.77.0.3", 0), stranger("127.77.0.4", 0);
  sockaddr_in from{};
  std::string ids;
  for (int i = 0; i < 4; ++i) {
    pod.send(Socket::place(kServer, 53), query_for("example"));
    const std::string passed_on = upstream.receive(from);
    ASSERT_GT(passed_on.size(), 12u);
    ids += passed_on.substr(0, 2);
    stranger.send(from, answered(passed_on, "stranger"));
    upstream.send(from, answered(passed_on.substr(0, 2) + query_for("another").substr(2), "of another question"));
    upstream.send(from, answered(passed_on, "upstream"));
    sockaddr_in server_at{};
    const std::string got = pod.receive(server_at);
    EXPECT_TRUE(got.ends_with("upstream")) << got;
    EXPECT_EQ(got.substr(0, 2), "\x12\x34");
  }
  EXPECT_NE(ids.substr(0, 2), ids.substr(2, 2));
}

// A resolver that hears nothing waits ten seconds for each name that it tries.
TEST(NameServer, an_upstream_that_is_not_there_is_said_at_once_and_the_next_one_is_asked) {
  constexpr const char* kSecond = "127.77.0.5";
  const Socket second(kSecond, 53), pod("127.77.0.3", 0);
  if (!second.is_bound) GTEST_SKIP() << "port 53 takes rights that this test has not";
  const auto server =
      start_name_server(kServer, std::string("nameserver ") + kUpstream + "\nnameserver " + kSecond + "\n");
  ASSERT_TRUE(server.ok()) << server.error().message;
  sockaddr_in from{};
  pod.send(Socket::place(kServer, 53), query_for("example"));
  const std::string refused = pod.receive(from);
  ASSERT_GT(refused.size(), 12u);
  EXPECT_EQ(refused.substr(0, 2), "\x12\x34");
  EXPECT_EQ(refused[3] & 15, 2);  // SERVFAIL
  pod.send(Socket::place(kServer, 53), query_for("example"));
  const std::string passed_on = second.receive(from);
  ASSERT_GT(passed_on.size(), 12u);
  second.send(from, answered(passed_on, "second"));
  EXPECT_TRUE(pod.receive(from).ends_with("second"));
}

TEST(NameServer, a_machine_without_threads_is_an_error) {
  if (!Socket(kServer, 53).is_bound) GTEST_SKIP() << "port 53 takes rights that this test has not";
  pthread_attr_t usual, endless;
  ASSERT_EQ(::pthread_getattr_default_np(&usual), 0);
  ASSERT_EQ(::pthread_attr_init(&endless), 0);
  // More than there are addresses.
  ASSERT_EQ(::pthread_attr_setstacksize(&endless, std::size_t{1} << 50), 0);
  ASSERT_EQ(::pthread_setattr_default_np(&endless), 0);
  const auto server = start_name_server(kServer, "");
  ::pthread_setattr_default_np(&usual);
  ASSERT_FALSE(server.ok());
  EXPECT_TRUE(server.error().message.starts_with("cannot answer names at 127.77.0.1:53: no thread: "))
      << server.error().message;
  EXPECT_TRUE(Socket(kServer, 53).is_bound) << "nothing is left of it";
}

}  // namespace
}  // namespace node
