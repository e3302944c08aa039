// `volcano-ui`: the page of a cluster for all its users, each with a token of their own. The program has no rights.
#include <signal.h>

#include <atomic>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "api/json/json.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/log.h"
#include "client/http/server_connection.h"
#include "main/host/base/address.h"
#include "main/host/base/component.h"
#include "main/host/base/connection.h"
#include "main/host/base/log_setup.h"
#include "main/host/base/version.h"
#include "main/host/hosts/scheduler_host.h"
#include "main/host/rehearsal/cluster_rehearsal.h"
#include "main/page/forwarder.h"
#include "main/programs/programs.h"
#include "rt/files/bounded_files.h"
#include "rt/http/server/http_server.h"
#include "rt/tls/sealing.h"
#include "ui/page_server.h"
#include "ui/token_login.h"

namespace volcano_main {
namespace {

using base::Code;
using base::make_error;
using base::Result;

constexpr std::size_t kPemMax = std::size_t{1} << 20;
constexpr std::size_t kSecretMax = 4096;
constexpr base::Duration kKeysLook = base::seconds(30);

struct ClusterUiFlags {
  std::string master, ca_file, address = ":8080", external_url, login = "token", tls_cert_file, tls_private_key_file,
                               session_secret_file, scheduler_address;
  bool version = false;
  int v = 0;
};

std::vector<base::Flag> rows(ClusterUiFlags& flags) {
  return {
      {"master", &flags.master, "the address of the API server (default: that of the pod's cluster)"},
      {"certificate-authority", &flags.ca_file,
       "PEM file with the authority of the API server (default: the authorities of the system)"},
      {"listen-address", &flags.address, "where the page listens"},
      {"external-url", &flags.external_url,
       "the page's address in browsers, https://HOST[:PORT] or http://HOST[:PORT]; other names are refused"},
      {"login", &flags.login,
       "token: users paste a bearer token; proxy: a proxy in front sends it as Authorization with each request"},
      {"tls-cert-file", &flags.tls_cert_file, "PEM certificate; without it the page speaks HTTP, for a proxy with TLS"},
      {"tls-private-key-file", &flags.tls_private_key_file, "its key"},
      {"session-secret-file", &flags.session_secret_file,
       "a file of 32 bytes or more that seals sessions, the same for all replicas; without it sessions are known to "
       "this "
       "process alone, and end with it"},
      {"scheduler-address", &flags.scheduler_address,
       "http://HOST:PORT of a scheduler with --enable-rehearsal, which says what it would do with workloads before "
       "they "
       "are submitted; empty: none is asked"},
      {"version", &flags.version, "print the version"},
      {"v", &flags.v, "log verbosity; 4 and more: debug lines too"}};
}

// The scheme and the host of --external-url.
struct External {
  bool tls = false;
  std::string host;  // without a port
};
Result<External> external_of(const ClusterUiFlags& flags) {
  External out{.tls = !flags.tls_cert_file.empty()};
  if (flags.external_url.empty()) return out;
  const auto wrong = [&flags] {
    return make_error(
        Code::kInvalid,
        base::format("--external-url: {:?} is not https://HOST[:PORT] or http://HOST[:PORT]", flags.external_url));
  };
  std::string_view rest = flags.external_url;
  if (rest.starts_with("https://")) {
    out.tls = true;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    if (!flags.tls_cert_file.empty()) return wrong();
    out.tls = false;
    rest.remove_prefix(7);
  } else {
    return wrong();
  }
  if (rest.ends_with('/')) rest.remove_suffix(1);
  out.host = rest.substr(0, rest.find(':'));
  if (out.host.empty() || rest.find_first_of("/?#@ ") != std::string_view::npos) return wrong();
  return out;
}

// The way to the API server, without credentials.
Result<client::ServerAccess> access_of(const ClusterUiFlags& flags) {
  client::ServerAccess access;
  access.server = flags.master;
  if (access.server.empty()) {
    const char *host = std::getenv("KUBERNETES_SERVICE_HOST"), *port = std::getenv("KUBERNETES_SERVICE_PORT");
    if (host == nullptr || *host == 0)
      return make_error(Code::kInvalid, "--master: it is missing, and this is not a pod (KUBERNETES_SERVICE_HOST)");
    const bool v6 = std::string_view(host).find(':') != std::string_view::npos;
    access.server = base::format("https://{}{}{}:{}", v6 ? "[" : "", host, v6 ? "]" : "", port ? port : "443");
  }
  if (!flags.ca_file.empty()) {
    auto pem = rt::read_bounded_file(flags.ca_file, kPemMax, base::seconds(5));
    if (!pem.ok()) return make_error(Code::kInvalid, "--certificate-authority: " + pem.error().message);
    access.ca_pem = *std::move(pem);
  }
  return access;
}

Result<std::optional<rt::ServerKeys>> keys_of(const ClusterUiFlags& flags) {
  if (flags.tls_cert_file.empty() != flags.tls_private_key_file.empty())
    return make_error(Code::kInvalid, "--tls-cert-file and --tls-private-key-file go together");
  if (flags.tls_cert_file.empty()) return std::optional<rt::ServerKeys>();
  auto certificate = rt::read_bounded_file(flags.tls_cert_file, kPemMax, base::seconds(5));
  if (!certificate.ok()) return make_error(Code::kInvalid, "--tls-cert-file: " + certificate.error().message);
  auto key = rt::read_bounded_file(flags.tls_private_key_file, kPemMax, base::seconds(5));
  if (!key.ok()) return make_error(Code::kInvalid, "--tls-private-key-file: " + key.error().message);
  return std::optional(rt::ServerKeys{*std::move(certificate), *std::move(key), {}});
}

// The secret that seals sessions: that of all replicas, or a random one of this process.
Result<std::string> session_secret_of(const ClusterUiFlags& flags) {
  if (flags.session_secret_file.empty()) return rt::seal(std::string(rt::kSealingKeyBytes, 'k'), "", "");
  auto secret = rt::read_bounded_file(flags.session_secret_file, kSecretMax, base::seconds(5));
  if (!secret.ok()) return make_error(Code::kInvalid, "--session-secret-file: " + secret.error().message);
  if (secret->size() < rt::kSealingKeyBytes)
    return make_error(Code::kInvalid, base::format("--session-secret-file: {} bytes are fewer than {}", secret->size(),
                                                   rt::kSealingKeyBytes));
  return secret;
}

// The user of a token, as the cluster says.
void identify(client::ServerConnection& connection, const std::string& token,
              const std::function<void(Result<ui::Visitor>)>& done) {
  rt::HttpRequest request{.method = "POST", .target = "/apis/authentication.k8s.io/v1/selfsubjectreviews"};
  request.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}};
  request.body = R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})";
  connection.complete(request);
  request.headers.emplace_back("Authorization", "Bearer " + token);
  connection.http().send(std::move(request), [done](Result<rt::HttpResponse> answer) {
    if (!answer.ok()) return done(make_error(Code::kUnavailable, "the API server: " + answer.error().message));
    if (answer->status == 401) return done(make_error(Code::kUnauthorized, "the cluster does not accept this token"));
    const auto review = api::parse_json(answer->body);
    if (answer->status >= 300 || !review.ok())
      return done(make_error(Code::kUnavailable, base::format("the API server answered {}", answer->status)));
    const api::Json& user = (*review)["status"]["userInfo"];
    if (user["username"].as_string().empty() || user["username"].as_string() == "system:anonymous")
      return done(make_error(Code::kUnauthorized, "the cluster does not accept this token"));
    done(ui::Visitor{user["username"].str(), {}, user["uid"].str()});
  });
}

