// vc-scheduler and vc-agent-scheduler: the schedulers on a cluster, over HTTPS.
#include "scheduler/scheduler.h"

#include <cstdlib>
#include <filesystem>
#include <future>
#include <iostream>

#include "base/format.h"
#include "base/log.h"
#include "cli/vcctl.h"
#include "client/election/leadership.h"
#include "client/http/http_client.h"
#include "client/without_patch.h"
#include "main/host/base/config_file.h"
#include "main/host/base/connection.h"
#include "main/host/base/end_answering.h"
#include "main/host/base/lease.h"
#include "main/host/base/log_level_socket.h"
#include "main/host/base/log_setup.h"
#include "main/host/base/other_installation.h"
#include "main/host/base/server_version.h"
#include "main/host/base/side_server.h"
#include "main/host/base/version.h"
#include "main/host/flags/controller_flags.h"
#include "main/host/hosts/scheduler_host.h"
#include "main/host/rehearsal/question.h"
#include "main/host/rehearsal/rehearsal_desk.h"
#include "main/programs/programs.h"
#include "rt/loop_pulse.h"
#include "scheduler/metrics.h"

namespace volcano_main {
namespace {

// Every program that reaches the debug pages may ask. The pause keeps the cost for the scheduler small.
constexpr base::Duration kRehearsalPause = base::seconds(1);

Installation installation_of(const scheduler::Options& options) {
  return {.scheduler_names = options.names(),
          .elects = options.leader_elect,
          .lease_namespace = options.lease_namespace,
          .lease_name = options.lease_name,
          .shares = options.sharding_mode != "none" || !options.node_selector.empty() || options.share_members > 1};
}

client::LeaderElectionOptions lease_of(const scheduler::Options& options, std::string identity) {
  return {.ns = options.lease_namespace,
          .name = options.lease_name,
          .identity = std::move(identity),
          .lease_duration = options.lease_duration,
          .renew_deadline = options.renew_deadline,
          .retry_period = options.retry_period};
}

base::Status check(const scheduler::Options& options) {
  TRY_VOID(options.check());
  return options.leader_elect ? client::check_lease_times(lease_of(options, {})) : base::Status();
}

struct Program {
  std::unique_ptr<rt::RealEnv> env;
  std::unique_ptr<client::Leadership> leadership;  // before the client, which asks it before each write
  std::unique_ptr<client::Client> client;
  std::shared_ptr<int> writes = std::make_shared<int>(0);  // that have no answer yet
  std::unique_ptr<scheduler::Scheduler> scheduler;
  std::unique_ptr<ConfigFile> config_file;
  std::unique_ptr<OtherInstallations> others;
  std::unique_ptr<ServerVersion> server_version;
  std::unique_ptr<LogLevelSocket> log_level;
  scheduler::Options options;
  base::Metrics metrics;
  std::unique_ptr<RehearsalDesk> rehearsals;
  std::vector<std::unique_ptr<rt::HttpServer>> servers;
  bool dry_run = false;

  // A page answered on the loop, where the scheduler lives; "null" before it exists.
  std::function<void(std::function<void(std::string)>)> page(api::Json (scheduler::Scheduler::*report)() const) {
    return [this, report](std::function<void(std::string)> answer) {
      env->loop().post([this, report, answer = std::move(answer)] {
        answer((scheduler ? (*scheduler.*report)() : api::Json()).dump() + "\n");
      });
    };
  }

  // Ready is who knows the cluster and leads, or follows another that leads. From a thread of a server.
  std::string why_not_ready() {
    auto answer = std::make_shared<std::promise<std::string>>();
    env->loop().post([this, answer] {
      std::string why = scheduler ? scheduler->why_not_synced() : "it ends";
      if (why.empty() && leadership && !leadership->has_seen_leader()) why = "no leader has been seen";
      answer->set_value(std::move(why));
    });
    auto future = answer->get_future();
    return future.wait_for(std::chrono::seconds(1)) == std::future_status::ready ? future.get()
                                                                                 : "the loop stands still";
  }

