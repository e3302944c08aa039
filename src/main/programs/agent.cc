// vc-agent: co-location on one node of a cluster.
#include <signal.h>

#include <future>
#include <iostream>

#include "base/format.h"
#include "base/log.h"
#include "cli/vcctl.h"
#include "client/http/http_client.h"
#include "colocation/metrics.h"
#include "main/colocation/agent_flags.h"
#include "main/host/base/connection.h"
#include "main/host/base/end_answering.h"
#include "main/host/base/log_setup.h"
#include "main/host/base/side_server.h"
#include "main/host/base/version.h"
#include "main/programs/programs.h"
#include "rt/loop_pulse.h"

namespace volcano_main {
namespace {

struct Program {
  std::unique_ptr<rt::RealEnv> env;
  std::unique_ptr<client::Client> client;
  std::unique_ptr<colocation::Agent> agent;
  base::Metrics metrics;
  std::unique_ptr<rt::HttpServer> server;

  base::Status start(const client::ServerAccess& access, colocation::AgentOptions options) {
    TRY(client,
        client::make_http_client({.access = access, .user_agent = "vc-agent", .field_manager = "vc-agent"}, *env));
    options.metrics = &metrics;
    agent = std::make_unique<colocation::Agent>(*env, *client, std::move(options));
    agent->start();
    return {};
  }

  template <class T>
  T on_loop(std::function<T()> ask) {
    std::promise<T> answer;
    env->loop().post([&] { answer.set_value(ask()); });
    return answer.get_future().get();
  }

  base::Status serve(const AgentFlags& flags) {
    SideServerOptions options{.address = base::format("{}:{}", flags.healthz_address, flags.healthz_port),
                              .metrics = [this] { return metrics.text(); },
                              .healthz = true,
                              .stands_still = rt::loop_pulse(*env, kLoopStillMax)};
    options.not_ready = [this] { return on_loop<std::string>([this] { return agent->trouble(); }); };
    options.pages["/debug/colocation"] = [this](std::function<void(std::string)> answer) {
      env->loop().post([this, answer = std::move(answer)] { answer(agent->report().pretty() + "\n"); });
    };
    TRY(server, start_side_server(options));
    return {};
  }

  void end() {
    end_answering(std::array{server.get()}, kLastProbesMax);
    server.reset();
    std::promise<void> stopped;
    env->loop().post([&] { agent->stop([&stopped] { stopped.set_value(); }); });
    stopped.get_future().wait();
    on_loop<bool>([this] {
      agent.reset();
      client.reset();
      return true;
    });
    env->stop();
  }
};

int fail(const base::Error& error) {
  std::cerr << "vc-agent: " << error.message << "\n";
  return 1;
}

}  // namespace

int run_agent(const Arguments& arguments) {
  AgentFlags flags;
  const std::vector<base::Flag> rows = flags.rows();
  if (base::asks_for_help(arguments)) return std::cout << "Usage: vc-agent [flags]\n\n" << base::flags_help(rows), 0;
  const std::vector<std::string> usual = std::exchange(flags.features, {});
  const auto words = base::parse_flags(rows, arguments);
  if (!words.ok()) return fail(words.error());
  if (!words->has("supported-features")) flags.features = usual;
  if (flags.version) return std::cout << cli::version_block(kVersion), 0;
  if (const base::Status valid = flags.check(); !valid.ok()) return fail(valid.error());
  if (const base::Status log = set_up_log(flags.v, flags.log_format); !log.ok()) return fail(log.error());
  auto access = server_access(flags.kubeconfig, flags.master);
  if (!access.ok()) return fail(access.error());
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  Program program;
  program.metrics.add(colocation::metric_rows());
  program.env = rt::make_real_env("vc-agent");
  const base::Status started = program.on_loop<base::Status>([&] { return program.start(*access, flags.options()); });
  if (!started.ok()) return fail(started.error());
  if (const base::Status served = program.serve(flags); !served.ok()) std::_Exit(fail(served.error()));
  for (int signal = SIGHUP; signal == SIGHUP;) sigwait(&set, &signal);
  program.end();
  return 0;
}

}  // namespace volcano_main
