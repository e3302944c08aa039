// Reads what a container wrote, from an API server elsewhere.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"

namespace rt {
class HttpStream;
}

namespace client {

class ServerConnection;

struct LogRequest {
  std::string ns;
  std::string pod;
  std::string container = {};  // empty: the only one
  bool follow = false;         // goes on until the container ends
  std::optional<std::int64_t> tail_lines = {};
};

// The stream ends when what is returned is destroyed; no callback follows. Callbacks come on the connection's loop;
// `on_end` comes once, with the server's refusal if it refused.
std::unique_ptr<rt::HttpStream> read_log(ServerConnection& connection, const LogRequest& request,
                                         std::function<void(std::string_view bytes)> on_data,
                                         std::function<void(base::Status)> on_end);

}  // namespace client
