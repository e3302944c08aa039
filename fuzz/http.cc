// HTTP requests: as parsed ones into routing and decoding of bodies; and as raw bytes into a real server on loopback.
#include "rt/http/http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <string>

#include "apiserver/http/route.h"
#include "rt/http/server/http_server.h"
#include "targets.h"

namespace fuzz {

namespace {

// Up to `end`, which is taken off too.
std::string_view take(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  const std::string_view word = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return word;
}

// One server for the whole run: it must survive everything.
std::uint16_t server_port() {
  static const auto server = rt::listen_http(
      {.body_bytes_max = 4096, .header_bytes_max = 2048},
      [](rt::HttpRequest request, std::shared_ptr<rt::HttpExchange> exchange) {
        if (request.target.starts_with("/stream")) {
          exchange->start(200, {});
          exchange->send_one(std::make_shared<const std::string>(request.body.empty() ? "chunk" : request.body));
          return exchange->finish();
        }
        rt::HttpResponse response;
        response.body = request.method + " " + request.target + " " + request.body;
        exchange->respond(std::move(response));
      });
  promise(server.ok(), "the server listens");
  return (*server)->port();
}

// Sends bytes, ends its side, and reads until the server ends too or says nothing for a while.
std::string exchange_bytes(std::string_view bytes) {
  const int socket_fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(server_port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const timeval patience{2, 0};
  ::setsockopt(socket_fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  std::string answer;
  if (::connect(socket_fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) break;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    ::shutdown(socket_fd, SHUT_WR);
    char buffer[4096];
    for (ssize_t got; (got = ::recv(socket_fd, buffer, sizeof buffer, 0)) > 0;)
      answer.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(socket_fd);
  return answer;
}

}  // namespace

void route(std::string_view input) {
  rt::HttpRequest request;
  request.method = take(input, ' ');
  request.target = take(input, '\n');
  for (std::string_view line; !(line = take(input, '\n')).empty();) {
    const std::string_view name = take(line, ':');
    request.headers.emplace_back(name, line);
  }
  request.body = input;
  const rt::Target target = rt::parse_target(request.target);
  auto routed = apiserver::route(request, target);
  if (routed.ok() && *routed) (void)apiserver::decode_body(request, **routed);
  const std::string encoded = rt::percent_encode(target.path);
  promise(rt::parse_target("/?x=" + encoded).get("x") == target.path, "what was encoded decodes to the same", encoded);
}

void http(std::string_view input) {
  const std::string answer = exchange_bytes(input);
  promise(answer.empty() || answer.starts_with("HTTP/1.1 "), "a server answers in HTTP", answer);
  const std::string sound = exchange_bytes("GET /sound HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  promise(sound.starts_with("HTTP/1.1 200 ") && sound.ends_with("GET /sound "), "a server goes on serving", sound);
}

}  // namespace fuzz
