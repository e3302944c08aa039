// `volcano up`: everything in one process, each component on a loop of its own.
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>

#include "apiserver/http/server.h"
#include "apiserver/pipeline/api.h"
#include "apiserver/pipeline/event_expiry.h"
#include "apiserver/pipeline/metrics.h"
#include "apiserver/pipeline/own_service.h"
#include "base/format.h"
#include "base/log.h"
#include "base/time_zone.h"
#include "controllers/all.h"
#include "controllers/metrics.h"
#include "main/colocation/colocation_host.h"
#include "main/host/base/address.h"
#include "main/host/base/component.h"
#include "main/host/base/config_file.h"
#include "main/host/base/end_answering.h"
#include "main/host/base/log_setup.h"
#include "main/host/base/start_pages.h"
#include "main/host/base/version.h"
#include "main/host/data/audit_log.h"
#include "main/host/data/data_folder.h"
#include "main/host/data/object_store.h"
#include "main/host/data/quarantine.h"
#include "main/host/flags/systemd_unit.h"
#include "main/host/flags/up_flags.h"
#include "main/host/hosts/machine_hooks.h"
#include "main/host/hosts/scheduler_host.h"
#include "main/host/keys/credentials.h"
#include "main/host/keys/request_signer.h"
#include "main/host/rehearsal/rehearsal_service.h"
#include "main/page/page_access.h"
#include "main/pipelines/pipeline_service.h"
#include "main/programs/programs.h"
#include "main/webapps/web_app_service.h"
#include "node/agent/agent.h"
#include "node/devices/device_manager.h"
#include "node/ingress/router.h"
#include "node/machine/image_name.h"
#include "node/machine/metrics.h"
#include "node/machine/usage_source.h"
#include "rt/files/bounded_files.h"
#include "rt/files/files.h"
#include "rt/watched_env.h"
#include "scheduler/metrics.h"
#include "scheduler/scheduler.h"
#include "store/store.h"

namespace volcano_main {
namespace {

using base::Result;

constexpr int kStrangersOfAPod = 64;                          // connections over which a pod has not said who it is
constexpr base::Duration kLastAnswersMax = base::seconds(3);  // whoever stops a cluster waits for it

// The running cluster. Destroyed in reverse order.
struct Cluster {
  UpOptions options;
  Credentials credentials;
  base::Metrics metrics;  // of the components
  std::unique_ptr<rt::WatchedEnv> api_env;
  std::unique_ptr<store::SealedKv> kv;
  std::unique_ptr<store::Store> objects;
  std::unique_ptr<api::PodLogs> pod_logs;
  std::shared_ptr<node::ExecTurns> exec_turns;
  const std::shared_ptr<std::atomic<std::int64_t>> devices_in_use = std::make_shared<std::atomic<std::int64_t>>(0);
  std::unique_ptr<api::PodStreams> pod_streams;
  std::unique_ptr<api::NodeUsageSource> node_usage;
  AuditLog audit;
  std::unique_ptr<apiserver::WebhookCaller> webhook_caller;
  std::unique_ptr<apiserver::Api> api;
  std::unique_ptr<apiserver::EventExpiry> event_expiry;  // on the API server's loop
  std::unique_ptr<PageHost> pages;
  PipelineService pipelines;
  WebAppService web_apps;
  std::unique_ptr<RehearsalService> rehearsals;
  std::unique_ptr<apiserver::Server> server;
  std::optional<std::string> gateway;  // by which containers reach this machine; unset: they are plain processes
  std::unique_ptr<apiserver::Server> server_for_pods;  // on the gateway
  std::unique_ptr<KeyRenewal> renewal;                 // on the API server's loop
  Component<controllers::Manager> manager;
  Component<scheduler::Scheduler> scheduler;
  std::unique_ptr<ConfigFile> scheduler_conf;  // on the scheduler's loop
  Component<scheduler::Scheduler> default_scheduler;
  Component<scheduler::Scheduler> agent_scheduler;
  std::unique_ptr<ConfigFile> agent_scheduler_conf;  // on that one's loop
  Component<node::Agent> agent;
  ColocationHost colocation;
  Component<node::ingress::Router> router;

