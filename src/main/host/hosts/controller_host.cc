// Controllers on a cluster, over HTTPS, under a lease.
#include "main/host/hosts/controller_host.h"

#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <iostream>

#include "base/format.h"
#include "base/log.h"
#include "cli/vcctl.h"
#include "client/election/leadership.h"
#include "client/http/http_client.h"
#include "client/without_patch.h"
#include "controllers/all.h"
#include "controllers/framework/execution.h"
#include "controllers/metrics.h"
#include "main/host/base/arguments.h"
#include "main/host/base/connection.h"
#include "main/host/base/end_answering.h"
#include "main/host/base/lease.h"
#include "main/host/base/log_setup.h"
#include "main/host/base/other_installation.h"
#include "main/host/base/server_version.h"
#include "main/host/base/side_server.h"
#include "main/host/base/version.h"
#include "main/host/flags/controller_flags.h"
#include "rt/loop_pulse.h"
#include "scheduler/model/core/feature_gates.h"

namespace volcano_main {
namespace {

constexpr base::Duration kAskAgain = base::seconds(1);
constexpr std::chrono::seconds kDrainWait{14};

struct Program {
  const ControllerProgram& kind;
  std::string name;
  ControllerFlags flags;
  std::unique_ptr<rt::RealEnv> env;
  std::unique_ptr<client::Leadership> leadership;  // before the client, which asks it before each write
  std::unique_ptr<client::Client> client;
  std::unique_ptr<client::Client> unfenced_client;         // for what followers write, too
  std::shared_ptr<int> writes = std::make_shared<int>(0);  // that have no answer yet
  std::unique_ptr<TrainingWebhook> webhook;
  std::set<api::ResourceId> absent;  // of what the server was asked for
  bool begun = false;
  bool ending = false;
  base::Metrics metrics;
  std::unique_ptr<controllers::Manager> manager;
  std::unique_ptr<OtherInstallations> others;
  std::unique_ptr<ServerVersion> server_version;

  // On the loop. Ready is who leads and has seen everything, and who follows another that leads.
  std::string why_not_ready() const {
    if (ending) return "it ends";
    if (!begun) return webhook ? webhook->why_not_ready() : "the server has not said what it serves";
    if (leadership && !leadership->is_leader()) return leadership->has_seen_leader() ? "" : "no leader has been seen";
    return manager->synced() ? "" : "the first lists are not complete";
  }

  base::Status start(const client::ServerAccess& access) {
    client::HttpClientOptions to_server{.access = access,
                                        .user_agent = name,
                                        .field_manager = name,
                                        .requests_per_second = flags.kube_api_qps,
                                        .burst = flags.kube_api_burst,
                                        .in_flight_max = flags.kube_api_qps > 0 ? 0 : client::kFairInFlight};
    if (flags.leader_elect) {
      TRY(client::LeaderElectionOptions lease, flags.lease());
      TRY(leadership, lead(*env, name, access, std::move(lease)));
      if (kind.webhook) {
        TRY(unfenced_client,
            client::make_http_client({.access = access, .user_agent = name, .field_manager = name}, *env));
      }
      to_server.may_write = leadership->fence();
      to_server.writes_under_way = writes;
    }
    TRY(auto direct, client::make_http_client(std::move(to_server), *env));
    client = client::make_client_without_patch(std::move(direct));
    look_for_others(access);
    server_version = std::make_unique<ServerVersion>(*env, name);
    server_version->start(access);
    ask(0);
    return {};
  }

  void look_for_others(const client::ServerAccess& access) {
    if (kind.app.empty()) return;
    others = std::make_unique<OtherInstallations>(
        *env, *client,
        OtherInstallationOptions{
            .program = name,
            .app = kind.app,
            .ns = own_namespace(access, flags.installation().lease_namespace),
            .own = flags.installation(),
            .read = [this](const std::vector<std::string>& arguments) -> std::optional<Installation> {
              ControllerFlags theirs;
              if (kind.preset) kind.preset(theirs);
              if (!base::parse_flags(theirs.rows(), arguments).ok()) return std::nullopt;
              return theirs.installation();
            }});
    others->start();
  }

