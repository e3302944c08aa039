// Connections that are reset at their end, and what was left in them.
#include "rt/http/reset_at_close.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace rt {
namespace {

// Two ends of a connection of this machine.
struct Connection {
  int near = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int far = -1;

  Connection() {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    auto* address = reinterpret_cast<sockaddr*>(&at);
    EXPECT_EQ(::bind(listener, address, size), 0);
    EXPECT_EQ(::listen(listener, 1), 0);
    EXPECT_EQ(::getsockname(listener, address, &size), 0);
    EXPECT_EQ(::connect(near, address, size), 0);
    far = ::accept(listener, nullptr, nullptr);
    ::close(listener);
  }
  ~Connection() { ::close(far); }
  // The near end's end, as the far end sees it: 0 is the end in good order.
  int end() {
    ::close(near);
    std::array<char, 1> byte{};
    return ::recv(far, byte.data(), byte.size(), 0) == 0 ? 0 : errno;
  }
};

TEST(ResetAtClose, connections_that_are_open_are_reset_and_later_ones_end_in_good_order) {
  Connection before, other;
  EXPECT_EQ(other.end(), 0);
  reset_connections_at_close();
  EXPECT_EQ(before.end(), ECONNRESET);
  Connection after;
  EXPECT_EQ(after.end(), 0);
}

}  // namespace
}  // namespace rt