  base::Status start() {
    for (const auto rows :
         {controllers::metric_rows(), scheduler::metric_rows(), apiserver::loop_metric_rows(), node::metric_rows()})
      metrics.add(rows);
    api_env =
        rt::watch_loop(rt::make_real_env("apiserver"), [seconds = metrics.histogram("volcano_api_loop_seconds")](
                                                           base::Duration held) { seconds.observe(held.seconds()); });
    TRY(const std::string corrected, open_data_folder(options.data));
    if (!corrected.empty()) base::log_warning("apiserver", corrected);
    TRY(kv, open_objects(*api_env, options.data, static_cast<std::size_t>(options.storage_gib) << 30,
                         options.encryption_key_file));
    if (runs(options, "node")) {
      TRY(gateway, node::pod_gateway(node_options()));
    }
    TRY(audit, open_audit_log(*api_env, options.audit_log, options.audit_policy_file, options.audit_strict));
    TRY(const Occasion occasion, occasion_of_start(*kv, options.data));
    TRY(credentials, load_or_make_credentials(keys_folder(), api_env->now(), server_names(), occasion));
    TRY(objects, store::Store::open(*api_env, *kv));
    const std::vector<store::Broken> broken = objects->broken();
    const std::string quarantine = options.data + "/quarantine";
    TRY(const auto lines, set_aside_broken(*objects, quarantine, api_env->now()));
    for (const std::string& line : lines) base::log_error("apiserver", line);
    TRY_VOID(kv->seal_all());
    apiserver::ApiOptions api_options;
    api_options.hooks = machine_hooks(options, node_options(), gateway.has_value());
    if (runs(options, "node")) {
      pod_logs = node::make_pod_logs(options.data + "/node");
      exec_turns = node::make_exec_turns(&metrics);
      pod_streams = node::make_pod_streams(node_options(), true);
      node_usage = node::make_usage_source(node_options());
    }
    api_options.objects_bytes_max =
        options.objects_mib > 0 ? static_cast<std::size_t>(options.objects_mib) << 20
                                : static_cast<std::size_t>(node::read_machine_facts(options.data).memory_bytes) / 4;
    api_options.pod_logs = pod_logs.get();
    api_options.pod_streams = pod_streams.get();
    TRY(api_options.account_tokens, load_or_make_account_tokens(keys_folder(), occasion));
    api_options.root_ca = credentials.ca_pem;
    TRY_VOID(forget_request_for_new_keys(options.data));
    TRY(api_options.services, services_of(options));
    webhook_caller = apiserver::make_webhook_caller(*api_env);
    api_options.webhook_caller = webhook_caller.get();
    api = std::make_unique<apiserver::Api>(*api_env, *objects, std::move(api_options));
    TRY_VOID(serve());
    TRY_VOID(on_loop<base::Status>(*api_env, [this](auto done) { api->bootstrap(done); }));
    keep_own_service();
    TRY_VOID(on_loop<base::Status>(*api_env, [&](auto done) {
      record_broken(*api, broken, quarantine);
      auto expiry = apiserver::EventExpiry::start(*api_env, *objects, options.event_ttl);
      if (!expiry.ok()) return done(expiry.take_error());
      event_expiry = *std::move(expiry);
      done({});
    }));
    start_components();
    api_env->loop().post([this] { api_env->loop().after(base::seconds(1), give_back_start_pages); });
    server->set_ready(true);
    if (server_for_pods) server_for_pods->set_ready(true);
    return {};
  }

  // The address at which pods find the server: on the bridge, or on the machine itself.
  apiserver::ServerPlace place_for_pods() const {
    return {gateway.value_or(is_any_address(options.address) ? "127.0.0.1" : options.address), server->port()};
  }

