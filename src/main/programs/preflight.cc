// `volcano preflight`: may this take the place of Volcano on a cluster, and what would change?
#include "main/host/preflight/preflight.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <iostream>

#include "api/json/json.h"
#include "base/flags.h"
#include "base/format.h"
#include "cli/text/terminal_text.h"
#include "client/http/server_connection.h"
#include "client/http/wire.h"
#include "main/host/base/connection.h"
#include "main/host/base/waiting_api.h"
#include "main/programs/programs.h"

namespace volcano_main {
namespace {

struct PreflightFlags {
  std::string kubeconfig, master, scheduler_conf, ns = "volcano-system", release = "volcano";
  std::vector<std::string> programs;
  bool service_accounts = false;

  std::vector<base::Flag> rows() {
    return {
        {"kubeconfig", &kubeconfig, "kubeconfig of the account that asks"},
        {"master", &master, "API server URL, overrides the kubeconfig"},
        {"scheduler-conf", &scheduler_conf, "configuration of the scheduler; empty: that of the installation"},
        {"namespace", &ns, "namespace of the installation"},
        {"release", &release, "name of the Helm release"},
        {"program", &programs,
         "ask for the rights of this one: scheduler, controllers, admission, agent-scheduler, hypernode-controller, "
         "kubeflow-controllers or agent (of nodes); may be repeated"},
        {"service-accounts", &service_accounts,
         "ask for the rights of the installation's accounts, not for those of who asks"}};
  }
};

int fail(const std::string& message) {
  std::cerr << "volcano preflight: " << cli::for_terminal(message) << "\n";
  return 2;
}

// Asks for what a client does not give: /version, which is not a resource, and objects as they are stored, of which it
// leaves out those that make no sense.
class Server {
 public:
  static base::Result<std::unique_ptr<Server>> open(const client::ServerAccess& access) {
    auto server = std::make_unique<Server>();
    std::promise<base::Status> opened;
    server->env_->loop().post([&] {
      auto connection = client::ServerConnection::open(access, "volcano", *server->env_);
      if (connection.ok()) server->connection_ = *std::move(connection);
      opened.set_value(connection.ok() ? base::Status() : base::Status(connection.error()));
    });
    TRY_VOID(opened.get_future().get());
    return server;
  }
  Server() : env_(rt::make_real_env("preflight")) {}
  ~Server() {
    env_->loop().post([this] { connection_.reset(); });
    env_->stop();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  base::Result<api::Json> version() {
    rt::HttpRequest request;
    request.method = "GET";
    request.target = "/version";
    return send(std::move(request));
  }
  base::Result<api::Json> call(const client::Request& request) { return send(client::encode_request(request, {})); }

 private:
  base::Result<api::Json> send(rt::HttpRequest request) {
    std::promise<base::Result<api::Json>> answer;
    env_->loop().post([&] {
      connection_->complete(request);
      connection_->http().send(std::move(request), [&answer](base::Result<rt::HttpResponse> response) {
        if (!response.ok()) return answer.set_value(response.take_error());
        answer.set_value(client::decode_response(*response));
      });
    });
    return answer.get_future().get();
  }

  std::unique_ptr<rt::RealEnv> env_;
  std::unique_ptr<client::ServerConnection> connection_;
};

int print(const Findings& findings) {
  constexpr std::pair<Finding::Level, std::string_view> kWords[] = {{Finding::Level::kGood, "ok      "},
                                                                    {Finding::Level::kChange, "change  "},
                                                                    {Finding::Level::kProblem, "problem "}};
  int problems = 0;
  for (const Finding& finding : findings) {
    for (const auto& [level, word] : kWords)
      if (level == finding.level) std::cout << word << cli::for_terminal(finding.text) << "\n";
    problems += finding.level == Finding::Level::kProblem ? 1 : 0;
  }
  std::cout << (problems == 0 ? "go on\n" : base::format("do not go on: {} problems\n", problems));
  return problems == 0 ? 0 : 1;
}

}  // namespace

int run_preflight(const Arguments& arguments) {
  PreflightFlags flags;
  const std::vector<base::Flag> rows = flags.rows();
  if (base::asks_for_help(arguments))
    return std::cout
               << "usage: volcano preflight [flags]\n\nExit code 0: go on; 1: something is missing; 2: the cluster "
                  "cannot be asked.\n\nflags:\n"
               << base::flags_help(rows),
           0;
  const auto words = base::parse_flags(rows, arguments);
  if (!words.ok()) return fail(words.error().message);
  if (!words->rest.empty()) return fail(base::format("unexpected argument \"{}\"", words->rest.front()));
  for (const std::string& program : flags.programs)
    if (std::ranges::find(kPreflightPrograms, program) == std::end(kPreflightPrograms))
      return fail(
          base::format("--program: \"{}\" is none of scheduler, controllers, admission, agent-scheduler, "
                       "hypernode-controller, kubeflow-controllers, agent",
                       program));
  const auto access = user_access(flags.kubeconfig, flags.master);
  if (!access.ok()) return fail(access.error().message);
  const auto server = Server::open(*access);
  if (!server.ok()) return fail(server.error().message);
  const auto version = (*server)->version();
  if (!version.ok()) return fail(version.error().message);
  auto api = open_waiting_api(flags.kubeconfig, flags.master);
  if (!api.ok()) return fail(api.error().message);
  const PreflightOptions options{.ns = flags.ns,
                                 .release = flags.release,
                                 .programs = flags.programs,
                                 .service_accounts = flags.service_accounts,
                                 .config_file = flags.scheduler_conf};
  const base::Time now{
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count()};
  Findings findings;
  check_version(*version, findings);
  check_crds(
      **api, [&](const client::Request& request) { return (*server)->call(request); }, findings);
  check_rights(**api, options, findings);
  check_webhooks(**api, options, findings);
  check_programs(**api, options, now, findings);
  check_configuration(**api, options, findings);
  check_controller_configuration(**api, options, findings);
  check_admission_configuration(**api, options, findings);
  return print(findings);
}

}  // namespace volcano_main
