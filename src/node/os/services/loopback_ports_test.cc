// Connections to the loopback, handed on to a server that listens on another address of the machine.
#include "node/os/services/loopback_ports.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "rt/files/rooted_files.h"

namespace node {
namespace {

sockaddr_in place_of(const char* ip, std::uint16_t port) {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(port);
  ::inet_pton(AF_INET, ip, &place.sin_addr);
  return place;
}
// On 127.0.0.2, as a pod behind a node port; the port is a free one.
rt::Descriptor listen(std::uint16_t& port) {
  rt::Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in place = place_of("127.0.0.2", 0);
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&place), sizeof place), 0);
  EXPECT_EQ(::listen(socket.get(), 4), 0);
  socklen_t size = sizeof place;
  EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&place), &size), 0);
  port = ntohs(place.sin_port);
  return socket;
}
rt::Descriptor connect(std::uint16_t port) {
  rt::Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in place = place_of("127.0.0.1", port);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0) return {};
  return socket;
}
// set() is followed by another thread.
rt::Descriptor connect_when(bool open, std::uint16_t port) {
  for (int tried = 0; tried < 1000; ++tried) {
    rt::Descriptor socket = connect(port);
    if (socket.is_open() == open) return socket;
    ::usleep(5000);
  }
  ADD_FAILURE() << "port " << port << " does not become " << (open ? "open" : "closed");
  return {};
}
std::string read_all(int fd) {
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::recv(fd, buffer, sizeof buffer, 0)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  return text;
}
void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    ASSERT_GT(put, 0);
    text.remove_prefix(static_cast<std::size_t>(put));
  }
}

TEST(LoopbackPorts, BytesGoBothWaysAndSoDoTheirEnds) {
  std::uint16_t port = 0;
  const rt::Descriptor server = listen(port);
  LoopbackPorts ports("127.0.0.2");
  ports.set({port});
  const rt::Descriptor client = connect_when(true, port);
  const rt::Descriptor served(::accept4(server.get(), nullptr, nullptr, SOCK_CLOEXEC));
  const std::string text(40'000, 'x');
  write_all(client.get(), text);
  ASSERT_EQ(::shutdown(client.get(), SHUT_WR), 0);
  EXPECT_EQ(read_all(served.get()), text);
  write_all(served.get(), "answer");
  ASSERT_EQ(::shutdown(served.get(), SHUT_WR), 0);
  EXPECT_EQ(read_all(client.get()), "answer");
}

TEST(LoopbackPorts, AReaderThatComesLateGetsTheRest) {
  std::uint16_t port = 0;
  const rt::Descriptor server = listen(port);
  LoopbackPorts ports("127.0.0.2");
  ports.set({port});
  const rt::Descriptor client = connect_when(true, port);
  ASSERT_EQ(::shutdown(client.get(), SHUT_WR), 0);
  rt::Descriptor served(::accept4(server.get(), nullptr, nullptr, SOCK_CLOEXEC));
  EXPECT_EQ(read_all(served.get()), "");
  // The server has gone for good while its answer waits at each step of the way.
  const int small = 1;
  ::setsockopt(client.get(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
  const std::string text(200'000, 'x');
  write_all(served.get(), text);
  served = {};
  // Another connection is served meanwhile.
  const rt::Descriptor other = connect(port);
  const rt::Descriptor other_served(::accept4(server.get(), nullptr, nullptr, SOCK_CLOEXEC));
  write_all(other_served.get(), "answer");
  ASSERT_EQ(::shutdown(other_served.get(), SHUT_WR), 0);
  EXPECT_EQ(read_all(other.get()), "answer");
  EXPECT_EQ(read_all(client.get()), text);
}

TEST(LoopbackPorts, SilentConnectionsKeepNobodyOut) {
  std::uint16_t port = 0;
  const rt::Descriptor server = listen(port);
  LoopbackPorts ports("127.0.0.2");
  ports.set({port});
  (void)connect_when(true, port);
  std::vector<rt::Descriptor> silent, served;
  served.emplace_back(::accept4(server.get(), nullptr, nullptr, SOCK_CLOEXEC));
  for (int i = 0; i < 1100; ++i) {
    silent.push_back(connect(port));
    served.emplace_back(::accept4(server.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!silent.back().is_open() || !served.back().is_open()) GTEST_SKIP() << "this process may open few files";
  }
  write_all(served.back().get(), "answer");
  ASSERT_EQ(::shutdown(served.back().get(), SHUT_WR), 0);
  EXPECT_EQ(read_all(silent.back().get()), "answer");
}

TEST(LoopbackPorts, APortThatNobodyServesOrWantsIsClosed) {
  std::uint16_t port = 0;
  rt::Descriptor server = listen(port);
  LoopbackPorts ports("127.0.0.2");
  ports.set({port});
  (void)connect_when(true, port);
  server = {};
  const rt::Descriptor client = connect(port);
  ASSERT_TRUE(client.is_open());
  EXPECT_EQ(read_all(client.get()), "") << "nobody is behind it";
  ports.set({});
  (void)connect_when(false, port);
}

}  // namespace
}  // namespace node
