// HTTP requests into the pipeline and answers out of it. Decoding happens on the I/O thread, everything else on the
// loop, but for what is large: that is decoded and encoded beside both.
#include "apiserver/http/server.h"

#include <algorithm>
#include <atomic>

#include "apiserver/documents/discovery.h"
#include "apiserver/documents/openapi.h"
#include "apiserver/http/access.h"
#include "apiserver/http/answers.h"
#include "apiserver/http/node_proxy.h"
#include "apiserver/http/pod_connect.h"
#include "apiserver/http/pod_log.h"
#include "apiserver/http/pod_proxy.h"
#include "apiserver/http/query_options.h"
#include "apiserver/http/request_turns.h"
#include "apiserver/http/route.h"
#include "apiserver/http/usage_metrics.h"
#include "apiserver/http/watch_stream.h"
#include "apiserver/pipeline/write/manager_name.h"
#include "apiserver/pipeline/write/off_loop_writes.h"
#include "base/format.h"

namespace apiserver {

using api::Json;
using base::Code;
using base::Result;
using rt::HttpExchange;
using rt::HttpRequest;
using rt::HttpResponse;

namespace {

// A loop that one callback holds for longer answers nobody.
constexpr base::Duration kStandsStill = base::seconds(2);

// Users who wait behind nobody: administrators, and the nodes. The components of this process do not come this way.
bool is_exempt(const UserInfo& user) {
  return is_administrator(user) || std::ranges::find(user.groups, "system:nodes") != user.groups.end();
}

// Requests under way hold it: a write is answered when it is durable, and the server may be gone by then.
class Service : public std::enable_shared_from_this<Service> {
 public:
  Service(Api& api, ServerOptions options) : api_(api), options_(std::move(options)) {}

  // Any thread.
  void set_ready(bool ready) { ready_ = ready; }
  // No request comes any more. A watch whose client's end was not told to it would never end.
  void stop() {
    api_.env().loop().post([self = shared_from_this()] { self->turns_->leave_all(); });
    end_watches();
  }
  void end_watches() {
    api_.env().loop().post([self = shared_from_this()] { self->watches_->end_all(); });
  }
  // Before the first request, both.
  void set_address(std::string address) { address_ = std::move(address); }
  void set_connections(std::function<rt::ConnectionShares::Counts()> count) { connections_ = std::move(count); }

  // I/O thread from here to `serve`.

  std::optional<HttpResponse> refusal_before_body(const HttpRequest& http) const {
    const rt::Target target = rt::parse_target(http.target);
    if (is_page(target)) return error_response(bad_request("the page takes no body"), accepted_encoding(http));
    const Beside* service = service_for(target.path, options_.beside);
    const auto caller = service ? caller_of_beside(*service, http) : let_in(http, target);
    if (caller.ok()) return {};
    return service ? service->refusal(caller.error()) : refusal(http, target, caller.error());
  }

  bool is_page(const rt::Target& target) const { return options_.browser && options_.browser->has(target.path); }

  void serve_page(const HttpRequest& http, std::shared_ptr<HttpExchange> exchange) const {
    std::optional<UserInfo> own;
    // A token of a service account holds only as long as the account, which the loop knows: it opens no page.
    if (auto caller = caller_by_credentials(http); caller.ok() && !caller->claims)
      if (auto user = act_as(caller->user, http, *api_.roles()); user.ok()) own = *std::move(user);
    options_.browser->serve(http, own, std::move(exchange));
  }

  void serve_beside(const Beside& service, HttpRequest http, const rt::Target& target,
                    std::shared_ptr<HttpExchange> exchange) {
    if (service.is_open(target.path)) return service.serve(std::move(http), std::nullopt, std::move(exchange));
    auto caller = caller_of_beside(service, http);
    if (!caller.ok()) return exchange->respond(service.refusal(caller.error()));
    UserInfo user = caller->user;
    auto send = [self = shared_from_this(), caller = *std::move(caller)](HttpRequest request,
                                                                         std::shared_ptr<HttpExchange> answer) {
      const rt::Target wanted = rt::parse_target(request.target);
      auto judged = self->judge(caller, request, wanted);
      if (!judged.ok()) return fail(*answer, judged.error(), accepted_encoding(request));
      self->receive_of(*std::move(judged), std::move(request), wanted, std::move(answer));
    };
    service.serve(std::move(http), BesideCaller{std::move(user), std::move(send)}, std::move(exchange));
  }