  // A fault of this Service must not keep anything else from starting.
  void keep_own_service() {
    const base::Status kept = on_loop<base::Status>(*api_env, [this](auto done) {
      apiserver::keep_own_service(*api, *services_of(options), place_for_pods(), done);
    });
    if (!kept.ok()) base::log_error("apiserver", "the Service default/kubernetes: " + kept.error().message);
  }

  void start_components() {
    if (runs(options, "controllers")) start_controllers();
    if (runs(options, "scheduler")) start_schedulers();
    if (runs(options, "node"))
      agent.start("kubelet", *api, [this](rt::Env& env, client::Client& client) {
        node::Options of = node_options();
        of.metrics = &metrics;
        return std::make_unique<node::Agent>(env, client, std::move(of));
      });
    colocation.start(options, *api, metrics);
    if (runs(options, "node")) router.start("ingress", *api, router_of(options));
    if (runs(options, "controllers")) pipelines.start(*api, options.data + "/volumes");
    if (options.web_apps) web_apps.start(*api);
  }

  void start_controllers() {
    manager.start("vc-controller-manager", *api, [this](rt::Env& env, client::Client& client) {
      controllers::Options manager_options{.with_cluster = true};
      manager_options.root_ca = credentials.ca_pem;
      manager_options.kubernetes = workloads_of(options);
      if (node_usage) manager_options.kubernetes->pod_usage = [this] { return node_usage->latest(); };
      manager_options.kubernetes->sign_request = request_signer(keys_folder(), credentials.ca_pem);
      add_kubeflow(options, manager_options);
      manager_options.volumes_folder = options.data + "/volumes";
      manager_options.node_name = options.node_name;
      manager_options.balances_services = gateway.has_value();
      manager_options.metrics = &metrics;
      manager_options.local_zone = base::TimeZone::local();
      if (options.sharding_mode != "none") manager_options.enabled = {"*"};
      return std::make_unique<controllers::Manager>(env, client, manager_options);
    });
  }

  void start_schedulers() {
    scheduler.start("volcano", *api, [this](rt::Env& env, client::Client& client) {
      auto part = std::make_unique<scheduler::Scheduler>(env, client, sharded(scheduler::Options()));
      part->count_into(metrics);
      if (const std::string shared = sharing_config(options); !shared.empty()) CHECK(part->configure(shared).ok());
      scheduler_conf = configuration_of(env, *part, options.scheduler_conf);
      return part;
    });
    // Pods that name no scheduler have no group to wait for: each is placed as soon as there is room.
    if (options.default_scheduler)
      default_scheduler.start("default-scheduler", *api, [this](rt::Env& env, client::Client& client) {
        scheduler::Options of_default = scheduler::agent_options();
        of_default.scheduler_names = {"default-scheduler"};
        auto part = std::make_unique<scheduler::Scheduler>(env, client, sharded(std::move(of_default)));
        part->count_into(metrics);
        return part;
      });
    if (options.agent_scheduler)
      agent_scheduler.start("agent-scheduler", *api, [this](rt::Env& env, client::Client& client) {
        auto part = std::make_unique<scheduler::Scheduler>(env, client, sharded(scheduler::agent_options()));
        part->count_into(metrics);
        agent_scheduler_conf = configuration_of(env, *part, options.agent_scheduler_conf);
        return part;
      });
  }

