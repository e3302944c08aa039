// A client of a server on loopback that says and hears what a test wants.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace rt {

class Peer {
 public:
  explicit Peer(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  }
  ~Peer() { ::close(socket_); }

  Peer& write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) break;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return *this;
  }
  // Reads until `end` has come, or the server has closed.
  std::string read_until(std::string_view end) {
    std::string received;
    char part[65536];
    for (ssize_t size; end.empty() || !received.ends_with(end);) {
      if ((size = ::recv(socket_, part, sizeof part, 0)) <= 0) break;
      received.append(part, static_cast<std::size_t>(size));
    }
    return received;
  }
  std::string read_all() { return read_until({}); }
  // Some of the bytes that have come.
  std::string read_some() {
    std::string received(65536, 0);
    received.resize(
        static_cast<std::size_t>(std::max<ssize_t>(0, ::recv(socket_, received.data(), received.size(), 0))));
    return received;
  }

 private:
  int socket_;
};

}  // namespace rt