  base::Status connect(const std::string& name, const client::ServerAccess& access) {
    client::HttpClientOptions to_server{.access = access,
                                        .user_agent = name,
                                        .field_manager = name,
                                        .requests_per_second = options.kube_api_qps,
                                        .burst = static_cast<int>(options.kube_api_burst)};
    if (dry_run) {
      to_server.may_write = [] { return false; };
    } else if (options.leader_elect) {
      TRY(leadership, lead(*env, name, access, lease_of(options, {})));
      to_server.may_write = leadership->fence();
      to_server.writes_under_way = writes;
    }
    TRY(auto direct, client::make_http_client(std::move(to_server), *env));
    client = client::make_client_without_patch(std::move(direct));
    if (!dry_run) look_for_others(name, access);
    server_version = std::make_unique<ServerVersion>(*env, name);
    server_version->start(access);
    return {};
  }

  void look_for_others(const std::string& name, const client::ServerAccess& access) {
    others = std::make_unique<OtherInstallations>(
        *env, *client,
        OtherInstallationOptions{.program = name,
                                 .app = options.single_pods ? "agent-scheduler" : "volcano-scheduler",
                                 .ns = own_namespace(access, options.lease_namespace),
                                 .own = installation_of(options),
                                 .read = [single = options.single_pods](
                                             const std::vector<std::string>& arguments) -> std::optional<Installation> {
                                   scheduler::Options theirs =
                                       single ? scheduler::agent_options() : scheduler::Options();
                                   if (!scheduler::parse_options(arguments, theirs).ok()) return std::nullopt;
                                   return installation_of(theirs);
                                 }});
    others->start();
  }

  base::Status start_servers() {
    if (options.enable_healthz) {
      TRY(auto server, start_side_server({.address = options.healthz_address,
                                          .ca_cert_file = options.ca_cert_file,
                                          .tls_cert_file = options.tls_cert_file,
                                          .tls_private_key_file = options.tls_private_key_file,
                                          .metrics = {},
                                          .healthz = true,
                                          .stands_still = rt::loop_pulse(*env, kLoopStillMax),
                                          .not_ready = [this] { return why_not_ready(); }}));
      servers.push_back(std::move(server));
    }
    if (!options.enable_metrics && !options.enable_pprof && !options.enable_rehearsal) return {};
    SideServerOptions listen{.address = options.listen_address,
                             .ca_cert_file = {},
                             .tls_cert_file = {},
                             .tls_private_key_file = {},
                             .metrics = {}};
    if (options.enable_metrics) listen.metrics = [this] { return metrics.text(); };
    listen.pages = {{"/debug/waiting", page(&scheduler::Scheduler::waiting_report)},
                    {"/debug/config", page(&scheduler::Scheduler::configuration_report)}};
    if (dry_run) listen.pages.emplace("/debug/differences", page(&scheduler::Scheduler::differences_report));
    if (options.enable_rehearsal) {
      rehearsals = std::make_unique<RehearsalDesk>(ask_dump(), options, kRehearsalPause);
      listen.posts.emplace(kRehearsalPath, [this](const std::string& body, std::shared_ptr<rt::HttpExchange> exchange) {
        auto objects = read_completed(body);
        if (!objects.ok()) return exchange->respond(rehearsal_failure(objects.error()));
        if (auto turn = rehearsals->begin(std::move(exchange))) rehearsals->rehearse(turn, std::move(objects));
      });
    }
    TRY(auto server, start_side_server(listen));
    servers.push_back(std::move(server));
    return {};
  }

  RehearsalDesk::AskDump ask_dump() {
    return [this](std::function<void(base::Result<std::string>)> done) {
      env->loop().post([this, done = std::move(done)] {
        const bool is_ready = scheduler && scheduler->why_not_synced().empty();
        done(dump_to_rehearse(is_ready ? scheduler.get() : nullptr));
      });
    };
  }

