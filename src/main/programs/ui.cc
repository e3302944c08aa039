// `volcano ui`: the page for any cluster, on loopback, with the user's own credentials; `volcano ui link`: another link
// to the page of `volcano up`.
#include <signal.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>

#include "api/json/json.h"
#include "base/flags.h"
#include "base/format.h"
#include "client/server_connection.h"
#include "main/host/component.h"
#include "main/host/connection.h"
#include "main/host/scheduler_host.h"
#include "main/page/page_access.h"
#include "main/programs.h"
#include "rt/http_server.h"
#include "rt/sealing.h"

namespace volcano_main {
namespace {

using base::Result;

struct UiFlags {
  std::string kubeconfig, master, as_user;
  int port = 8877;
};

std::vector<base::Flag> rows(UiFlags& flags) {
  return {{"kubeconfig", &flags.kubeconfig, "the cluster, and as whom (default: KUBECONFIG, or ~/.kube/config)"},
          {"master", &flags.master, "the address of the API server"},
          {"port", &flags.port, "where the page listens, on 127.0.0.1; 0: a free port"},
          {"as-user", &flags.as_user, "link: the user as whom the page acts (needs the right to impersonate)"}};
}

int usage(const std::vector<base::Flag>& flags, int code) {
  (code == 0 ? std::cout : std::cerr)
      << "usage: volcano ui [flags]        serve the page for a cluster on this machine's loopback\n"
         "       volcano ui link [flags]   another link to the page that volcano up serves\n\nflags:\n"
      << base::flags_help(flags);
  return code;
}

// Requests of the page, sent on as the kubeconfig's user. Everything on the loop of `env`.
class Forwarder : public std::enable_shared_from_this<Forwarder> {
 public:
  Forwarder(rt::Env& env, std::unique_ptr<client::ServerConnection> server) : env_(env), server_(std::move(server)) {}

  void forward(const rt::HttpRequest& http, std::shared_ptr<rt::HttpExchange> exchange) {
    rt::HttpRequest request{.method = http.method, .target = http.target, .headers = {}, .body = http.body};
    for (const char* name : {"Accept", "Content-Type"})
      if (const std::string_view value = rt::header(http.headers, name); !value.empty())
        request.headers.emplace_back(name, value);
    run(std::move(request), std::move(exchange),
        [](rt::HttpExchange& to, int status, const rt::Headers& headers) { to.start(status, kept(headers)); });
  }

  // A GET whose answer comes over a WebSocket: browsers open six connections to a server, and a page has more watches.
  // The first message is the status, the others are the answer's bytes.
  void stream(std::string path, std::string accept, std::shared_ptr<rt::HttpExchange> exchange) {
    exchange->start_web_socket({}, rt::HttpExchange::Messages::kBytes);
    rt::HttpRequest request{.method = "GET", .target = std::move(path), .headers = {{"Accept", std::move(accept)}}};
    run(std::move(request), std::move(exchange), [](rt::HttpExchange& to, int status, const rt::Headers&) {
      to.send_one(std::make_shared<const std::string>(base::format("{{\"status\":{}}}\n", status)));
    });
  }

 private:
  using Begin = void (*)(rt::HttpExchange& to, int status, const rt::Headers& headers);
  static constexpr std::size_t kBacklogMax = std::size_t{64} << 20;

  void run(rt::HttpRequest request, std::shared_ptr<rt::HttpExchange> exchange, Begin begin) {
    server_->complete(request);
    const std::uint64_t id = ++last_;
    exchange->on_closed([weak = weak_from_this(), id] {
      if (const auto self = weak.lock()) self->end_later(id);
    });
    const auto begun = std::make_shared<bool>(false);
    rt::HttpClient::StreamCallbacks callbacks;
    callbacks.on_start = [this, exchange, begun, begin](int status, const rt::Headers& headers) {
      if (status == 401) server_->refused();
      *begun = true;
      begin(*exchange, status, headers);
    };
    callbacks.on_data = [this, exchange, id](std::string_view bytes) {
      if (exchange->backlog_bytes() <= kBacklogMax)
        return exchange->send_one(std::make_shared<const std::string>(bytes));
      // A browser that reads nothing for so long asks again, from where it was.
      exchange->abandon();
      end_later(id);
    };
    callbacks.on_end = [this, exchange, begun, begin, id](base::Status ended) {
      if (!*begun) {
        begin(*exchange, 502, {{"Content-Type", "text/plain; charset=utf-8"}});
        exchange->send_one(
            std::make_shared<const std::string>(ended.ok() ? "no answer\n" : ended.error().message + "\n"));
        ended = {};
      }
      ended.ok() ? exchange->finish() : exchange->abandon();
      end_later(id);
    };
    streams_[id] = server_->http().stream(std::move(request), std::move(callbacks));
  }

