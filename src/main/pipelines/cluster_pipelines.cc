// Requests of others are sent over a connection without credentials of our own, so that a token that is refused gives
// nothing; only those of service accounts, and of a proxy's users, are made by us in their names.
#include "main/pipelines/cluster_pipelines.h"

#include <utility>

#include "base/format.h"
#include "base/log.h"
#include "client/http/http_client.h"
#include "client/http/request_names.h"
#include "client/http/server_connection.h"
#include "client/http/wire.h"
#include "main/host/base/address.h"
#include "main/host/base/component.h"
#include "main/host/base/end_answering.h"
#include "main/host/base/version.h"
#include "main/page/forwarder.h"
#include "main/pipelines/step_reports.h"
#include "pipelines/rest/answers.h"
#include "pipelines/rest/server.h"
#include "pipelines/rest/v1beta1/routes.h"
#include "rt/files/bounded_files.h"
#include "webapps/answers.h"
#include "webapps/server.h"

namespace volcano_main {
namespace {

constexpr std::string_view kManager = "kubeflow-pipelines", kAccount = "system:serviceaccount:";
constexpr std::string_view kRunning = "/healthz";
constexpr std::size_t kPemMax = std::size_t{1} << 20;

base::Result<std::optional<rt::ServerKeys>> keys_of(const ClusterPipelineOptions& options) {
  if (options.tls_cert_file.empty() != options.tls_private_key_file.empty())
    return base::make_error(base::Code::kInvalid,
                            "--pipelines-tls-cert-file and --pipelines-tls-private-key-file go together");
  if (options.tls_cert_file.empty()) return std::optional<rt::ServerKeys>();
  rt::ServerKeys keys;
  TRY(keys.certificate_pem, rt::read_bounded_file(options.tls_cert_file, kPemMax, base::seconds(5)));
  TRY(keys.key_pem, rt::read_bounded_file(options.tls_private_key_file, kPemMax, base::seconds(5)));
  return std::optional(std::move(keys));
}

// The way to the API server by which nobody's credentials go but those of the request.
client::ServerAccess bare(client::ServerAccess access) {
  access.token.clear();
  access.token_file.clear();
  access.certificate_pem.clear();
  access.key_pem.clear();
  access.acts_as.clear();
  if (access.again)
    access.again = [again = access.again](bool refused) -> base::Result<client::ServerAccess> {
      TRY(client::ServerAccess found, again(refused));
      return bare(std::move(found));
    };
  return access;
}

}  // namespace

// Everything on the loop.
class ClusterPipelines::Service {
 public:
  static base::Result<std::shared_ptr<Service>> open(const client::ServerAccess& access,
                                                     const ClusterPipelineOptions& options, rt::Env& env) {
    const std::string agent = base::format("{}/{}", kManager, kVersion);
    auto made = std::make_shared<Service>();
    made->env_ = &env;
    TRY(made->client_,
        client::make_http_client({.access = access, .user_agent = agent, .field_manager = std::string(kManager)}, env));
    TRY(made->own_, client::ServerConnection::open(access, agent, env));
    TRY(made->bare_, client::ServerConnection::open(bare(access), agent, env));
    TRY(auto own_passing, client::ServerConnection::open(access, agent, env));
    TRY(auto bare_passing, client::ServerConnection::open(bare(access), agent, env));
    made->own_forwarder_ = std::make_shared<Forwarder>(env, std::move(own_passing));
    made->bare_forwarder_ = std::make_shared<Forwarder>(env, std::move(bare_passing));
    made->callers_ = std::make_unique<PipelineCallers>(env, *made->client_, options.headers);
    made->reports_ = std::make_unique<StepReports>(*made->client_, *made->callers_);
    made->server_ = std::make_unique<pipelines::rest::Server>(
        env, *made->client_,
        pipelines::rest::ServerOptions{.ns = options.ns, .more = pipelines::rest::v1beta1::routes()});
    if (options.web_apps) made->web_apps_ = std::make_unique<webapps::Server>(env, *made->client_);
    return made;
  }

  void serve(const std::shared_ptr<Service>& self, rt::HttpRequest http, std::shared_ptr<rt::HttpExchange> exchange) {
    std::string path = rt::parse_target(http.target).path;
    if (path == kRunning) return exchange->respond({200, {{"Content-Type", "text/plain"}}, "ok\n"});
    if (web_apps_ && webapps::Server::has(path)) return serve_web_app(self, std::move(http), std::move(exchange));
    // Kubeflow's clients inside the cluster know of no prefix, those behind a gateway do.
    if (!pipelines::rest::Server::has(path)) {
      http.target = "/pipeline" + http.target;
      path = "/pipeline" + path;
    }
    if (StepReports::has(path)) return reports_->take(std::move(http), std::move(exchange));
    if (pipelines::rest::Server::is_open(path)) return server_->serve(std::move(http), nullptr, std::move(exchange));
    auto request = std::make_shared<rt::HttpRequest>(std::move(http));
    callers_->find(*request, [self, request, exchange](base::Result<PipelineCaller> caller) {
      if (!caller.ok()) return exchange->respond(pipelines::rest::error_answer(caller.error()));
      self->server_->serve(std::move(*request), std::make_shared<CallerAsker>(self, *std::move(caller)), exchange);
    });
  }

  void end() {
    own_forwarder_->end();
    bare_forwarder_->end();
  }

 private:
  class CallerAsker final : public pipelines::rest::Asker, public webapps::Asker {
   public:
    CallerAsker(std::shared_ptr<Service> service, PipelineCaller caller)
        : service_(std::move(service)), caller_(std::move(caller)) {}

    std::string name() const override { return caller_.user; }

