// Bytes of a client over HTTP/2, into the server's session: each request ends once, what is held is given back, and
// nothing of a session grows without limit.
#include <map>
#include <string>

#include "rt/http/server/http2_server_session.h"
#include "targets.h"

namespace fuzz {

void http2_server(std::string_view input) {
  using Session = rt::Http2ServerSession;
  constexpr Session::Limits kLimits{.header_bytes_max = 2000, .body_bytes_max = 2000};
  std::int64_t held = 0;
  std::map<Session::StreamId, int> asked;  // and the ends of each
  std::size_t sent_bytes = 0, taken = 0;
  Session* running = nullptr;
  {
    Session session(kLimits,
                    {.refusal_of_head = [](const rt::HttpRequest& head, bool) -> std::optional<rt::HttpResponse> {
                       if (head.target == "/no") return rt::HttpResponse{403, {}, "no"};
                       return std::nullopt;
                     },
                     .refused =
                         [](const rt::HttpRefusal& refusal) {
                           return rt::HttpResponse{refusal.status, {}, refusal.message};
                         },
                     .hold = [&](std::int64_t bytes) { return (held += bytes) <= 100'000; },
                     .on_request =
                         [&](Session::StreamId id, const rt::HttpRequest& request) {
                           promise(asked.emplace(id, 0).second, "a stream carries one request");
                           promise(request.body.size() <= kLimits.body_bytes_max, "bodies have a limit");
                           promise(!request.target.empty(), "a request has a target");
                           const auto text = std::make_shared<const std::string>(request.body + "!");
                           running->start(id, 200, {{"Content-Type", "text/plain"}}, text->size());
                           if (running->send(id, {{text, *text}}, request.method != "WATCH", {}))
                             sent_bytes += text->size();
                         },
                     .on_taken = [&](Session::StreamId, std::size_t bytes) { taken += bytes; },
                     .on_end =
                         [&](Session::StreamId id, bool) {
                           const auto found = asked.find(id);
                           promise(found != asked.end() && ++found->second == 1, "a request ends once");
                         }});
    running = &session;
    bool going = session.receive("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {}).ok();
    const std::size_t step = input.empty() ? 1 : 1 + static_cast<unsigned char>(input.front());
    base::Duration now{};
    for (std::size_t at = 1; going && at < input.size(); at += step) {
      now = now + base::seconds(1);
      going = session.receive(input.substr(at, step), now).ok() && session.expire(now);
      promise(session.take_output(now).size() < 1'000'000, "what is said back has a limit");
      promise(held >= 0 && session.open_count() <= 2 * Session::kStreamsMax, "what is held has a limit");
    }
    promise(taken <= sent_bytes, "no more is taken than was said");
    if (session.open_count() == 0) promise(held == 0 && taken == sent_bytes, "what was held is given back");
  }
}

}  // namespace fuzz