class ClusterUi {
 public:
  base::Status start(const ClusterUiFlags& flags) {
    flags_ = flags;
    TRY(const External external, external_of(flags));
    TRY(const HostPort listen, parse_host_port(flags.address));
    TRY(const client::ServerAccess access, access_of(flags));
    TRY(const std::optional<rt::ServerKeys> keys, keys_of(flags));
    TRY(std::string secret, session_secret_of(flags));
    env_ = rt::make_real_env("ui");
    TRY_VOID(on_loop<base::Status>(*env_, [&](auto done) { done(connect(access, flags.scheduler_address)); }));
    ui::PageOptions page{.secret = std::move(secret), .tls = external.tls};
    if (!external.host.empty()) page.hosts.push_back(external.host);
    page.now = [env = env_.get()] { return env->now(); };
    page.loop = &env_->loop();
    page_ = std::make_shared<ui::PageServer>(std::move(page));
    ui::TokenLoginOptions login{.by_proxy = flags.login == "proxy"};
    login.identify = [this](const std::string& token, std::function<void(Result<ui::Visitor>)> done) {
      env_->loop().post([this, token, done = std::move(done)] { identify(*asking_, token, done); });
    };
    login_ = std::make_shared<ui::TokenLogin>(std::move(login), page_);
    rt::ServerOptions options{
        .address = listen.host.empty() ? "0.0.0.0" : listen.host, .port = listen.port, .tls = keys};
    TRY(server_,
        rt::listen_http(std::move(options), [this](rt::HttpRequest http, std::shared_ptr<rt::HttpExchange> to) {
          answer(std::move(http), std::move(to));
        }));
    in_use_ = keys ? keys->certificate_pem + keys->key_pem : "";
    if (keys) env_->loop().post([this] { look_at_keys(); });
    base::log_info("ui", base::format("the page of {} listens at port {}", access.server, server_->port()));
    return {};
  }