  // The share of the connections that this request's peer takes. An account that is gone is noticed when it asks.
  std::optional<std::string> recognized_as(const HttpRequest& http) const {
    const auto caller = caller_of(http);
    if (!caller.ok()) return std::nullopt;
    return is_exempt(caller->user) ? std::string() : owner_of_share(caller->user);
  }

  void receive(HttpRequest http, std::shared_ptr<HttpExchange> exchange) {
    const rt::Target target = rt::parse_target(http.target);
    if (serve_open_path(target, *exchange)) return;
    if (is_page(target)) return serve_page(http, std::move(exchange));
    if (const Beside* service = service_for(target.path, options_.beside))
      return serve_beside(*service, std::move(http), target, std::move(exchange));
    auto caller = let_in(http, target);
    if (!caller.ok()) return exchange->respond(refusal(http, target, caller.error()));
    receive_of(*std::move(caller), std::move(http), target, std::move(exchange));
  }

  void receive_as(UserInfo user, HttpRequest http, bool as_read, std::shared_ptr<HttpExchange> exchange) {
    const rt::Target target = rt::parse_target(http.target);
    const HttpRequest judged{.method = as_read ? "GET" : http.method, .target = http.target};
    auto caller = judge(Caller{std::move(user)}, judged, target);
    if (!caller.ok()) return fail(*exchange, caller.error(), accepted_encoding(http));
    receive_of(*std::move(caller), std::move(http), target, std::move(exchange));
  }

 private:
  struct Caller {
    UserInfo user;
    std::optional<TokenClaims> claims = {};  // by a token of these
    std::optional<UserInfo> own = {};        // of who acts as `user`
    // The kinds that the rights were judged by: one that comes later is not served to this request.
    std::shared_ptr<const ServedKinds> kinds = {};
  };

  void receive_of(Caller caller, HttpRequest http, const rt::Target& target, std::shared_ptr<HttpExchange> exchange) {
    const UserInfo& own = caller.own ? *caller.own : caller.user;
    Asker asker{
        caller.user, {.user = is_exempt(own) ? "" : own.name, .encoding = accepted_encoding(http)}, caller.kinds};
    if (options_.auditing) {
      Auditing::Caller known{caller.own ? *caller.own : asker.user};
      if (caller.own) known.impersonated = asker.user;
      exchange = options_.auditing->watch(http, target, known, std::move(exchange), asker.notes);
    }
    if (!caller.claims) return receive_from(std::move(asker), std::move(http), target, std::move(exchange));
    // Whether the account is still there the loop knows.
    const auto routed = route(http, target, *asker.kinds);
    const bool known = routed.ok() && *routed;
    Place place = known && (*routed)->verb == Verb::kWatch ? Place() : asker.place;
    place.lists = known && (*routed)->verb == Verb::kList;
    if (known) place.counted = counted_as(**routed);
    in_turn(place, exchange,
            [self = shared_from_this(), claims = *std::move(caller.claims), asker = std::move(asker),
             http = std::move(http), target, exchange]() mutable {
              if (!self->api_.token_holds(claims))
                return fail(*exchange, base::make_error(Code::kUnauthorized, "Unauthorized"), asker.place.encoding);
              asker.place.reached = true;
              self->receive_from(std::move(asker), std::move(http), target, std::move(exchange));
            });
  }

  // The place in which a request waits for its turn.
  struct Place {
    std::string user = {};                // in whose queue; empty: in none
    bool lists = false;                   // its answer may be long
    bool reached = false;                 // its turn is now
    Encoding encoding = Encoding::kJson;  // of its refusal
    std::shared_ptr<const CountedAs> counted = {};
  };
  struct Asker {
    UserInfo user;
    Place place;
    std::shared_ptr<const ServedKinds> kinds;
    std::shared_ptr<std::vector<std::string>> notes = {};  // as Request has them
  };