  // A kind that the server does not serve now may be installed later; then the program is started again.
  void ask(std::size_t at) {
    if (at == kind.asked_for.size()) return learn();
    client->call({.verb = client::Verb::kList,
                  .resource = kind.asked_for[at],
                  .ns = flags.only_namespace,
                  .name = {},
                  .subresource = {},
                  .limit = 1},
                 [this, at](base::Result<api::Json> answer) {
                   const base::Code code = answer.ok() ? base::Code() : answer.error().code;
                   if (!answer.ok() && controllers::is_outage(answer.error())) {
                     base::log_warning(name, answer.error().message);
                     env->loop().after(kAskAgain, [this, at] { ask(at); });
                     return;
                   }
                   if (!answer.ok() && code == base::Code::kNotFound) absent.insert(kind.asked_for[at]);
                   ask(at + 1);
                 });
  }

  void learn() {
    if (kind.learn)
      if (const base::Status learned = kind.learn(flags, absent); !learned.ok()) end(learned.error().message);
    const auto wanted = kind.webhook ? kind.webhook() : std::nullopt;
    if (!wanted) return begin();
    webhook = std::make_unique<TrainingWebhook>(*env, unfenced_client ? *unfenced_client : *client, *wanted);
    webhook->start([this] { begin(); });
  }

  [[noreturn]] void end(const std::string& why) const {
    std::cerr << name << ": " << why << "\n";
    std::_Exit(1);
  }