  void stop() {
    if (!env_) return;
    // The look at the keys uses the server, so it ends first.
    on_loop<bool>(*env_, [this](auto done) {
      if (keys_timer_ != 0) env_->loop().cancel(std::exchange(keys_timer_, 0));
      done(true);
    });
    server_.reset();
    on_loop<bool>(*env_, [this](auto done) {
      for (std::shared_ptr<Forwarder>* each : {&forwarder_, &to_scheduler_})
        if (const auto forwarder = std::exchange(*each, nullptr)) forwarder->end();
      asking_.reset();
      done(true);
    });
    env_->stop();
  }

 private:
  base::Status connect(const client::ServerAccess& access, const std::string& scheduler_address) {
    TRY(asking_, client::ServerConnection::open(access, "volcano-ui", *env_));
    TRY(auto forwarding, client::ServerConnection::open(access, "volcano-ui", *env_));
    forwarder_ = std::make_shared<Forwarder>(*env_, std::move(forwarding));
    if (scheduler_address.empty()) return {};
    if (!scheduler_address.starts_with("http://"))
      return make_error(Code::kInvalid,
                        base::format("--scheduler-address: {:?} is not http://HOST:PORT", scheduler_address));
    client::ServerAccess scheduler;
    scheduler.server = scheduler_address;
    auto asking = client::ServerConnection::open(scheduler, "volcano-ui", *env_);
    if (!asking.ok()) return base::within(asking.take_error(), "--scheduler-address");
    to_scheduler_ = std::make_shared<Forwarder>(*env_, *std::move(asking));
    return {};
  }

  // On an I/O thread.
  void answer(rt::HttpRequest http, std::shared_ptr<rt::HttpExchange> exchange) {
    const rt::Target target = rt::parse_target(http.target);
    if (target.path == "/healthz") return exchange->respond({200, {{"Content-Type", "text/plain"}}, "ok\n"});
    if (login_->serve(http, exchange)) return;
    const bool streams = target.path == "/ui/stream" && http.web_socket;
    if (ui::PageServer::has(target.path) && !streams) return page_->serve(http, std::nullopt, std::move(exchange));
    const auto session = page_->session_of(http);
    if (!session || !session->ok()) {
      const base::Error error = session ? session->error() : make_error(Code::kUnauthorized, "no session");
      return exchange->respond({base::http_status(error.code), {{"Content-Type", "text/plain"}}, error.message + "\n"});
    }
    const std::string token = login_->token_of(http, **session);
    if (target.path == kRehearsalPath && http.method == "POST" && to_scheduler_)
      return rehearse_on_cluster(http.body, sender_by(token), asker(), std::move(exchange));
    env_->loop().post([forwarder = forwarder_, streams, target, token, http = std::move(http), exchange] {
      if (!streams) return forwarder->forward(http, token, exchange);
      forwarder->stream(std::string(target.get("path")), std::string(target.get("accept")), token, exchange);
    });
  }