  // I/O or loop thread.
  void receive_from(Asker asker, HttpRequest http, const rt::Target& target, std::shared_ptr<HttpExchange> exchange) {
    if (target.path == "/metrics" && http.method == "GET")
      return in_turn(asker.place, exchange, [self = shared_from_this(), exchange] { self->serve_metrics(exchange); });
    if (const auto page = options_.pages.find(target.path);
        page != options_.pages.end() && http.method == "GET" && ready_)
      return in_turn(asker.place, exchange, [ask = page->second, exchange] {
        ask([exchange](std::string text) {
          exchange->respond({200, {{"Content-Type", "application/json"}}, std::move(text)});
        });
      });
    if (serve_document(http, target, *exchange)) return;
    auto routed = route(http, target, *asker.kinds);
    const Encoding encoding = asker.place.encoding;
    if (!routed.ok()) return fail(*exchange, routed.error(), encoding);
    if (!*routed)
      return fail(*exchange, base::make_error(Code::kNotFound, "the server could not find the requested resource"),
                  encoding);
    Request request = **std::move(routed);
    request.user = std::move(asker.user);
    asker.place.counted = counted_as(request);
    if (request.verb == Verb::kUpdate || request.verb == Verb::kPatch)
      request.may_create = may_create(request.user, request, *api_.roles());
    request.audit_notes = std::move(asker.notes);
    request.default_manager = manager_of(rt::header(http.headers, "User-Agent"));
    if (is_pod_proxy(request))
      return in_turn(
          asker.place, exchange,
          [self = shared_from_this(), request = std::move(request), http = std::move(http), exchange]() mutable {
            serve_pod_proxy(self->api_, std::move(request), std::move(http), exchange);
          });
    const Format format = negotiate(http, target);
    if (takes_long_to_read(asker.place, http) && request.subresource != "log")
      return decode_aside(asker.place, std::move(http), std::move(request), format, std::move(exchange));
    if (auto decoded = decode_body(http, request); !decoded.ok()) return fail(*exchange, decoded.error(), encoding);
    if (is_node_proxy(request) || is_connect(request) || request.subresource == "log")
      return in_turn(asker.place, exchange,
                     [self = shared_from_this(), request = std::move(request), http = std::move(http), target,
                      exchange]() mutable { self->serve_stream(std::move(request), http, target, exchange); });
    asker.place.lists = request.verb == Verb::kList;
    const std::string user = asker.place.user;
    // A watch costs others little, but for its beginning, which is read as this user's work.
    if (request.verb == Verb::kWatch) asker.place.user.clear();
    in_turn(asker.place, exchange,
            [self = shared_from_this(), user, request = std::move(request), format, exchange]() mutable {
              const std::string before = self->api_.side_work().work_for(user);
              self->serve(std::move(request), format, std::move(exchange));
              self->api_.side_work().work_for(before);
            });
  }

  static std::shared_ptr<const CountedAs> counted_as(const Request& request) {
    return std::make_shared<const CountedAs>(
        CountedAs{request.verb, request.kind, request.subresource, request.holds_kind});
  }

  // Loop thread.
  void serve_stream(Request request, const HttpRequest& http, const rt::Target& target,
                    std::shared_ptr<HttpExchange> exchange) {
    const Encoding encoding = accepted_encoding(http);
    if (is_node_proxy(request))
      return serve_node_proxy(api_, options_.node_usage, std::move(request), target, encoding, std::move(exchange));
    if (is_connect(request)) return serve_connect(api_, std::move(request), http, target, std::move(exchange));
    serve_log(api_, std::move(request), target, encoding, std::move(exchange));
  }