  node::Options node_options() const {
    node::Options of;
    of.node_name = options.node_name;
    of.data_dir = options.data + "/node";
    of.host_rootfs = options.host_rootfs;
    of.leave_pods = options.leave_pods;
    of.exec_turns = exec_turns;
    of.host_ip = node_address(options);
    of.api_host_of_machine = is_any_address(options.address) ? "127.0.0.1" : options.address;
    of.service_range = options.service_range;
    if (auto handlers = handlers_of(options); handlers.ok()) of.handlers = std::move(*handlers);
    of.devices = devices_of(options);
    of.devices.in_use = devices_in_use;
    of.plugins_registry =
        options.plugins_registry_dir.empty() ? options.data + "/plugins_registry" : options.plugins_registry_dir;
    of.devices.watch_command = {"/proc/self/exe", "gpu-watch"};
    if (server) {
      of.api_host = place_for_pods().address;
      of.api_port = server->port();
    }
    of.mode = mode_of(options);
    return of;
  }

  scheduler::Options sharded(scheduler::Options of) const {
    of.sharding_mode = options.sharding_mode;
    return of;
  }

  // Answered on the scheduler's loop.
  std::function<void(std::function<void(std::string)>)> page(api::Json (scheduler::Scheduler::*report)() const) {
    return [this, report](std::function<void(std::string)> answer) {
      if (!scheduler.env) return answer("{}\n");
      scheduler.env->loop().post([this, report, answer = std::move(answer)] {
        answer((scheduler.part ? (*scheduler.part.*report)() : api::Json()).dump() + "\n");
      });
    };
  }

  base::Status serve() {
    TRY_VOID(check_colocation(options, gateway.has_value()));
    apiserver::ServerOptions server_options;
    server_options.http.address = options.address;
    server_options.http.port = static_cast<std::uint16_t>(options.port);
    server_options.http.tls = keys();
    server_options.http.last_request_time_max = kLastRequestMax;
    server_options.token = credentials.token;
    server_options.version = kVersion;
    if (options.mpi_version != "v1") server_options.preferred_versions = {{"kubeflow.org", options.mpi_version}};
    server_options.other_metrics = [this] { return metrics.text(); };
    server_options.auditing = audit.auditing;
    server_options.node_usage = node_usage.get();
    server_options.loop_held = [this] { return api_env->held(); };
    server_options.pages = {
        {"/debug/waiting", page(&scheduler::Scheduler::waiting_report)},
        {"/debug/usage", [this](auto answer) { answer(node_usage ? node_usage->history() : "{}\n"); }},
        {"/debug/colocation", [this](auto answer) { colocation.answer_page(answer); }},
        {"/debug/config", page(&scheduler::Scheduler::configuration_report)}};
    rehearsals = std::make_unique<RehearsalService>(scheduler, sharded(scheduler::Options{}));
    server_options.beside = {pipelines.beside(), rehearsals->beside()};
    if (options.web_apps) server_options.beside.push_back(web_apps.beside(user_header_of_environment()));
    apiserver::ServerOptions for_pods = server_options;  // which show no page
    pages = std::make_unique<PageHost>(page_options(), *api_env);
    server_options.browser = pages->access();
    TRY(server, apiserver::start_server(*api, std::move(server_options)));
    pages->begin(send_by(*server), server->port());
    // Pods do not reach the host's loopback. The gateway's address comes with the first of them.
    if (gateway && !is_any_address(options.address)) {
      for_pods.http.address = *gateway;
      for_pods.http.port = server->port();
      for_pods.http.address_may_come = true;
      for_pods.http.strangers_of_an_address_max = kStrangersOfAPod;
      TRY(server_for_pods, apiserver::start_server(*api, std::move(for_pods)));
    }
    TRY_VOID(write_kubeconfig());
    api_env->loop().post([this] { renewal = std::make_unique<KeyRenewal>(*api_env, [this] { return renew_keys(); }); });
    return {};
  }

