// Sockets of this machine for tests: one that listens, and one whose bytes go on to a server.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

namespace rt::testing {

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(port);
  return at;
}

// A socket that listens at a free port, which `port` becomes. The caller closes it.
inline int listen_on_loopback(std::uint16_t& port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at = loopback(0);
  socklen_t size = sizeof at;
  EXPECT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&at), size), 0);
  EXPECT_EQ(::listen(listener, 4), 0);
  EXPECT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size), 0);
  port = ntohs(at.sin_port);
  return listener;
}

// Passes bytes on, both ways, until either end has gone.
inline void pass_on(int client, std::uint16_t server_port) {
  const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in at = loopback(server_port);
  EXPECT_EQ(::connect(server, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  pollfd ends[] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
  for (bool goes_on = true; goes_on && ::poll(ends, 2, -1) > 0;)
    for (int i = 0; i < 2 && goes_on; ++i) {
      if (ends[i].revents == 0) continue;
      char buffer[4096];
      const ssize_t got = ::recv(ends[i].fd, buffer, sizeof buffer, 0);
      goes_on = got > 0 && ::send(ends[1 - i].fd, buffer, static_cast<std::size_t>(got), MSG_NOSIGNAL) == got;
    }
  ::close(server);
}

}  // namespace rt::testing
