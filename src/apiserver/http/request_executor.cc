// Requests whose user is known, carried out on the API server's loop when it is their turn.
#include "apiserver/http/request_executor.h"

#include "apiserver/http/answers.h"
#include "apiserver/http/pods/node_proxy.h"
#include "apiserver/http/pods/pod_connect.h"
#include "apiserver/http/pods/pod_log.h"
#include "apiserver/http/pods/pod_proxy.h"
#include "apiserver/http/route.h"
#include "apiserver/http/usage_metrics.h"
#include "apiserver/pipeline/write/off_loop_writes.h"

namespace apiserver {

using base::Result;
using rt::HttpExchange;
using rt::HttpRequest;
using rt::HttpResponse;

namespace {

// YAML takes a hundred times as long as JSON, and where it is the request's turn the loop would read it.
bool takes_long_to_read(const Place& place, const HttpRequest& http) {
  constexpr std::size_t kShort = 1024;
  const bool is_yaml = rt::header(http.headers, "Content-Type").find("yaml") != std::string_view::npos;
  return http.body.size() > (place.reached && is_yaml ? kShort : kLongBytes);
}

}  // namespace

std::shared_ptr<const CountedAs> counted_as(const Request& request) {
  return std::make_shared<const CountedAs>(
      CountedAs{request.verb, request.kind, request.subresource, request.holds_kind});
}

void RequestExecutor::stop() {
  api_.env().loop().post([self = shared_from_this()] { self->turns_->leave_all(); });
  end_watches();
}

void RequestExecutor::end_watches() {
  api_.env().loop().post([self = shared_from_this()] { self->watches_->end_all(); });
}

void RequestExecutor::in_turn(const Place& place, std::shared_ptr<HttpExchange> exchange, rt::Task task) {
  if (place.reached) return task();
  if (place.user.empty()) return api_.env().loop().post(std::move(task));
  api_.env().loop().post(
      [self = shared_from_this(), place, exchange = std::move(exchange), task = std::move(task)]() mutable {
        auto serve = [self, user = place.user, task = std::move(task)](RequestTurns::Seat seat) {
          const std::string before = self->api_.side_work().work_for(user);
          self->seat_ = std::move(seat);
          task();
          self->seat_.reset();
          self->api_.side_work().work_for(before);
        };
        auto refuse = [encoding = place.encoding](HttpExchange& refused, const base::Error& error) {
          fail(refused, error, encoding);
        };
        self->turns_->add(place.user,
                          {std::move(exchange), std::move(serve), std::move(refuse), place.lists, place.counted});
      });
}

void RequestExecutor::execute(Place place, Request request, HttpRequest http, const rt::Target& target,
                              std::shared_ptr<HttpExchange> exchange) {
  if (is_pod_proxy(request))
    return in_turn(
        place, exchange,
        [self = shared_from_this(), request = std::move(request), http = std::move(http), exchange]() mutable {
          serve_pod_proxy(self->api_, std::move(request), std::move(http), exchange);
        });
  const Format format = negotiate(http, target);
  if (takes_long_to_read(place, http) && request.subresource != "log")
    return decode_aside(place, std::move(http), std::move(request), format, std::move(exchange));
  if (auto decoded = decode_body(http, request); !decoded.ok()) return fail(*exchange, decoded.error(), place.encoding);
  if (is_node_proxy(request) || is_connect(request) || request.subresource == "log")
    return in_turn(place, exchange,
                   [self = shared_from_this(), request = std::move(request), http = std::move(http), target,
                    exchange]() mutable { self->serve_stream(std::move(request), http, target, exchange); });
  place.lists = request.verb == Verb::kList;
  const std::string user = place.user;
  // A watch costs others little, but for its beginning, which is read as this user's work.
  if (request.verb == Verb::kWatch) place.user.clear();
  in_turn(place, exchange, [self = shared_from_this(), user, request = std::move(request), format, exchange]() mutable {
    const std::string before = self->api_.side_work().work_for(user);
    self->serve(std::move(request), format, std::move(exchange));
    self->api_.side_work().work_for(before);
  });
}

// To read a large body takes long, and this thread has other connections.
void RequestExecutor::decode_aside(const Place& place, HttpRequest http, Request request, const Format& format,
                                   std::shared_ptr<HttpExchange> exchange) {
  struct Body {
    HttpRequest http;
    Request request;
    base::Status decoded = {};
  };
  auto body = std::make_shared<Body>(Body{std::move(http), std::move(request)});
  in_turn(place, exchange, [self = shared_from_this(), body, format, exchange] {
    self->api_.side_work().run([body] { body->decoded = decode_body(body->http, body->request); },
                               [self, body, format, exchange] {
                                 if (!body->decoded.ok())
                                   return fail(*exchange, body->decoded.error(), format.encoding);
                                 self->serve(std::move(body->request), format, exchange);
                               });
  });
}

// Loop thread from here on.

void RequestExecutor::serve_stream(Request request, const HttpRequest& http, const rt::Target& target,
                                   std::shared_ptr<HttpExchange> exchange) {
  const Encoding encoding = accepted_encoding(http);
  if (is_node_proxy(request))
    return serve_node_proxy(api_, node_usage_, std::move(request), target, encoding, std::move(exchange));
  if (is_connect(request)) return serve_connect(api_, std::move(request), http, target, std::move(exchange));
  serve_log(api_, std::move(request), target, encoding, std::move(exchange));
}

void RequestExecutor::serve_metrics(const std::shared_ptr<HttpExchange>& exchange) {
  HttpResponse response;
  response.headers = {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}};
  metrics_->streams(api_.stream_shares().counts());
  metrics_->connections(connections_());
  metrics_->memory_refused(api_.memory_refused());
  response.body = metrics_->text(api_.store());
  respond_aside(exchange, [response = std::move(response), others = other_metrics_]() mutable {
    if (others) response.body += others();
    return std::move(response);
  });
}