  std::string keys_folder() const { return options.data + "/keys"; }
  PageHostOptions page_options() const {
    const auto [first, last] = *notebook_ports_of(options);
    return {.secret = credentials.token,
            .hosts = server_names().dns_names,
            .notebooks = {options.address, {first, last}, options.data + "/notebook-ports", keys()}};
  }
  std::string url() const { return https_url(options.address, server->port()); }
  rt::ServerKeys keys() const {
    return {credentials.server.certificate_pem, credentials.server.key_pem, credentials.ca_pem};
  }
  ServerNames server_names() const {
    ServerNames names;
    const std::string host = own_host_name();
    if (host.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == std::string::npos) names.dns_names = {host};
    names.ip_addresses = is_any_address(options.address) ? own_addresses() : std::vector{options.address};
    if (gateway) names.ip_addresses.push_back(*gateway);
    if (const auto services = services_of(options); services.ok())
      names.ip_addresses.push_back(api::ipv4_text(apiserver::server_address(*services)));
    return names;
  }
  base::Status write_kubeconfig() const {
    const std::string text = kubeconfig_text(credentials, url());
    // A full disk keeps no cluster from starting that needs nothing written, and a pipe in its place is not waited for.
    const auto present = rt::read_bounded_file(options.kubeconfig, std::size_t{1} << 20, {});
    if (present.ok() && *present == text) return {};
    if (present.ok()) TRY_VOID(check_replaceable(*present, options.kubeconfig));
    return rt::write_file(options.kubeconfig, text, 0600);
  }

  base::Status renew_keys() {
    TRY_VOID(load_authority(keys_folder(), {{"the server that runs", credentials.ca_pem}}));
    TRY(Credentials now, load_or_make_credentials(keys_folder(), api_env->now(), server_names(), Occasion::kRunning));
    const bool changed = now.server.certificate_pem != credentials.server.certificate_pem ||
                         now.admin.certificate_pem != credentials.admin.certificate_pem;
    credentials = std::move(now);
    if (!changed) return {};
    TRY_VOID(server->set_keys(keys()));
    if (server_for_pods) TRY_VOID(server_for_pods->set_keys(keys()));
    TRY_VOID(pages->set_keys(keys()));
    return write_kubeconfig();
  }

  // The parts of this machine that pods get, and those that do not keep them apart.
  std::string found() {
    if (!runs(options, "node")) return "no pods run here (--components)\n";
    const node::MachineFacts machine = node::read_machine_facts(options.data);
    const std::string how = gateway ? "containers"
                                    : "plain processes, which nothing isolates (" +
                                          (options.runtime == "process"
                                               ? std::string("--runtime process")
                                               : "containers need " + node::missing_for_containers(node_options())) +
                                          ")";
    return base::format("{} cores, {:.1f} GiB of memory, {}; pods are {}\n", machine.cpus,
                        static_cast<double>(machine.memory_bytes) / (1 << 30), gpus(), how);
  }

