// vc-controller-manager: the controllers on a cluster, over HTTPS, under a lease.
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <future>
#include <iostream>

#include "base/format.h"
#include "base/log.h"
#include "cli/vcctl.h"
#include "client/http_client.h"
#include "client/leader_election.h"
#include "client/without_patch.h"
#include "controllers/all.h"
#include "controllers/metrics.h"
#include "main/host/connection.h"
#include "main/host/controller_flags.h"
#include "main/host/side_server.h"
#include "main/host/version.h"
#include "main/programs.h"
#include "scheduler/model/core/feature_gates.h"

namespace volcano_main {
namespace {

struct Program {
  ControllerFlags flags;
  std::unique_ptr<rt::RealEnv> env;
  std::unique_ptr<client::Client> client;
  std::unique_ptr<client::LeaderElection> election;
  base::Metrics metrics;
  std::unique_ptr<controllers::Manager> manager;

  void lead() {
    controllers::Options options = flags.controllers();
    options.metrics = &metrics;
    manager = std::make_unique<controllers::Manager>(*env, *client, options);
    manager->start();
  }

  base::Status start(const client::ServerAccess& access) {
    TRY(auto direct, client::make_http_client({.access = access,
                                               .user_agent = "vc-controller-manager",
                                               .field_manager = "vc-controller-manager",
                                               .requests_per_second = flags.requests_per_second(),
                                               .burst = flags.kube_api_burst},
                                              *env));
    client = client::make_client_without_patch(std::move(direct));
    if (!flags.leader_elect) return lead(), base::Status();
    char host[256] = "localhost";
    gethostname(host, sizeof host - 1);
    TRY(client::LeaderElectionOptions lease, flags.lease());
    lease.identity = base::format("{}_{}", host, env->random().uuid());
    election = std::make_unique<client::LeaderElection>(*client, *env, std::move(lease));
    election->start([this] { lead(); },
                    [] {
                      std::cerr << "leaderelection lost\n";
                      std::_Exit(1);
                    });
    return {};
  }
};

base::Status start_side_servers(Program& program, std::vector<std::unique_ptr<rt::HttpServer>>& servers) {
  const ControllerFlags& flags = program.flags;
  if (flags.enable_healthz) {
    TRY(auto server, start_side_server({.address = flags.healthz_address,
                                        .ca_cert_file = flags.ca_cert_file,
                                        .tls_cert_file = flags.tls_cert_file,
                                        .tls_private_key_file = flags.tls_private_key_file,
                                        .metrics = {},
                                        .healthz = true}));
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

int fail(const base::Error& error) {
  std::cerr << "vc-controller-manager: " << error.message << "\n";
  return 1;
}

}  // namespace

int run_controller_manager(const Arguments& arguments) {
  Program program;
  program.metrics.add(controllers::metric_rows());
  const std::vector<Flag> rows = program.flags.rows();
  for (const std::string& word : arguments)
    if (word == "--help" || word == "-h")
      return std::cout << "Usage: vc-controller-manager [flags]\n\n" << flags_help(rows), 0;
  if (const auto rest = parse_flags(rows, ControllerFlags::in_long_form(arguments)); !rest.ok())
    return fail(rest.error());
  if (program.flags.version) return std::cout << cli::version_block(kVersion), 0;
  if (const base::Status valid = program.flags.check(); !valid.ok()) return fail(valid.error());
  if (program.flags.v >= 4) base::configure_log(base::LogLevel::kDebug, base::LogFormat::kText);
  if (const auto gates = scheduler::FeatureGates::parse(program.flags.feature_gates); gates.ok())
    for (const std::string& warning : gates->warnings()) base::log_warning("controllers", warning);
  auto access = server_access(program.flags.kubeconfig, program.flags.master);
  if (!access.ok()) return fail(access.error());
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  program.env = rt::make_real_env("controllers");
  std::promise<base::Status> started;
  program.env->loop().post([&] { started.set_value(program.start(*access)); });
  if (const base::Status status = started.get_future().get(); !status.ok()) return fail(status.error());
  std::vector<std::unique_ptr<rt::HttpServer>> servers;
  if (const base::Status status = start_side_servers(program, servers); !status.ok()) std::_Exit(fail(status.error()));
  int signal = 0;
  sigwait(&set, &signal);
  servers.clear();
  std::promise<void> stopped;
  program.env->loop().post([&] {
    const auto finish = [&] {
      program.manager.reset();
      program.election.reset();
      program.client.reset();
      stopped.set_value();
    };
    if (program.election && program.election->is_leader())
      program.election->release(finish);
    else
      finish();
  });
  stopped.get_future().wait_for(std::chrono::seconds(2));
  program.env->stop();
  return 0;
}

}  // namespace volcano_main