  static rt::Headers kept(const rt::Headers& headers) {
    rt::Headers out = {{"X-Content-Type-Options", "nosniff"},
                       {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox"},
                       {"Cross-Origin-Resource-Policy", "same-origin"},
                       {"Cache-Control", "no-store"}};
    for (const char* name : {"Content-Type", "Warning", "Retry-After", "Audit-Id"})
      for (const std::string_view value : rt::all_headers(headers, name)) out.emplace_back(name, value);
    return out;
  }

  // A stream must not be destroyed by its own callback.
  void end_later(std::uint64_t id) {
    env_.loop().post([weak = weak_from_this(), id] {
      if (const auto self = weak.lock()) self->streams_.erase(id);
    });
  }

  rt::Env& env_;
  std::unique_ptr<client::ServerConnection> server_;
  std::map<std::uint64_t, std::unique_ptr<rt::HttpStream>> streams_;
  std::uint64_t last_ = 0;
};

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
  auto handler = [page = pages.page(), access = pages.access(), forwarder, &env](
                     rt::HttpRequest http, std::shared_ptr<rt::HttpExchange> exchange) {
    const rt::Target target = rt::parse_target(http.target);
    const bool streams = target.path == "/ui/stream" && http.web_socket;
    if (access->has(target.path) && !streams) return access->serve(http, std::nullopt, std::move(exchange));
    if (target.path == "/") return exchange->respond({303, {{"Location", "/ui/"}}, ""});
    const auto session = page->session_of(http);
    if (!session || !session->ok())
      return exchange->respond(
          refusal(session ? session->error() : base::make_error(base::Code::kUnauthorized, "no session")));
    env->loop().post([forwarder, streams, target, http = std::move(http), exchange] {
      if (!streams) return forwarder->forward(http, exchange);
      forwarder->stream(std::string(target.get("path")), std::string(target.get("accept")), exchange);
    });
  };
  auto server = rt::listen_http(std::move(options), handler);
  if (!server.ok()) {
    env->stop();
    return server.take_error();
  }
  const std::string address = base::format("http://127.0.0.1:{}", (*server)->port());
  std::cout << base::format("the page of {} is at\n\n  {}{}\n\nThe link is good once. Stop with Ctrl-C.\n",
                            access.server, address, pages.page()->new_link({"the user of the kubeconfig"}))
            << std::flush;
  wait_for_end({});
  server->reset();
  on_loop<bool>(*env, [&forwarder](auto done) {
    forwarder.reset();
    done(true);
  });
  env->stop();
  return {};
}

base::Status print_link(const UiFlags& flags) {
  TRY(const client::ServerAccess access, user_access(flags.kubeconfig, flags.master));
  auto env = rt::make_real_env("ui");
  TRY(auto connection, connect(access, *env));
  using Answer = Result<rt::HttpResponse>;
  const Answer answer = on_loop<Answer>(*env, [&](auto done) {
    rt::HttpRequest request{.method = "POST", .target = "/ui/link"};
    if (!flags.as_user.empty()) request.headers.emplace_back("Impersonate-User", flags.as_user);
    connection->complete(request);
    connection->http().send(std::move(request), [done](Answer found) { done(std::move(found)); });
  });
  on_loop<bool>(*env, [&connection](auto done) {
    connection.reset();
    done(true);
  });
  env->stop();
  if (!answer.ok()) return answer.error();
  if (answer->status != 200)
    return base::make_error(base::Code::kInvalid,
                            base::format("{} gives no link: {} {}", access.server, answer->status, answer->body));
  TRY(const api::Json body, api::parse_json(answer->body));
  std::string server = access.server;
  while (server.ends_with('/')) server.pop_back();
  std::cout << server << body["link"].as_string() << "\n";
  std::cerr << base::format("# acts as {}; good once, for an hour\n", body["user"].as_string());
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
  block_signals();
  signal(SIGPIPE, SIG_IGN);
  if (const base::Status done = link ? print_link(flags) : serve(flags); !done.ok()) {
    std::cerr << "volcano ui: " << done.error().message << "\n";
    return 1;
  }
  return 0;
}

}  // namespace volcano_main
