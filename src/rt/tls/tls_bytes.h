// The client's side of TLS over bytes that go by another way than a socket of ours.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rt {

// Any thread. The server's certificate is not judged: this keeps what is said from others on the way, and does not say
// who hears it.
class TlsBytes {
 public:
  // Takes bytes for the server, in order, one call at a time; it calls nothing of the session. False: enough for now.
  using ToServer = std::function<bool(std::string sealed)>;

  explicit TlsBytes(ToServer to_server);
  ~TlsBytes();
  TlsBytes(const TlsBytes&) = delete;
  TlsBytes& operator=(const TlsBytes&) = delete;

  // To the server, once the handshake is over. False: it has enough for now.
  bool send(std::string_view plain);
  // Takes bytes of the server; gives what it says. kUnavailable: it does not speak TLS, or ends the handshake.
  base::Result<std::string> receive(std::string_view sealed);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rt