  void begin() {
    begun = true;
    controllers::Options options = flags.controllers();
    options.metrics = &metrics;
    options.only_namespace = flags.only_namespace;
    manager = std::make_unique<controllers::Manager>(*env, *client, options);
    if (!leadership) return manager->start();
    manager->stand_by();
    leadership->start([this] { manager->start(); }, end_without_lease);
  }
};

// From any thread but the loop's.
std::string ask(Program& program) {
  auto answer = std::make_shared<std::promise<std::string>>();
  program.env->loop().post([&program, answer] { answer->set_value(program.why_not_ready()); });
  auto future = answer->get_future();
  return future.wait_for(std::chrono::seconds(1)) == std::future_status::ready ? future.get() : "the loop stands still";
}

base::Status start_side_servers(Program& program, std::vector<std::unique_ptr<rt::HttpServer>>& servers) {
  const ControllerFlags& flags = program.flags;
  if (flags.enable_healthz) {
    TRY(auto server, start_side_server({.address = flags.healthz_address,
                                        .ca_cert_file = flags.ca_cert_file,
                                        .tls_cert_file = flags.tls_cert_file,
                                        .tls_private_key_file = flags.tls_private_key_file,
                                        .metrics = {},
                                        .healthz = true,
                                        .stands_still = rt::loop_pulse(*program.env, kLoopStillMax),
                                        .not_ready = [&program] {
                                          const std::string why = ask(program);
                                          const std::string& what = program.kind.not_ready;
                                          return why.empty() || what.empty() ? why : what + ": " + why;
                                        }}));
    servers.push_back(std::move(server));
  }
  if (flags.enable_metrics) {
    TRY(auto server, start_side_server({.address = flags.listen_address,
                                        .ca_cert_file = {},
                                        .tls_cert_file = {},
                                        .tls_private_key_file = {},
                                        .metrics = [&program] { return program.metrics.text(); }}));
    servers.push_back(std::move(server));
  }
  return {};
}

// The webhook's callers must not notice the end; the controllers go on meanwhile.
void drain_webhook(Program& program) {
  if (!program.kind.webhook) return;
  const auto drained = std::make_shared<std::promise<void>>();
  program.env->loop().post([&program, drained] {
    program.ending = true;
    if (!program.webhook) return drained->set_value();
    program.webhook->drain([drained] { drained->set_value(); });
  });
  drained->get_future().wait_for(kDrainWait);  // longer only where the loop stands still
}

int fail(const std::string& name, const base::Error& error) {
  std::cerr << name << ": " << error.message << "\n";
  return 1;
}

std::vector<base::Flag> rows_of(ControllerFlags& flags, const ControllerProgram& kind) {
  std::vector<base::Flag> rows = flags.rows();
  if (!kind.flags.empty())
    std::erase_if(rows, [&](const base::Flag& row) {
      const auto named = [&row](const auto& other) { return std::string_view(other) == row.name; };
      const auto has_name_of = [&row](const base::Flag& other) { return other.name == row.name; };
      return std::ranges::none_of(kind.flags, named) && std::ranges::none_of(base::klog_flags(), has_name_of);
    });
  rows.insert(rows.end(), kind.own_flags.begin(), kind.own_flags.end());
  return rows;
}

}  // namespace

int run_controllers(const ControllerProgram& kind, const Arguments& arguments) {
  Program program{.kind = kind, .name = kind.name};
  if (kind.preset) kind.preset(program.flags);
  program.metrics.add(controllers::metric_rows());
  const std::vector<base::Flag> rows = rows_of(program.flags, kind);
  if (base::asks_for_help(arguments))
    return std::cout << "Usage: " << kind.name << " [flags]\n\n" << base::flags_help(rows), 0;
  const auto words = base::parse_flags(rows, arguments);
  if (!words.ok()) return fail(kind.name, words.error());
  program.flags.names_controllers = words->has("controllers");
  program.flags.names_qps = words->has("kube-api-qps");
  if (kind.settle)
    if (const base::Status settled = kind.settle(program.flags); !settled.ok()) return fail(kind.name, settled.error());
  if (const auto gates = scheduler::FeatureGates::parse(program.flags.feature_gates); !gates.ok())
    return fail(kind.name, gates.error());
  if (program.flags.version) return std::cout << cli::version_block(kVersion), 0;
  if (const base::Status valid = program.flags.check(); !valid.ok()) return fail(kind.name, valid.error());
  if (kind.check)
    if (const base::Status valid = kind.check(program.flags); !valid.ok()) return fail(kind.name, valid.error());
  if (const base::Status log = set_up_log(program.flags.v, program.flags.log_format); !log.ok())
    return fail(kind.name, log.error());
  if (const auto gates = scheduler::FeatureGates::parse(program.flags.feature_gates); gates.ok())
    for (const std::string& warning : gates->warnings()) base::log_warning("controllers", warning);
  auto access = server_access(program.flags.kubeconfig, program.flags.master);
  if (!access.ok()) return fail(kind.name, access.error());
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  program.env = rt::make_real_env("controllers");
  std::promise<base::Status> started;
  program.env->loop().post([&] { started.set_value(program.start(*access)); });
  if (const base::Status status = started.get_future().get(); !status.ok()) return fail(kind.name, status.error());
  std::vector<std::unique_ptr<rt::HttpServer>> servers;
  if (const base::Status status = start_side_servers(program, servers); !status.ok())
    std::_Exit(fail(kind.name, status.error()));
  std::shared_ptr<void> beside;
  if (kind.beside) {
    auto served = kind.beside(*access);
    if (!served.ok()) std::_Exit(fail(kind.name, served.error()));
    beside = *std::move(served);
  }
  // Configuration comes from ConfigMaps that are watched: there is nothing to read again at SIGHUP.
  for (int signal = SIGHUP; signal == SIGHUP;) sigwait(&set, &signal);
  beside.reset();
  drain_webhook(program);
  end_answering(servers, kLastProbesMax);
  servers.clear();
  end_under_lease(*program.env, program.leadership, program.writes, [&] {
    program.others.reset();
    program.server_version.reset();
    program.manager.reset();
    program.webhook.reset();
    program.client.reset();
    program.unfenced_client.reset();
  });
  return 0;
}

}  // namespace volcano_main
