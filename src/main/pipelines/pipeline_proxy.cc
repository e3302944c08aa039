// Requests are made with the rights of the kubeconfig, whoever on this machine sends them: pages of other sites are
// kept out by the name that they came for, as by their origin.
#include "main/pipelines/pipeline_proxy.h"

#include <unistd.h>

#include <array>
#include <iostream>
#include <memory>

#include "base/format.h"
#include "base/log.h"
#include "client/http/http_client.h"
#include "main/host/base/component.h"
#include "main/host/base/connection.h"
#include "main/host/base/server_get.h"
#include "main/host/base/version.h"
#include "main/page/forwarder.h"
#include "pipelines/rest/answers.h"
#include "pipelines/rest/server.h"
#include "pipelines/rest/v1beta1/routes.h"
#include "rt/http/server/http_server.h"
#include "ui/notebooks/passing_exchange.h"

namespace volcano_main {
namespace {

constexpr std::string_view kAgent = "volcano-pipeline";

// Everything on one loop.
class Proxy {
 public:
  static base::Result<std::unique_ptr<Proxy>> open(const client::ServerAccess& access, const std::string& ns,
                                                   rt::Env& env) {
    const std::string agent = base::format("{}/{}", kAgent, kVersion);
    auto proxy = std::make_unique<Proxy>();
    TRY(proxy->client_,
        client::make_http_client({.access = access, .user_agent = agent, .field_manager = std::string(kAgent)}, env));
    TRY(auto connection, client::ServerConnection::open(access, agent, env));
    proxy->forwarder_ = std::make_shared<Forwarder>(env, std::move(connection));
    proxy->server_ = std::make_unique<pipelines::rest::Server>(
        env, *proxy->client_,
        pipelines::rest::ServerOptions{.ns = ns.empty() ? access.ns : ns, .more = pipelines::rest::v1beta1::routes()});
    const std::string own = ns.empty() ? access.ns : ns;
    proxy->asker_ = std::make_shared<Owner>(*proxy->client_, *proxy->forwarder_, own.empty() ? "default" : own);
    return proxy;
  }

  void serve(rt::HttpRequest http, std::shared_ptr<rt::HttpExchange> exchange) {
    // The SDK calls this address its host, and knows of no prefix.
    if (!pipelines::rest::Server::has(rt::parse_target(http.target).path)) http.target = "/pipeline" + http.target;
    server_->serve(std::move(http), asker_, std::move(exchange));
  }

 private:
  class Owner final : public pipelines::rest::Asker {
   public:
    Owner(client::Client& client, Forwarder& forwarder, std::string ns)
        : client_(client), forwarder_(forwarder), ns_(std::move(ns)) {}
    void call(client::Request request, client::Client::OnResult on_result) override {
      client_.call(std::move(request), std::move(on_result));
    }
    void pass(std::string target, std::shared_ptr<rt::HttpExchange> exchange) override {
      forwarder_.forward({.method = "GET", .target = std::move(target)}, {}, std::move(exchange));
    }
    std::string own_namespace() const override { return ns_; }

   private:
    client::Client& client_;
    Forwarder& forwarder_;
    const std::string ns_;
  };

