// HTTP connections as sequences: several requests, written in parts, ahead of their answers, with reads in between,
// with ends in the middle, as WebSockets; against a real server on loopback with small limits.
//
// The input is cut at newlines written as "\x1e"; each part is one step: "<" reads what is there, "|" ends our side,
// "+" begins another connection beside, "~" resets it, and everything else is sent as it is.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "rt/http/server/http_server.h"
#include "targets.h"

namespace fuzz {

namespace {

using Bytes = std::shared_ptr<const std::string>;

void answer(const rt::HttpRequest& request, const std::shared_ptr<rt::HttpExchange>& exchange) {
  const auto text = [](std::string_view what) { return std::make_shared<const std::string>(what); };
  const bool stream = request.target.starts_with("/stream");
  if (request.web_socket || stream) {
    if (request.web_socket)
      exchange->start_web_socket({{"Sec-WebSocket-Protocol", "v1"}}, rt::HttpExchange::Messages::kText);
    else
      exchange->start(200, {});
    exchange->send({text("one "), text("and "), text("two")});
    exchange->send_one(text(std::string(5000, 'x')));
    if (request.target.ends_with("/on")) {
      exchange->on_drained([exchange] { exchange->finish(); });
    } else {
      exchange->finish();
    }
    return;
  }
  const std::size_t size = request.target == "/big" ? 300'000 : 10;
  exchange->respond({200, {}, std::string(size, 'b')});
}

std::uint16_t server_port() {
  static const auto server = rt::listen_http({.body_bytes_max = 4096,
                                              .header_bytes_max = 2048,
                                              .connections_max = 12,
                                              .request_bytes_max = std::size_t{128} << 10,
                                              .answer_bytes_max = std::size_t{1} << 20},
                                             answer);
  promise(server.ok(), "the server listens");
  return (*server)->port();
}

class Peer {
 public:
  Peer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(server_port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{2, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    promise(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0, "the server accepts");
  }
  ~Peer() { ::close(socket_); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  void read_some(int flags) {
    char buffer[4096];
    const ssize_t got = ::recv(socket_, buffer, sizeof buffer, flags);
    open_ = got > 0 || (flags == MSG_DONTWAIT && got < 0);
    if (got > 0 && received_.size() < 65536) received_.append(buffer, static_cast<std::size_t>(got));
  }
  void end() { ::shutdown(socket_, SHUT_WR); }
  void reset() {
    const linger at_once{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }
  std::string read_all() {
    end();
    while (open_) read_some(0);
    return received_;
  }
  const std::string& received() const { return received_; }

 private:
  int socket_;
  bool open_ = true;
  std::string received_;
};

}  // namespace

void connection(std::string_view input) {
  std::vector<std::unique_ptr<Peer>> peers;
  peers.push_back(std::make_unique<Peer>());
  for (int steps = 0; !input.empty() && steps < 40; ++steps) {
    const std::string_view step = input.substr(0, input.find('\x1e'));
    input.remove_prefix(std::min(input.size(), step.size() + 1));
    if (step == "+" && peers.size() < 4)
      peers.push_back(std::make_unique<Peer>());
    else if (step == "<")
      peers.back()->read_some(MSG_DONTWAIT);
    else if (step == "|")
      peers.back()->end();
    else if (step == "~" && peers.size() > 1) {
      peers.back()->reset();
      peers.pop_back();
    } else {
      peers.back()->write(step);
    }
  }
  for (const auto& peer : peers)
    promise(peer->received().empty() || peer->received().starts_with("HTTP/1.1 "), "a server answers in HTTP",
            peer->received());
  peers.clear();
  // Connections that were just left may still be counted.
  for (int tries = 0;; ++tries) {
    Peer sound;
    sound.write("GET /sound HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    const std::string received = sound.read_all();
    if (received.starts_with("HTTP/1.1 200 ") && received.ends_with("bbbbbbbbbb")) return;
    promise(received.starts_with("HTTP/1.1 503 ") && tries < 1000, "a server goes on serving", received);
  }
}

}  // namespace fuzz
