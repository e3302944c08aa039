// The option that makes a socket's end a reset.
#include "rt/http/reset_at_close.h"

#include <sys/socket.h>

#include <charconv>
#include <filesystem>
#include <string>

namespace rt {

void reset_connections_at_close() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  std::error_code ignored;  // without /proc sockets end in good order, as they otherwise do
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
    const std::string name = entry.path().filename().string();
    int file = -1;
    std::from_chars(name.data(), name.data() + name.size(), file);
    // Refused for what is not a socket.
    if (file >= 0) ::setsockopt(file, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }
}

}  // namespace rt