void RequestExecutor::serve(Request request, Format format, std::shared_ptr<HttpExchange> exchange) {
  failing_ = api_.store().failing();
  const bool measured = is_measured(*request.kind);
  if (request.verb == Verb::kWatch && !measured)
    return stream_watch(api_, metrics_, watches_, request, format, std::move(exchange));
  const api::KindInfo* kind = request.kind;
  const auto holds = request.holds_kind;
  const auto count = [metrics = metrics_, &env = api_.env(), counted = counted_as(request),
                      began = api_.env().uptime()](const Result<Answer>& answer) {
    const int status = answer.ok() ? answer->status : base::http_status(answer.error().code);
    metrics->answered(*counted, status, env.uptime() - began);
  };
  OnAnswer on_answer = [self = shared_from_this(), kind, holds, format, count, seat = std::move(seat_),
                        exchange = std::move(exchange)](Result<Answer> answer) {
    count(answer);
    if (!answer.ok()) return fail(*exchange, answer.error(), format.encoding);
    const base::Time now = self->api_.env().now();
    const bool as_stored =
        format.encoding == Encoding::kJson && format.shape == Format::Shape::kWhole && !format.packed;
    if (as_stored || bytes_of(*answer) <= kLongBytes)
      return exchange->respond(RequestTurns::holding(seat, response_of(*kind, *std::move(answer), format, now)));
    self->respond_aside(exchange, [kind, holds, seat, answer = *std::move(answer), format, now]() mutable {
      return RequestTurns::holding(seat, response_of(*kind, std::move(answer), format, now));
    });
  };
  if (measured) return on_answer(measured_answer(api_, node_usage_, request));
  api_.call(std::move(request), std::move(on_answer));
}

// An answer that takes long to make is made off the loop.
void RequestExecutor::respond_aside(const std::shared_ptr<HttpExchange>& exchange, std::function<HttpResponse()> make) {
  api_.side_work().run([exchange, make = std::move(make)] { exchange->respond(make()); }, [] {});
}

}  // namespace apiserver
