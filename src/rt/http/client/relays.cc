// One stream of the client for each request; a peer that goes away ends it, and one that reads slowly holds it.
#include "rt/http/client/relays.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace rt {
namespace {

constexpr std::size_t kHeldFrom = std::size_t{1} << 20;  // bytes that the peer has not taken
// A stream that cannot be held, as over HTTP/2, is given up.
constexpr std::size_t kBacklogMax = std::size_t{64} << 20;

}  // namespace

Headers end_to_end(const Headers& headers) {
  std::vector<std::string_view> held = {"Connection",     "Proxy-Connection",  "Keep-Alive", "TE",
                                        "Trailer",        "Upgrade",           "Host",       "User-Agent",
                                        "Content-Length", "Transfer-Encoding", "Expect"};
  for (const std::string_view one : header_list(headers, "Connection")) held.push_back(one);
  Headers out;
  for (const auto& [name, value] : headers)
    if (std::ranges::none_of(held, [&name = name](std::string_view one) { return same_header(name, one); }))
      out.emplace_back(name, value);
  return out;
}

void Relays::run(HttpClient& client, HttpRequest request, std::shared_ptr<HttpExchange> exchange, Ways ways) {
  const std::uint64_t id = ++last_;
  exchange->on_closed([weak = weak_from_this(), id] {
    if (const auto self = weak.lock()) self->end_later(id);
  });
  HttpClient::StreamCallbacks callbacks;
  callbacks.on_start = [this, id](int status, const Headers& headers) {
    Relay* relay = find(id);
    if (relay == nullptr) return;
    relay->begun = true;
    relay->ways.begin(id, *relay->exchange, status, headers);
  };
  callbacks.on_data = [this, id](std::string_view bytes) { receive(id, bytes); };
  callbacks.on_end = [this, id](const base::Status& how) { receive_end(id, how); };
  callbacks.on_room = [this, id] {
    if (const Relay* relay = find(id)) relay->exchange->resume_reading();
  };
  relays_[id] = {.exchange = std::move(exchange), .ways = std::move(ways), .stream = nullptr};
  relays_[id].stream = client.stream(std::move(request), std::move(callbacks));
}

void Relays::go_on(std::uint64_t id, HttpExchange& to, const Headers& headers) {
  Headers out = end_to_end(headers);
  out.emplace_back("Upgrade", header(headers, "Upgrade"));
  // The next piece waits until the server has taken the last one.
  to.start_upgraded(std::move(out), [weak = weak_from_this(), &loop = loop_, id](std::string bytes) {
    loop.post([weak, id, bytes = std::move(bytes)]() mutable {
      const auto self = weak.lock();
      Relay* relay = self ? self->find(id) : nullptr;
      if (relay != nullptr && relay->stream->write(std::move(bytes))) relay->exchange->resume_reading();
    });
    return false;
  });
}

Relays::Relay* Relays::find(std::uint64_t id) {
  const auto found = relays_.find(id);
  return found == relays_.end() ? nullptr : &found->second;
}

void Relays::receive(std::uint64_t id, std::string_view bytes) {
  Relay* relay = find(id);
  if (relay == nullptr) return;
  if (relay->exchange->backlog_bytes() > kBacklogMax) {
    relay->exchange->abandon();
    return end_later(id);
  }
  relay->exchange->send_one(std::make_shared<const std::string>(bytes));
  if (relay->held || relay->exchange->backlog_bytes() <= kHeldFrom) return;
  relay->held = true;
  relay->stream->hold(true);
  relay->exchange->on_drained([weak = weak_from_this(), &loop = loop_, id] {
    loop.post([weak, id] {
      const auto self = weak.lock();
      Relay* drained = self ? self->find(id) : nullptr;
      if (drained == nullptr) return;
      drained->held = false;
      drained->stream->hold(false);
    });
  });
}

void Relays::receive_end(std::uint64_t id, const base::Status& how) {
  const Relay* relay = find(id);
  if (relay == nullptr) return;
  if (!relay->begun && !how.ok())
    relay->ways.failed(*relay->exchange, how.error());
  else if (!relay->begun || !how.ok())
    relay->exchange->abandon();
  else
    relay->exchange->finish();
  end_later(id);
}

// A stream must not be destroyed by its own callback.
void Relays::end_later(std::uint64_t id) {
  loop_.post([weak = weak_from_this(), id] {
    const auto self = weak.lock();
    if (!self) return;
    auto node = self->relays_.extract(id);
    if (node.empty()) return;
    node.mapped().stream.reset();
    if (node.mapped().ways.ended) node.mapped().ways.ended();
  });
}

}  // namespace rt