  // A driver that is there answers in a moment, or later in the log.
  std::string gpus() {
    const node::DeviceOptions devices = devices_of(options);
    if (devices.driver_root.empty()) return "GPUs left alone (--nvidia-driver-root=none)";
    if (!node::has_nvidia_driver(devices)) return "no NVIDIA driver found";
    for (int tries = 0; tries < 30; ++tries) {
      std::string reported = on_loop<std::string>(*agent.env, [this](auto done) { done(agent.part->gpus()); });
      if (!reported.empty()) return reported;
      usleep(100'000);
    }
    return "an NVIDIA driver that has not answered yet";
  }

  // A configuration file is watched on its scheduler's loop, and let go there.
  static void forget(Component<scheduler::Scheduler>& of, std::unique_ptr<ConfigFile>& file) {
    if (!of.env) return;
    on_loop<bool>(*of.env, [&file](auto done) { file.reset(), done(true); });
  }

  std::string ends_of_stop() {
    if (!agent.env) return {};
    return on_loop<std::string>(*agent.env, [this](auto done) { done(agent.part->ends_of_stop()); });
  }
  void stop() {
    router.stop();
    colocation.stop();
    pipelines.stop();
    web_apps.stop();
    if (rehearsals) rehearsals->stop();
    if (agent.env) on_loop<bool>(*agent.env, [this](auto done) { agent.part->stop([done] { done(true); }); });
    agent.stop();
    forget(agent_scheduler, agent_scheduler_conf);
    agent_scheduler.stop();
    default_scheduler.stop();
    forget(scheduler, scheduler_conf);
    scheduler.stop();
    manager.stop();
    on_loop<bool>(*api_env, [this](auto done) {
      renewal.reset();
      pages->end();
      done(true);
    });
    end_answering(std::array{server_for_pods.get(), server.get()}, kLastAnswersMax);
    server_for_pods.reset();
    server.reset();
    pod_streams.reset();  // what was answered over the server
    on_loop<bool>(*api_env, [this](auto done) { event_expiry.reset(), done(true); });
    api_env->stop();
  }
};

}  // namespace

int run_up(const Arguments& arguments) {
  Cluster cluster;
  UpOptions& options = cluster.options;
  const std::vector<base::Flag> flags = up_flags(options);
  if (base::asks_for_help(arguments)) {
    std::cout << "usage: volcano up [flags]\n\nStarts a cluster on this machine and runs until it is told to "
                 "stop.\n\nflags:\n"
              << base::flags_help(flags);
    return 0;
  }
  const auto words = base::parse_flags(flags, arguments);
  if (!words.ok() || !words->rest.empty()) {
    std::cerr << "volcano up: "
              << (words.ok() ? "unexpected argument \"" + words->rest.front() + "\"" : words.error().message) << "\n";
    return 2;
  }
  base::Status valid = check_up(options);
  if (valid.ok()) valid = set_up_log(options.v, options.log_format);
  if (!valid.ok()) {
    std::cerr << "volcano up: " << valid.error().message << "\n";
    return 2;
  }
  if (options.data.empty()) options.data = default_data_folder();
  std::error_code error;  // where this was started may be gone
  options.data = std::filesystem::absolute(options.data, error).string();
  if (error) {
    std::cerr << "volcano up: the current folder cannot be named: " << error.message() << "\n";
    return 1;
  }
  if (options.node_name.empty()) options.node_name = node::read_machine_facts(options.data).hostname;
  if (const base::Status named = node::check_node_name(options.node_name); !named.ok()) {
    std::cerr << "volcano up: --node-name: " << named.error().message << "\n";
    return 2;
  }
  if (options.systemd) {
    const auto unit = unit_of_up(arguments, options);
    (unit.ok() ? std::cout << *unit : std::cerr << "volcano up: --systemd: " << unit.error().message << "\n");
    return unit.ok() ? 0 : 1;
  }
  if (options.kubeconfig.empty()) options.kubeconfig = options.data + "/kubeconfig";
  block_signals();  // before any thread starts, so that all inherit it
  signal(SIGPIPE, SIG_IGN);
  if (const base::Status started = cluster.start(); !started.ok()) {
    std::cerr << "volcano up: " << started.error().message << "\n";
    return 1;
  }
  std::cout
      << base::format(
             "volcano {} is up at {}\n{}\n  export KUBECONFIG={}\n  kubectl get queues\n  volcano ui link     # {}"
             "\n\nStop it with Ctrl-C.\n",
             kVersion, cluster.url(), cluster.found(), options.kubeconfig, cluster.pages->hint(cluster.url()))
      << std::flush;
  wait_for_end({.folder = options.cache_dump_dir,
                .arguments = {},
                .with_scheduler =
                    [&cluster](auto use) {
                      if (!cluster.scheduler.env) return;
                      cluster.scheduler.env->loop().post([&cluster, use] { use(cluster.scheduler.part.get()); });
                    },
                .reload =
                    [&cluster] {
                      if (cluster.audit.lines) cluster.audit.lines->reopen();
                    }});
  std::cout << "stopping\n" << cluster.ends_of_stop() << std::flush;
  cluster.stop();
  return 0;
}

}  // namespace volcano_main