  // Runs `task`, which answers the exchange, on the loop when it is the user's turn. Any thread.
  void in_turn(const Place& place, std::shared_ptr<HttpExchange> exchange, rt::Task task) {
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

  // The answer to a user who is not let in.
  HttpResponse refusal(const HttpRequest& http, const rt::Target& target, const base::Error& error) const {
    HttpResponse response = error_response(error, accepted_encoding(http));
    if (!options_.auditing) return response;
    const auto known = caller_of(http);
    options_.auditing->refused(http, target, {known.ok() ? known->user : UserInfo()}, response);
    return response;
  }

  // The user, if they may: by the header alone.
  Result<Caller> let_in(const HttpRequest& http, const rt::Target& target) const {
    TRY(Caller caller, caller_of(http));
    TRY(caller, acting(std::move(caller), http));
    return judge(std::move(caller), http, target);
  }

  Result<Caller> acting(Caller caller, const HttpRequest& http) const {
    UserInfo own = caller.user;
    TRY(caller.user, act_as(std::move(caller.user), http, *api_.roles()));
    if (caller.user.name != own.name || caller.user.groups != own.groups) caller.own = std::move(own);
    return caller;
  }

  Result<Caller> caller_of_beside(const Beside& service, const HttpRequest& http) const {
    TRY(Caller caller, caller_of(http, service.audience()));
    const std::string other = service.acting_as(http);
    if (other.empty() || other == caller.user.name) return acting(std::move(caller), http);
    return acting(std::move(caller), {.headers = {{"Impersonate-User", other}}});
  }

  Result<Caller> judge(Caller caller, const HttpRequest& http, const rt::Target& target) const {
    TRY_VOID(check_text(target));
    caller.kinds = api_.kinds();
    TRY_VOID(authorize(caller.user, http, target, *api_.roles(), *caller.kinds));
    return caller;
  }

  // By the request's own credentials, or else by the session of a browser. `audience`: for whom tokens of service
  // accounts may be, beside the API.
  Result<Caller> caller_of(const HttpRequest& http, std::string_view audience = {}) const {
    if (options_.browser && http.peer_common_name.empty() && bearer_token(http).empty())
      if (auto user = options_.browser->user_of(http)) {
        if (!user->ok()) return user->take_error();
        return Caller{*std::move(*user)};
      }
    return caller_by_credentials(http, audience);
  }

  Result<Caller> caller_by_credentials(const HttpRequest& http, std::string_view audience = {}) const {
    auto known = authenticate(http, options_.token);
    if (known.ok()) return Caller{*std::move(known)};
    const std::string token = bearer_token(http);
    if (token.empty() || api_.account_tokens() == nullptr) return known.take_error();
    auto claims = api_.account_tokens()->read(token, api_.env().now());
    if (!claims.ok() || !(is_for_us(*claims) || is_for(*claims, audience)) || !api_.knows_account(claims->account_uid))
      return known.take_error();
    UserInfo user = claims->user();
    return Caller{std::move(user), *std::move(claims)};
  }

  // YAML takes a hundred times as long as JSON, and where it is the request's turn the loop would read it.
  static bool takes_long_to_read(const Place& place, const HttpRequest& http) {
    constexpr std::size_t kShort = 1024;
    const bool is_yaml = rt::header(http.headers, "Content-Type").find("yaml") != std::string_view::npos;
    return http.body.size() > (place.reached && is_yaml ? kShort : kLongBytes);
  }

  // To read a large body takes long, and this thread has other connections.
  void decode_aside(const Place& place, HttpRequest http, Request request, const Format& format,
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

  bool serve_open_path(const rt::Target& target, HttpExchange& exchange) {
    std::string_view path = target.path;
    for (const char* end : {"/ping", "/"})  // the one check that all three have; and "/version/"
      if (path.ends_with(end)) path.remove_suffix(std::string_view(end).size());
    if (path != "/healthz" && path != "/livez" && path != "/readyz" && path != "/version") return false;
    if (path == "/version") {
      exchange.respond(document_response(200, version_document(options_.version)));
      return true;
    }
    const bool stands_still = options_.loop_held && options_.loop_held() > kStandsStill;
    exchange.respond(health_answer(path, target.has("verbose"), {ready_, failing_, stands_still}));
    return true;
  }

  // Loop thread.
  void serve_metrics(const std::shared_ptr<HttpExchange>& exchange) {
    HttpResponse response;
    response.headers = {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}};
    metrics_->streams(api_.stream_shares().counts());
    metrics_->connections(connections_());
    metrics_->memory_refused(api_.memory_refused());
    response.body = metrics_->text(api_.store());
    respond_aside(exchange, [response = std::move(response), others = options_.other_metrics]() mutable {
      if (others) response.body += others();
      return std::move(response);
    });
  }

  // Documents that no loop is needed for.
  bool serve_document(const HttpRequest& http, const rt::Target& target, HttpExchange& exchange) {
    if (http.method != "GET" && http.method != "HEAD") return false;
    const std::string_view accept = rt::header(http.headers, "Accept");
    const auto kinds = api_.kinds();
    if (auto openapi = openapi_.answer(target, accept, kinds)) {
      exchange.respond(*std::move(openapi));
      return true;
    }
    const DocumentFormat wanted = negotiate_document(accept);
    if (target.path == "/" || target.path == "/index.html") {
      std::vector<std::string> pages;
      for (const auto& [path, ask] : options_.pages) pages.push_back(path);
      exchange.respond(document_response(200, root_paths(*kinds, pages)));
      return true;
    }
    const auto document =
        discovery_document(target.path, wanted.aggregated, address_, options_.preferred_versions, *kinds);
    if (!document) return false;
    HttpResponse response = document_response(200, *document, wanted.encoding);
    if (wanted.aggregated && (*document)["kind"].as_string() == "APIGroupDiscoveryList")
      response.headers[0].second += ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    exchange.respond(std::move(response));
    return true;
  }

  // Loop thread.
  void serve(Request request, Format format, std::shared_ptr<HttpExchange> exchange) {
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
    if (measured) return on_answer(measured_answer(api_, options_.node_usage, request));
    api_.call(std::move(request), std::move(on_answer));
  }

  // An answer that takes long to make is made off the loop.
  void respond_aside(const std::shared_ptr<HttpExchange>& exchange, std::function<HttpResponse()> make) {
    api_.side_work().run([exchange, make = std::move(make)] { exchange->respond(make()); }, [] {});
  }

  Api& api_;
  // The metrics of the API server's loop; streams may outlive the server.
  std::shared_ptr<RequestMetrics> metrics_ = std::make_shared<RequestMetrics>();
  std::shared_ptr<WatchStreams> watches_ = std::make_shared<WatchStreams>();
  RequestTurns::Seat seat_;  // of the list whose turn it is; loop thread
  std::shared_ptr<RequestTurns> turns_ = std::make_shared<RequestTurns>(api_.env(), metrics_);
  ServerOptions options_;
  OpenApi openapi_;
  std::string address_;
  std::function<rt::ConnectionShares::Counts()> connections_ = [] { return rt::ConnectionShares::Counts(); };
  std::atomic<bool> ready_{false};
  std::atomic<bool> failing_{false};
};

class RealServer : public Server {
 public:
  RealServer(std::shared_ptr<Service> service, std::unique_ptr<rt::HttpServer> http)
      : service_(std::move(service)), http_(std::move(http)) {}

