// vc-webhook-manager: admission over HTTPS for a cluster's API server.
#include <signal.h>

#include <array>
#include <cmath>
#include <future>
#include <iostream>

#include "admission/server/server.h"
#include "admission/server/server_secret.h"
#include "base/format.h"
#include "base/log.h"
#include "cli/vcctl.h"
#include "client/http/http_client.h"
#include "main/host/base/config_file.h"
#include "main/host/base/connection.h"
#include "main/host/base/end_answering.h"
#include "main/host/base/log_setup.h"
#include "main/host/base/side_server.h"
#include "main/host/base/version.h"
#include "main/host/flags/controller_flags.h"
#include "main/host/flags/webhook_flags.h"
#include "main/programs/programs.h"
#include "rt/files/bounded_files.h"
#include "rt/loop_pulse.h"
#include "scheduler/model/core/feature_gates.h"

namespace volcano_main {
namespace {

constexpr base::Duration kKeysLook = base::seconds(10);
constexpr std::size_t kKeyBytesMax = std::size_t{1} << 20;

int fail(const std::string& message) {
  std::cerr << "vc-webhook-manager: " << message << "\n";
  return 1;
}

base::Result<admission::ServerKeys> read_keys(const WebhookFlags& flags) {
  const auto read = [](std::string_view what, const std::string& path) -> base::Result<std::string> {
    auto text = rt::read_bounded_file(path, kKeyBytesMax, {});
    if (!text.ok())
      return base::within(text.take_error(),
                          base::format("Failed to parse CA file: failed to read {} file ({})", what, path));
    return text;
  };
  admission::ServerKeys keys;
  TRY(keys.ca_pem, read("cacert", flags.ca_cert_file));
  TRY(keys.pair.certificate_pem, read("cert", flags.tls_cert_file));
  TRY(keys.pair.key_pem, read("key", flags.tls_private_key_file));
  return keys;
}

base::Result<admission::ServerOptions> server_options(const WebhookFlags& flags) {
  const auto wrong = [](std::string text) { return base::make_error(base::Code::kInvalid, std::move(text)); };
  if (flags.port < 1 || flags.port > 65535)
    return wrong("Configured port is invalid: the port should be in the range of 1 and 65535");
  if (flags.webhook_url.empty() && flags.webhook_namespace.empty() && flags.webhook_service_name.empty())
    return wrong("failed to start webhooks as both 'url' and 'namespace/name' of webhook are empty");
  if (!flags.tls_secret_name.empty() && (flags.webhook_namespace.empty() || flags.webhook_service_name.empty()))
    return wrong("--tls-secret-name needs --webhook-namespace and --webhook-service-name");
  admission::ServerOptions options;
  options.http.address = flags.listen_address;
  options.http.header_time_max = base::seconds(5);
  options.http.request_time_max = base::seconds(30);
  options.http.port = static_cast<std::uint16_t>(flags.port);
  auto rules = flags.admission();
  if (!rules.ok()) return rules.take_error();
  options.rules = *std::move(rules);
  return options;
}

// All on the loop of `env`, but for what is said otherwise.
struct Program {
  WebhookFlags flags;
  std::unique_ptr<rt::RealEnv> env;
  std::unique_ptr<client::Client> client;
  std::unique_ptr<admission::ServerSecret> secret;
  std::unique_ptr<admission::Server> server;
  std::unique_ptr<ConfigFile> pod_rules;
  std::unique_ptr<rt::HttpServer> health;
  std::optional<admission::ServerKeys> in_use;
  rt::Loop::TimerId keys_timer = 0;
  std::string reported;  // about files of keys

  void start(const client::ServerAccess& access);
  void use(const admission::ServerKeys& keys);
  base::Status serve(const admission::ServerKeys& keys);
  void look_at_files(bool because_asked);
  void follow_pod_rules();
  std::string why_not_ready();
  void reload();
  void stop();

