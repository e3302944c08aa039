// HTTP requests on their way in: the user, the path, and who answers it. This happens on the I/O thread; the executor
// carries out the rest on the loop.
#include "apiserver/http/server.h"

#include <atomic>

#include "apiserver/documents/discovery.h"
#include "apiserver/documents/openapi.h"
#include "apiserver/http/answers.h"
#include "apiserver/http/callers.h"
#include "apiserver/http/request_executor.h"
#include "apiserver/http/route.h"
#include "apiserver/pipeline/write/manager_name.h"
#include "base/format.h"

namespace apiserver {

using base::Code;
using base::Result;
using rt::HttpExchange;
using rt::HttpRequest;
using rt::HttpResponse;

namespace {

// A loop that one callback holds for longer answers nobody.
constexpr base::Duration kStandsStill = base::seconds(2);

// Requests under way hold it, as they hold the executor.
class Service : public std::enable_shared_from_this<Service> {
 public:
  Service(Api& api, ServerOptions options) : api_(api), options_(std::move(options)) {}

  // Any thread.
  void set_ready(bool ready) { ready_ = ready; }
  RequestExecutor& executor() { return *executor_; }
  // Before the first request.
  void set_address(std::string address) { address_ = std::move(address); }

  // I/O thread from here on, but where a line says otherwise.

  std::optional<HttpResponse> refusal_before_body(const HttpRequest& http) const {
    const rt::Target target = rt::parse_target(http.target);
    if (is_page(target)) {
      // Firefox ends every POST of HTTP/2 with a frame of data, which may be empty.
      if (rt::header(http.headers, "Content-Length") == "0") return {};
      return error_response(bad_request("the page takes no body"), accepted_encoding(http));
    }
    const Beside* service = service_for(target.path, options_.beside);
    const auto caller = service ? callers_.of_beside(*service, http) : callers_.let_in(http, target);
    if (caller.ok()) return {};
    return service ? service->refusal(caller.error()) : callers_.refusal(http, target, caller.error());
  }

  std::optional<std::string> share_of(const HttpRequest& http) const { return callers_.share_of(http); }

  void receive(HttpRequest http, std::shared_ptr<HttpExchange> exchange) {
    const rt::Target target = rt::parse_target(http.target);
    if (serve_open_path(target, *exchange)) return;
    if (is_page(target)) return options_.browser->serve(http, callers_.of_page(http), std::move(exchange));
    if (const Beside* service = service_for(target.path, options_.beside))
      return serve_beside(*service, std::move(http), target, std::move(exchange));
    auto caller = callers_.let_in(http, target);
    if (!caller.ok()) return exchange->respond(callers_.refusal(http, target, caller.error()));
    receive_of(*std::move(caller), std::move(http), target, std::move(exchange));
  }

  // Any thread.
  void receive_as(UserInfo user, HttpRequest http, bool as_read, std::shared_ptr<HttpExchange> exchange) {
    const rt::Target target = rt::parse_target(http.target);
    const HttpRequest judged{.method = as_read ? "GET" : http.method, .target = http.target};
    auto caller = callers_.judge(Caller{std::move(user)}, judged, target);
    if (!caller.ok()) return fail(*exchange, caller.error(), accepted_encoding(http));
    receive_of(*std::move(caller), std::move(http), target, std::move(exchange));
  }

 private:
  // A caller on the way to the loop.
  struct Asker {
    UserInfo user;
    Place place;
    std::shared_ptr<const ServedKinds> kinds;
    std::shared_ptr<std::vector<std::string>> audit_annotations = {};  // as Request has them
  };

  bool is_page(const rt::Target& target) const { return options_.browser && options_.browser->has(target.path); }

  void serve_beside(const Beside& service, HttpRequest http, const rt::Target& target,
                    std::shared_ptr<HttpExchange> exchange) {
    if (service.is_open(target.path)) return service.serve(std::move(http), std::nullopt, std::move(exchange));
    auto caller = callers_.of_beside(service, http);
    if (!caller.ok()) return exchange->respond(service.refusal(caller.error()));
    UserInfo user = caller->user;
    auto send = [self = shared_from_this(), caller = *std::move(caller)](HttpRequest request,
                                                                         std::shared_ptr<HttpExchange> answer) {
      const rt::Target wanted = rt::parse_target(request.target);
      auto judged = self->callers_.judge(caller, request, wanted);
      if (!judged.ok()) return fail(*answer, judged.error(), accepted_encoding(request));
      self->receive_of(*std::move(judged), std::move(request), wanted, std::move(answer));
    };
    service.serve(std::move(http), BesideCaller{std::move(user), std::move(send)}, std::move(exchange));
  }