    void call(client::Request request, client::Client::OnResult on_result) override {
      if (base::Status names = client::check_names(request); !names.ok())
        return service_->env_->loop().post(
            [error = names.take_error(), on_result = std::move(on_result)] { on_result(error); });
      rt::HttpRequest http = client::encode_request(request, kManager);
      add_caller(http);
      client::ServerConnection& way = *(caller_.token.empty() ? service_->own_ : service_->bare_);
      way.complete(http);
      const bool is_list = request.verb == client::Verb::kList;
      way.http().send(std::move(http), [only = request.only, is_list,
                                        on_result = std::move(on_result)](base::Result<rt::HttpResponse> answer) {
        if (!answer.ok()) return on_result(base::make_error(base::Code::kUnavailable, answer.error().message));
        on_result(client::decode_response(*answer, only, is_list));
      });
    }

    void pass(std::string target, std::shared_ptr<rt::HttpExchange> exchange) override {
      rt::HttpRequest http{.method = "GET", .target = std::move(target)};
      add_caller(http);
      (caller_.token.empty() ? service_->own_forwarder_ : service_->bare_forwarder_)->relay(http, exchange);
    }

    void read(std::string target, std::function<void(int status, std::string body)> on_text) override {
      rt::HttpRequest http{.method = "GET", .target = std::move(target)};
      add_caller(http);
      client::ServerConnection& way = *(caller_.token.empty() ? service_->own_ : service_->bare_);
      way.complete(http);
      way.http().send(std::move(http), [on_text = std::move(on_text)](base::Result<rt::HttpResponse> answer) {
        if (!answer.ok()) return on_text(503, answer.error().message);
        on_text(answer->status, std::move(answer->body));
      });
    }

    // A service account is at home in its namespace.
    std::string own_namespace() const override {
      if (!caller_.user.starts_with(kAccount)) return "default";
      const std::string rest = caller_.user.substr(kAccount.size());
      return rest.substr(0, rest.find(':'));
    }

   private:
    void add_caller(rt::HttpRequest& http) const {
      if (!caller_.token.empty()) return http.headers.emplace_back("Authorization", "Bearer " + caller_.token), void();
      http.headers.emplace_back("Impersonate-User", caller_.user);
      for (const std::string& group : caller_.groups) http.headers.emplace_back("Impersonate-Group", group);
    }

    const std::shared_ptr<Service> service_;
    const PipelineCaller caller_;
  };

  void serve_web_app(const std::shared_ptr<Service>& self, rt::HttpRequest http,
                     std::shared_ptr<rt::HttpExchange> exchange) {
    if (webapps::Server::is_open(rt::parse_target(http.target).path))
      return web_apps_->serve(std::move(http), nullptr, std::move(exchange));
    auto request = std::make_shared<rt::HttpRequest>(std::move(http));
    callers_->find(*request, [self, request, exchange](base::Result<PipelineCaller> caller) {
      if (caller.ok() && caller->is_for_pipelines)
        caller = base::make_error(base::Code::kUnauthorized, "Unauthorized: the token is meant for pipelines");
      if (!caller.ok()) return exchange->respond(webapps::bad_answer(webapps::apps().front(), {}, caller.error()));
      self->web_apps_->serve(std::move(*request), std::make_shared<CallerAsker>(self, *std::move(caller)), exchange);
    });
  }

  rt::Env* env_ = nullptr;
  std::unique_ptr<client::Client> client_;
  std::unique_ptr<client::ServerConnection> own_, bare_;
  std::shared_ptr<Forwarder> own_forwarder_, bare_forwarder_;
  std::unique_ptr<PipelineCallers> callers_;
  std::unique_ptr<StepReports> reports_;
  std::unique_ptr<pipelines::rest::Server> server_;
  std::unique_ptr<webapps::Server> web_apps_;  // null: they are not asked for
};

base::Result<std::unique_ptr<ClusterPipelines>> ClusterPipelines::start(const client::ServerAccess& access,
                                                                        const ClusterPipelineOptions& options) {
  TRY(const HostPort place, parse_host_port(options.address));
  TRY(const std::optional<rt::ServerKeys> keys, keys_of(options));
  std::unique_ptr<ClusterPipelines> made(new ClusterPipelines);
  made->env_ = rt::make_real_env("pipelines");
  using Opened = base::Result<std::shared_ptr<Service>>;
  const auto opened = on_loop<std::shared_ptr<Opened>>(
      *made->env_, [&](auto done) { done(std::make_shared<Opened>(Service::open(access, options, *made->env_))); });
  if (!opened->ok()) return opened->take_error();
  made->service_ = **opened;
  rt::ServerOptions http{.address = place.host.empty() ? "0.0.0.0" : place.host, .port = place.port, .tls = keys};
  TRY(made->server_,
      rt::listen_http(std::move(http), [weak = std::weak_ptr<Service>(made->service_), &loop = made->env_->loop()](
                                           rt::HttpRequest request, std::shared_ptr<rt::HttpExchange> exchange) {
        loop.post([weak, request = std::move(request), exchange = std::move(exchange)]() mutable {
          if (const auto self = weak.lock()) return self->serve(self, std::move(request), std::move(exchange));
          exchange->respond(
              pipelines::rest::error_answer(base::make_error(base::Code::kUnavailable, "the server stops")));
        });
      }));
  base::log_info("pipelines", base::format("the REST API of pipelines listens at port {}", made->server_->port()));
  return made;
}

ClusterPipelines::~ClusterPipelines() {
  if (!env_) return;
  if (server_) end_answering(std::vector{server_.get()}, kLastProbesMax);
  server_.reset();
  on_loop<bool>(*env_, [this](auto done) {
    if (service_) service_->end();
    service_.reset();
    done(true);
  });
  env_->stop();
}

}  // namespace volcano_main