  ~RealServer() override {
    http_.reset();
    service_->stop();
  }

  std::uint16_t port() const override { return http_->port(); }
  // Clients must have been told to go elsewhere before they watch again.
  void drain(base::Duration time_max, std::function<void()> done) override {
    http_->drain(time_max, std::move(done));
    service_->end_watches();
  }
  void set_ready(bool ready) override { service_->set_ready(ready); }
  void serve_as(UserInfo user, HttpRequest request, bool as_read, std::shared_ptr<HttpExchange> exchange) override {
    service_->receive_as(std::move(user), std::move(request), as_read, std::move(exchange));
  }
  base::Status set_keys(const rt::ServerKeys& keys) override { return http_->set_keys(keys); }

 private:
  std::shared_ptr<Service> service_;
  std::unique_ptr<rt::HttpServer> http_;
};

}  // namespace

Result<std::unique_ptr<Server>> start_server(Api& api, ServerOptions options) {
  rt::ServerOptions listening = options.http;
  const auto service = std::make_shared<Service>(api, std::move(options));
  listening.refusal_before_body = [service](const HttpRequest& http) { return service->refusal_before_body(http); };
  listening.recognized_as = [service](const HttpRequest& http) { return service->recognized_as(http); };
  listening.refused = refusal_of_http;
  const std::string& address = listening.address;
  const bool v6 = address.find(':') != std::string::npos;
  const std::string host = v6 ? "[" + address + "]" : address;
  TRY(auto http, rt::listen_http(listening, [service](HttpRequest request, std::shared_ptr<HttpExchange> exchange) {
        service->receive(std::move(request), std::move(exchange));
      }));
  service->set_address(base::format("{}:{}", host, http->port()));
  service->set_connections(http->connections());
  return std::unique_ptr<Server>(std::make_unique<RealServer>(service, std::move(http)));
}

}  // namespace apiserver