  [[noreturn]] static void give_up(const base::Error& error) { std::_Exit(fail(error.message)); }
};

void Program::start(const client::ServerAccess& access) {
  auto made = client::make_http_client({.access = access,
                                        .user_agent = "vc-webhook-manager",
                                        .field_manager = "vc-webhook-manager",
                                        .requests_per_second = flags.kube_api_qps,
                                        .burst = flags.kube_api_burst},
                                       *env);
  if (!made.ok()) give_up(made.error());
  client = *std::move(made);
  if (flags.tls_secret_name.empty()) {
    auto keys = read_keys(flags);
    if (!keys.ok()) give_up(keys.error());
    use(*keys);
    return look_at_files(false);
  }
  // The files as which the Secret is mounted have to do if it may not be looked at.
  secret = std::make_unique<admission::ServerSecret>(
      *env, *client,
      admission::ServerSecretOptions{.secret = {flags.webhook_namespace, flags.tls_secret_name},
                                     .service = {flags.webhook_namespace, flags.webhook_service_name}},
      [this](const admission::ServerKeys& keys) { use(keys); },
      [this](const std::string& trouble) {
        base::log_warning("webhooks", trouble);
        if (!in_use) look_at_files(false);
      });
  secret->start();
}

void Program::use(const admission::ServerKeys& keys) {
  if (in_use == keys) return;
  if (!server) {
    if (const base::Status serving = serve(keys); !serving.ok()) give_up(serving.error());
  } else {
    server->set_keys(keys);
    if (health)
      if (const base::Status taken = health->set_keys({keys.pair.certificate_pem, keys.pair.key_pem, keys.ca_pem});
          !taken.ok())
        base::log_error("webhooks", base::format("the health server keeps its keys: {}", taken.error().message));
  }
  in_use = keys;
}

base::Status Program::serve(const admission::ServerKeys& keys) {
  TRY(admission::ServerOptions options, server_options(flags));
  const rt::ServerKeys tls{keys.pair.certificate_pem, keys.pair.key_pem, keys.ca_pem};
  options.http.tls = tls;
  options.ca_pem = keys.ca_pem;
  server = std::make_unique<admission::Server>(*env, *client, std::move(options));
  follow_pod_rules();
  if (flags.enable_healthz) {
    TRY(health, start_side_server({.address = flags.healthz_address,
                                   .keys = tls,
                                   .metrics = {},
                                   .healthz = true,
                                   .stands_still = rt::loop_pulse(*env, kLoopStillMax),
                                   .not_ready = [this] { return why_not_ready(); }}));
  }
  server->start([](const base::Result<std::uint16_t>& port) {
    if (!port.ok()) give_up(port.error());
    base::log_info("webhooks", base::format("answering on port {}", *port));
  });
  return {};
}

// The files of a mounted Secret change under a running program.
void Program::look_at_files(bool because_asked) {
  if (keys_timer != 0) env->loop().cancel(std::exchange(keys_timer, 0));
  auto keys = read_keys(flags);
  base::Status sound = keys.ok() ? base::Status() : base::Status(keys.error());
  if (sound.ok()) sound = rt::check_pair(keys->pair);
  if (sound.ok() && (secret == nullptr || !in_use)) use(*keys);
  const std::string trouble = sound.ok() ? "" : sound.error().message;
  if ((std::exchange(reported, trouble) != trouble || because_asked) && !trouble.empty())
    base::log_warning("webhooks", base::format("the files of keys are not used: {}", trouble));
  if (secret != nullptr && in_use) return;
  keys_timer = env->loop().after(kKeysLook, [this] {
    keys_timer = 0;
    look_at_files(false);
  });
}

// Pods can do without these rules; the jobs of a cluster cannot do without a server.
void Program::follow_pod_rules() {
  const std::string& path = flags.admission_conf;
  pod_rules = std::make_unique<ConfigFile>(*env, "webhooks", path, [this](const std::string& text) -> base::Status {
    TRY(auto rules, admission::parse_pod_rules(text));
    server->set_pod_rules(std::move(rules));
    return {};
  });
  if (const base::Status read = pod_rules->read(); !read.ok())
    base::log_warning("webhooks", base::format("--admission-conf is not used: {}: {}", path, read.error().message));
  pod_rules->watch();
}

// From an I/O thread of the health server.
std::string Program::why_not_ready() {
  auto answer = std::make_shared<std::promise<std::string>>();
  env->loop().post([this, answer] { answer->set_value(server ? server->why_not_ready() : "it ends"); });
  auto future = answer->get_future();
  return future.wait_for(std::chrono::seconds(1)) == std::future_status::ready ? future.get() : "the loop stands still";
}

void Program::reload() {
  if (pod_rules) pod_rules->look_now();
  if (secret == nullptr) look_at_files(true);
}

// From the main thread. The health server goes last: that this one is not ready any more is for the cluster to hear.
void Program::stop() {
  const base::Duration patience = flags.graceful_shutdown_time;
  std::promise<void> gone;
  std::unique_ptr<rt::HttpServer> last_health;
  env->loop().post([&] {
    last_health = std::move(health);
    const auto finish = [this, &gone] {
      if (keys_timer != 0) env->loop().cancel(keys_timer);
      secret.reset();
      pod_rules.reset();
      server.reset();
      client.reset();
      gone.set_value();
    };
    if (server)
      server->drain(patience, finish);
    else
      finish();
  });
  gone.get_future().wait();
  end_answering(std::array{last_health.get()}, kLastProbesMax);
  last_health.reset();
  env->stop();
}

}  // namespace

int run_webhook_manager(const Arguments& arguments) {
  Program program;
  WebhookFlags& flags = program.flags;
  const std::vector<base::Flag> rows = flags.rows();
  if (base::asks_for_help(arguments))
    return std::cout << "Usage: vc-webhook-manager [flags]\n\n" << base::flags_help(rows), 0;
  if (const auto rest = base::parse_flags(rows, arguments); !rest.ok()) return fail(rest.error().message);
  if (const auto gates = scheduler::FeatureGates::parse(flags.feature_gates); !gates.ok())
    return fail(gates.error().message);
  if (flags.version) return std::cout << cli::version_block(kVersion), 0;
  if (const base::Status log = set_up_log(flags.v, flags.log_format); !log.ok()) return fail(log.error().message);
  if (const auto options = server_options(flags); !options.ok()) return fail(options.error().message);
  if (flags.tls_secret_name.empty())
    if (const auto keys = read_keys(flags); !keys.ok()) return fail(keys.error().message);
  const auto access = server_access(flags.kubeconfig, flags.master);
  if (!access.ok()) return fail("unable to build k8s config: " + access.error().message);
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  program.env = rt::make_real_env("webhooks");
  program.env->loop().post([&program, access = *access] { program.start(access); });
  for (int signal = SIGHUP; signal == SIGHUP;) {
    sigwait(&set, &signal);
    if (signal == SIGHUP) program.env->loop().post([&program] { program.reload(); });
  }
  program.stop();
  return 0;
}

}  // namespace volcano_main
