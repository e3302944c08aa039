// `volcano ui`: the page for any cluster, on loopback, with the user's own credentials; `volcano ui link`: another link
// to the page of `volcano up`.
#include <signal.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>

#include "base/flags.h"
#include "base/format.h"
#include "client/http/server_connection.h"
#include "main/host/base/component.h"
#include "main/host/base/connection.h"
#include "main/host/base/page_link.h"
#include "main/host/hosts/scheduler_host.h"
#include "main/host/rehearsal/cluster_rehearsal.h"
#include "main/page/forwarder.h"
#include "main/page/page_access.h"
#include "main/programs/programs.h"
#include "rt/http/server/http_server.h"
#include "rt/tls/sealing.h"

namespace volcano_main {
namespace {

using base::Result;

struct UiFlags {
  std::string kubeconfig, master, as_user, scheduler_service = "volcano-system/volcano-scheduler-service:8080";
  int port = 8877;
};

std::vector<base::Flag> rows(UiFlags& flags) {
  return {{"kubeconfig", &flags.kubeconfig, "the cluster, and as whom (default: KUBECONFIG, or ~/.kube/config)"},
          {"master", &flags.master, "the address of the API server"},
          {"port", &flags.port, "where the page listens, on 127.0.0.1; 0: a free port"},
          {"scheduler-service", &flags.scheduler_service,
           "NAMESPACE/NAME:PORT of a scheduler with --enable-rehearsal, which says what it would do with workloads "
           "before they are submitted"},
          {"as-user", &flags.as_user, "link: the user as whom the page acts (needs the right to impersonate)"}};
}

// NAMESPACE/NAME:PORT, whose parts stand in a path of the API.
bool is_service(std::string_view text) {
  const std::size_t slash = text.find('/'), colon = text.find(':');
  const bool has_parts =
      slash != text.npos && slash > 0 && colon != text.npos && colon > slash + 1 && colon + 1 < text.size();
  return has_parts && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.:/") == text.npos &&
         text.find('/', slash + 1) == text.npos && text.find("..") == text.npos;
}

int usage(const std::vector<base::Flag>& flags, int code) {
  (code == 0 ? std::cout : std::cerr)
      << "usage: volcano ui [flags]        serve the page for a cluster on this machine's loopback\n"
         "       volcano ui link [flags]   another link to the page that volcano up serves\n\nflags:\n"
      << base::flags_help(flags);
  return code;
}

rt::HttpResponse refusal(const base::Error& error) {
  return {base::http_status(error.code), {{"Content-Type", "text/plain; charset=utf-8"}}, error.message + "\n"};
}

Result<std::unique_ptr<client::ServerConnection>> connect(const client::ServerAccess& access, rt::Env& env) {
  Result<std::unique_ptr<client::ServerConnection>> out = base::make_error(base::Code::kInternal, "");
  on_loop<bool>(env, [&](auto done) {
    out = client::ServerConnection::open(access, "volcano-ui", env);
    done(true);
  });
  return out;
}

base::Status serve(const UiFlags& flags) {
  TRY(const client::ServerAccess access, user_access(flags.kubeconfig, flags.master));
  auto env = rt::make_real_env("ui");
  TRY(auto connection, connect(access, *env));
  auto forwarder = std::make_shared<Forwarder>(*env, std::move(connection));
  // Sessions end with the program: its seal is made of random bytes.
  rt::ServerOptions options{.address = "127.0.0.1", .port = static_cast<std::uint16_t>(flags.port)};
  PageHost pages({.secret = rt::seal(std::string(rt::kSealingKeyBytes, 'k'), "", ""), .tls = false}, *env);
  const auto send = [forwarder, &env](rt::HttpRequest http, std::shared_ptr<rt::HttpExchange> exchange) {
    env->loop().post([forwarder, http = std::move(http), exchange = std::move(exchange)] {
      forwarder->forward(http, "", exchange);
    });
  };
  auto handler = [page = pages.page(), access = pages.access(), forwarder, &env, send,
                  service = flags.scheduler_service](rt::HttpRequest http, std::shared_ptr<rt::HttpExchange> exchange) {
    const rt::Target target = rt::parse_target(http.target);
    const bool streams = target.path == "/ui/stream" && http.web_socket;
    if (access->has(target.path) && !streams) return access->serve(http, std::nullopt, std::move(exchange));
    if (target.path == "/") return exchange->respond({303, {{"Location", "/ui/"}}, ""});
    const auto session = page->session_of(http);
    if (!session || !session->ok())
      return exchange->respond(
          refusal(session ? session->error() : base::make_error(base::Code::kUnauthorized, "no session")));
    if (target.path == kRehearsalPath && http.method == "POST")
      return rehearse_through_server(http.body, send, service, std::move(exchange));
    if (!streams) return send(std::move(http), std::move(exchange));
    env->loop().post([forwarder, target, exchange] {
      forwarder->stream(std::string(target.get("path")), std::string(target.get("accept")), "", exchange);
    });
  };
  auto server = rt::listen_http(std::move(options), handler);
  if (!server.ok()) {
    env->stop();
    return server.take_error();
  }
  pages.begin(
      [forwarder, &env](const ui::Visitor&, rt::HttpRequest http, bool, std::shared_ptr<rt::HttpExchange> exchange) {
        env->loop().post(
            [forwarder, http = std::move(http), exchange = std::move(exchange)] { forwarder->relay(http, exchange); });
      },
      (*server)->port());
  const std::string address = base::format("http://127.0.0.1:{}", (*server)->port());
  std::cout << base::format("the page of {} is at\n\n  {}{}\n\nThe link is good once. Stop with Ctrl-C.\n",
                            access.server, address, pages.page()->new_link({"the user of the kubeconfig"}))
            << std::flush;
  wait_for_end({});
  server->reset();
  on_loop<bool>(*env, [&](auto done) {
    pages.end();
    forwarder->end();
    forwarder.reset();
    done(true);
  });
  env->stop();
  return {};
}

base::Status print_link(const UiFlags& flags) {
  TRY(const client::ServerAccess access, user_access(flags.kubeconfig, flags.master));
  TRY(const PageLink link, page_link(access, flags.as_user, ""));
  std::cout << link.url << "\n";
  std::cerr << base::format("# acts as {}; good once, for an hour\n", link.user);
  return {};
}

}  // namespace

int run_ui(const Arguments& arguments) {
  UiFlags flags;
  const std::vector<base::Flag> all = rows(flags);
  if (base::asks_for_help(arguments)) return usage(all, 0);
  const auto words = base::parse_flags(all, arguments);
  if (!words.ok()) {
    std::cerr << "volcano ui: " << words.error().message << "\n";
    return 2;
  }
  const bool link = words->rest == std::vector<std::string>{"link"};
  if (!words->rest.empty() && !link) {
    std::cerr << base::format("volcano ui: unexpected argument {:?}\n", words->rest.front());
    return usage(all, 2);
  }
  if (flags.port < 0 || flags.port > 65535) {
    std::cerr << base::format("volcano ui: --port: {} is not a port\n", flags.port);
    return 2;
  }
  if (!is_service(flags.scheduler_service)) {
    std::cerr << base::format("volcano ui: --scheduler-service: {:?} is not NAMESPACE/NAME:PORT\n",
                              flags.scheduler_service);
    return 2;
  }
  block_signals();
  signal(SIGPIPE, SIG_IGN);
  if (const base::Status done = link ? print_link(flags) : serve(flags); !done.ok()) {
    std::cerr << "volcano ui: " << done.error().message << "\n";
    return 1;
  }
  return 0;
}

}  // namespace volcano_main