  std::unique_ptr<client::Client> client_;
  std::shared_ptr<Forwarder> forwarder_;
  std::unique_ptr<pipelines::rest::Server> server_;
  std::shared_ptr<Owner> asker_;
};

bool is_of_this_machine(std::string_view host) {
  for (const std::string_view name : {"127.0.0.1", "localhost"})
    if (host == name || (host.starts_with(name) && host.substr(name.size()).starts_with(':'))) return true;
  return false;
}

// A browser that another site's page lets ask says so; programs send no such header.
bool comes_from_a_page(const rt::HttpRequest& http) {
  return !rt::header(http.headers, "Origin").empty() || !rt::header(http.headers, "Sec-Fetch-Site").empty();
}

// The API in this program, on a loop of its own.
class OwnProxy {
 public:
  static base::Result<std::shared_ptr<OwnProxy>> open(const client::ServerAccess& access, const std::string& ns) {
    auto made = std::make_shared<OwnProxy>();
    made->env_ = rt::make_real_env("pipelines");
    auto opened = on_loop<std::shared_ptr<base::Result<std::unique_ptr<Proxy>>>>(*made->env_, [&](auto done) {
      done(std::make_shared<base::Result<std::unique_ptr<Proxy>>>(Proxy::open(access, ns, *made->env_)));
    });
    if (!opened->ok()) return opened->take_error();
    made->proxy_ = std::move(**opened);
    return made;
  }
  ~OwnProxy() {
    on_loop<bool>(*env_, [this](auto done) {
      proxy_.reset();
      done(true);
    });
    env_->stop();
  }

  base::Result<api::Json> get(const std::string& target) {
    const rt::HttpResponse answer = on_loop<rt::HttpResponse>(*env_, [&](auto done) {
      proxy_->serve({.method = "GET", .target = target}, ui::kept_answer([done](int status, std::string body) {
                      done({status, {}, std::move(body), {}});
                    }));
    });
    return object_of(answer, "this program", target);
  }

 private:
  std::unique_ptr<rt::RealEnv> env_;
  std::unique_ptr<Proxy> proxy_;  // on the loop
};

}  // namespace

base::Result<std::function<base::Result<api::Json>(const std::string& target)>> open_pipelines(
    const std::string& kubeconfig, const std::string& master, const std::string& ns) {
  TRY(const client::ServerAccess access, user_access(kubeconfig, master));
  TRY(const rt::HttpResponse health, ask_server(access, {.method = "GET", .target = "/pipeline/apis/v2beta1/healthz"}));
  std::function<base::Result<api::Json>(const std::string& target)> read;
  if (health.status == 200) {
    read = [access](const std::string& target) { return get_from_server(access, target); };
    return read;
  }
  // Which kinds the person may not list is not of interest: artifacts are asked for by name.
  base::set_log_level(base::LogLevel::kError);
  TRY(const std::shared_ptr<OwnProxy> own, OwnProxy::open(access, ns));
  read = [own](const std::string& target) { return own->get(target); };
  return read;
}

base::Status serve_pipelines(const std::string& kubeconfig, const std::string& master, const std::string& ns,
                             std::uint16_t port) {
  TRY(const client::ServerAccess access, user_access(kubeconfig, master));
  const auto env = rt::make_real_env("pipelines");
  auto opened = on_loop<std::shared_ptr<base::Result<std::unique_ptr<Proxy>>>>(*env, [&](auto done) {
    done(std::make_shared<base::Result<std::unique_ptr<Proxy>>>(Proxy::open(access, ns, *env)));
  });
  if (!opened->ok()) return opened->take_error();
  Proxy& proxy = ***opened;
  rt::ServerOptions options{.address = "127.0.0.1", .port = port};
  TRY(const auto server,
      rt::listen_http(std::move(options),
                      [&proxy, &loop = env->loop()](rt::HttpRequest http, std::shared_ptr<rt::HttpExchange> exchange) {
                        if (!is_of_this_machine(rt::header(http.headers, "Host")) || comes_from_a_page(http))
                          return exchange->respond(pipelines::rest::error_answer(
                              base::make_error(base::Code::kForbidden, "pages of browsers are not served here")));
                        loop.post([&proxy, http = std::move(http), exchange = std::move(exchange)]() mutable {
                          proxy.serve(std::move(http), std::move(exchange));
                        });
                      }));
  std::cout << base::format(
                   "the REST API of pipelines is at http://127.0.0.1:{}\nWhoever can use this machine acts there with "
                   "your rights. Stop it with Ctrl-C.\n",
                   server->port())
            << std::flush;
  for (;;) pause();
}

}  // namespace volcano_main