  base::Status start() {
    log_level = std::make_unique<LogLevelSocket>(*env, options.verbosity);
    scheduler = std::make_unique<scheduler::Scheduler>(*env, *client, options);
    if (dry_run) scheduler->set_dry_run();
    if (options.enable_metrics) scheduler->count_into(metrics);
    config_file = std::make_unique<ConfigFile>(*env, "scheduler", options.scheduler_conf,
                                               [this](const std::string& text) { return scheduler->configure(text); });
    if (options.disable_default_config && options.scheduler_conf.empty())
      return base::make_error(base::Code::kInvalid,
                              "--disable-default-scheduler-config needs a configuration: --scheduler-conf is empty");
    if (const base::Status read = config_file->read(); !read.ok()) {
      if (options.disable_default_config) return base::within(base::Error(read.error()), options.scheduler_conf);
      base::log_error("scheduler", base::format("configuration {}: {}; the built-in one is used",
                                                options.scheduler_conf, read.error().message));
    }
    config_file->watch();
    if (!leadership) return scheduler->start(), base::Status();
    scheduler->stand_by();
    leadership->start([this] { scheduler->start(); }, end_without_lease);
    return {};
  }
};

// Several schedulers of one name share its pods, groups and nodes by a ring.
void read_share(scheduler::Options& options) {
  const char* on = std::getenv("MULTI_SCHEDULER_ENABLE");
  const char* name = std::getenv("SCHEDULER_POD_NAME");
  const char* count = std::getenv("SCHEDULER_NUM");
  if (on == nullptr || std::string_view(on) != "true" || name == nullptr) return;
  options.share_pod_name = name;
  options.share_members = count == nullptr ? 1 : std::atoi(count);
}

// Volcano's own plugins of that kind are code for its runtime.
base::Status refuse_foreign_plugins(const std::string& folder) {
  if (folder.empty()) return {};
  std::error_code ignored;  // a folder that is not there holds no plugins
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().extension() != ".so") continue;
    return base::make_error(
        base::Code::kInvalid,
        base::format("--plugins-dir: {} cannot be loaded; the plugin extender asks programs of your "
                     "own over HTTP instead",
                     entry.path().string()));
  }
  return {};
}

int fail(const std::string& name, const base::Error& error) {
  std::cerr << name << ": " << error.message << "\n";
  return 1;
}

void serve_until_end(Program& program, const Arguments& arguments) {
  const scheduler::Options& options = program.options;
  wait_for_end(
      {.enabled = options.cache_dumper,
       .folder = options.cache_dump_dir,
       .arguments = arguments,
       .with_scheduler =
           [&program](auto use) { program.env->loop().post([&program, use] { use(program.scheduler.get()); }); },
       .reload =
           [&program] {
             program.env->loop().post([&program] {
               if (program.config_file) program.config_file->look_now();
             });
           }});
  end_answering(program.servers, kLastProbesMax);
  program.servers.clear();
  program.rehearsals.reset();
  end_under_lease(*program.env, program.leadership, program.writes, [&] {
    program.others.reset();
    program.server_version.reset();
    program.log_level.reset();
    program.config_file.reset();
    program.scheduler.reset();
    program.client.reset();
  });
}

int run(const std::string& name, const scheduler::Options& defaults, const Arguments& arguments) {
  Program program;
  const auto fail = [&name](const base::Error& error) { return volcano_main::fail(name, error); };
  scheduler::Options options = defaults;
  const base::Flag dry_run{"dry-run", &program.dry_run,
                           "decide beside a scheduler that runs, say what it does otherwise, and write nothing"};
  if (base::asks_for_help(arguments)) {
    std::vector<base::Flag> rows = scheduler::flag_rows(options);
    rows.insert(rows.begin(), dry_run);
    return std::cout << "Usage: " << name << " [flags]\n\n" << base::flags_help(rows), 0;
  }
  if (const auto rest = scheduler::parse_options(arguments, options, {&dry_run, 1}); !rest.ok())
    return fail(rest.error());
  if (const base::Status sound = check(options); !sound.ok()) return fail(sound.error());
  if (options.print_version) return std::cout << cli::version_block(kVersion), 0;
  if (const base::Status log = set_up_log(options.verbosity, options.log_format); !log.ok()) return fail(log.error());
  if (const base::Status own = refuse_foreign_plugins(options.plugins_dir); !own.ok()) return fail(own.error());
  read_share(options);
  auto access = server_access(options.kubeconfig, options.master);
  if (!access.ok()) return fail(access.error());
  block_signals();
  program.options = options;
  program.metrics.add(scheduler::metric_rows());
  program.env = rt::make_real_env(name.substr(name.find('-') + 1));
  std::promise<base::Status> started;
  program.env->loop().post([&] {
    if (base::Status connected = program.connect(name, *access); !connected.ok())
      return started.set_value(std::move(connected));
    started.set_value(program.start());
  });
  if (const base::Status status = started.get_future().get(); !status.ok()) return fail(status.error());
  if (const base::Status status = program.start_servers(); !status.ok()) std::_Exit(fail(status.error()));
  serve_until_end(program, arguments);
  return 0;
}

}  // namespace

int run_scheduler(const Arguments& arguments) { return run("vc-scheduler", scheduler::Options(), arguments); }
int run_agent_scheduler(const Arguments& arguments) {
  return run("vc-agent-scheduler", scheduler::agent_options(), arguments);
}

}  // namespace volcano_main