  void receive_of(Caller caller, HttpRequest http, const rt::Target& target, std::shared_ptr<HttpExchange> exchange) {
    const UserInfo& own = caller.itself();
    Asker asker{
        caller.user, {.user = is_exempt(own) ? "" : own.name, .encoding = accepted_encoding(http)}, caller.kinds};
    if (options_.auditing) {
      Auditing::Caller known{own};
      if (caller.own) known.impersonated = asker.user;
      exchange = options_.auditing->watch(http, target, known, std::move(exchange), asker.audit_annotations);
    }
    if (!caller.claims) return receive_from(std::move(asker), std::move(http), target, std::move(exchange));
    // Whether the account is still there the loop knows.
    const auto routed = route(http, target, *asker.kinds);
    const bool known = routed.ok() && *routed;
    Place place = known && (*routed)->verb == Verb::kWatch ? Place() : asker.place;
    place.lists = known && (*routed)->verb == Verb::kList;
    if (known) place.counted = counted_as(**routed);
    executor_->in_turn(place, exchange,
                       [self = shared_from_this(), claims = *std::move(caller.claims), asker = std::move(asker),
                        http = std::move(http), target, exchange]() mutable {
                         if (!self->api_.token_holds(claims))
                           return fail(*exchange, base::make_error(Code::kUnauthorized, "Unauthorized"),
                                       asker.place.encoding);
                         asker.place.reached = true;
                         self->receive_from(std::move(asker), std::move(http), target, std::move(exchange));
                       });
  }

  // I/O or loop thread.
  void receive_from(Asker asker, HttpRequest http, const rt::Target& target, std::shared_ptr<HttpExchange> exchange) {
    if (target.path == "/metrics" && http.method == "GET")
      return executor_->in_turn(asker.place, exchange,
                                [executor = executor_, exchange] { executor->serve_metrics(exchange); });
    if (const auto page = options_.pages.find(target.path);
        page != options_.pages.end() && http.method == "GET" && ready_)
      return executor_->in_turn(asker.place, exchange, [ask = page->second, exchange] {
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
    request.decided_annotations = std::move(asker.audit_annotations);
    request.default_manager = manager_of(rt::header(http.headers, "User-Agent"));
    executor_->execute(std::move(asker.place), std::move(request), std::move(http), target, std::move(exchange));
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
    exchange.respond(health_answer(path, target.has("verbose"), {ready_, executor_->failing(), stands_still}));
    return true;
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

  Api& api_;
  const ServerOptions options_;
  const Callers callers_{api_, options_};
  const std::shared_ptr<RequestExecutor> executor_ =
      std::make_shared<RequestExecutor>(api_, options_.node_usage, options_.other_metrics);
  OpenApi openapi_;
  std::string address_;
  std::atomic<bool> ready_{false};
};

class RealServer : public Server {
 public:
  RealServer(std::shared_ptr<Service> service, std::unique_ptr<rt::HttpServer> http)
      : service_(std::move(service)), http_(std::move(http)) {}

  ~RealServer() override {
    http_.reset();
    service_->executor().stop();
  }

  std::uint16_t port() const override { return http_->port(); }
  // Clients must have been told to go elsewhere before they watch again.
  void drain(base::Duration time_max, std::function<void()> done) override {
    http_->drain(time_max, std::move(done));
    service_->executor().end_watches();
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
  listening.recognized_as = [service](const HttpRequest& http) { return service->share_of(http); };
  listening.refused = refusal_of_http;
  const std::string& address = listening.address;
  const bool v6 = address.find(':') != std::string::npos;
  const std::string host = v6 ? "[" + address + "]" : address;
  TRY(auto http, rt::listen_http(listening, [service](HttpRequest request, std::shared_ptr<HttpExchange> exchange) {
        service->receive(std::move(request), std::move(exchange));
      }));
  service->set_address(base::format("{}:{}", host, http->port()));
  service->executor().count_connections(http->connections());
  return std::unique_ptr<Server>(std::make_unique<RealServer>(service, std::move(http)));
}

}  // namespace apiserver
