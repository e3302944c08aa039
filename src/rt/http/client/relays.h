// Requests of one server that another one answers: headers, bodies and upgraded connections both ways, as fast as the
// slower side takes them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "base/result.h"
#include "rt/http/client/http_client.h"
#include "rt/http/http.h"
#include "rt/loop/loop.h"

namespace rt {

// Without those of one connection, and those that the client writes itself.
Headers end_to_end(const Headers& headers);

// Everything on the loop.
class Relays : public std::enable_shared_from_this<Relays> {
 public:
  struct Ways {
    // Begins the answer: by start() or start_web_socket(), or, where the server goes on with another protocol (101), by
    // go_on().
    std::function<void(std::uint64_t id, HttpExchange& to, int status, const Headers& headers)> begin;
    // No answer has begun: answers whole, in its place.
    std::function<void(HttpExchange& to, const base::Error& why)> failed;
    // The relay has ended; at most once, and not after end().
    std::function<void()> ended = {};
  };

  explicit Relays(Loop& loop) : loop_(loop) {}

  // `client` outlives the relay; `ended` is the time to let it go.
  void run(HttpClient& client, HttpRequest request, std::shared_ptr<HttpExchange> exchange, Ways ways);
  // From `begin`: what the peer of `exchange` sends goes to the server, piece by piece.
  void go_on(std::uint64_t id, HttpExchange& to, const Headers& headers);
  // Ends all.
  void end() { relays_.clear(); }

 private:
  struct Relay {
    std::shared_ptr<HttpExchange> exchange;
    Ways ways;
    bool begun = false, held = false;
    std::unique_ptr<HttpStream> stream;
  };

  Relay* find(std::uint64_t id);
  void receive(std::uint64_t id, std::string_view bytes);
  void receive_end(std::uint64_t id, const base::Status& how);
  void end_later(std::uint64_t id);

  Loop& loop_;
  std::map<std::uint64_t, Relay> relays_;
  std::uint64_t last_ = 0;
};

}  // namespace rt