  SendAsUser sender_by(const std::string& token) {
    return [env = env_.get(), forwarder = forwarder_, token](rt::HttpRequest request,
                                                             std::shared_ptr<rt::HttpExchange> exchange) {
      env->loop().post([forwarder, token, request = std::move(request), exchange = std::move(exchange)] {
        forwarder->forward(request, token, exchange);
      });
    };
  }
  AskScheduler asker() {
    return [env = env_.get(), forwarder = to_scheduler_](std::string body, std::shared_ptr<rt::HttpExchange> exchange) {
      env->loop().post([forwarder, body = std::move(body), exchange = std::move(exchange)] {
        forwarder->forward(rehearsal_request(std::string(kRehearsalPath), body), "", exchange);
      });
    };
  }

  // The files of a mounted Secret change under a running program.
  void look_at_keys() {
    keys_timer_ = env_->loop().after(kKeysLook, [this] { look_at_keys(); });
    const auto keys = keys_of(flags_);
    if (!keys.ok() || !*keys) return;
    const std::string found = (*keys)->certificate_pem + (*keys)->key_pem;
    if (found == in_use_) return;
    if (const base::Status set = server_->set_keys(**keys); !set.ok())
      base::log_warning("ui", "the new files of keys are not used: " + set.error().message);
    in_use_ = found;
  }

  ClusterUiFlags flags_;
  std::unique_ptr<rt::RealEnv> env_;
  std::unique_ptr<client::ServerConnection> asking_;  // on the loop, as is the forwarder
  std::shared_ptr<Forwarder> forwarder_;
  std::shared_ptr<Forwarder> to_scheduler_;  // null without --scheduler-address
  std::shared_ptr<ui::PageServer> page_;
  std::shared_ptr<ui::TokenLogin> login_;
  std::unique_ptr<rt::HttpServer> server_;
  std::string in_use_;                // the keys; on the loop
  rt::Loop::TimerId keys_timer_ = 0;  // on the loop
};

int usage(const std::vector<base::Flag>& flags, int code) {
  (code == 0 ? std::cout : std::cerr)
      << "usage: volcano-ui [flags]   serve the page of a cluster to its users\n\nflags:\n"
      << base::flags_help(flags);
  return code;
}

}  // namespace

int run_cluster_ui(const Arguments& arguments) {
  ClusterUiFlags flags;
  const std::vector<base::Flag> all = rows(flags);
  if (base::asks_for_help(arguments)) return usage(all, 0);
  const auto words = base::parse_flags(all, arguments);
  const auto wrong = [](const std::string& message) {
    std::cerr << "volcano-ui: " << message << "\n";
    return 2;
  };
  if (!words.ok()) return wrong(words.error().message);
  if (!words->rest.empty()) return wrong(base::format("unexpected argument {:?}", words->rest.front()));
  if (flags.version) {
    std::cout << "volcano-ui " << kVersion << "\n";
    return 0;
  }
  if (flags.login != "token" && flags.login != "proxy")
    return wrong(base::format("--login: {:?} is none of token, proxy", flags.login));
  set_log_verbosity(flags.v);
  block_signals();
  signal(SIGPIPE, SIG_IGN);
  ClusterUi program;
  const base::Status started = program.start(flags);
  if (started.ok()) wait_for_end({});
  program.stop();
  if (started.ok()) return 0;
  std::cerr << "volcano-ui: " << started.error().message << "\n";
  return 1;
}

}  // namespace volcano_main
