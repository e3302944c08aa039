// vc-webhook-manager: admission over HTTPS for a cluster's API server.
#include <signal.h>

#include <future>
#include <iostream>

#include "admission/server.h"
#include "base/format.h"
#include "base/log.h"
#include "cli/vcctl.h"
#include "client/http_client.h"
#include "main/host/config_file.h"
#include "main/host/connection.h"
#include "main/host/side_server.h"
#include "main/host/version.h"
#include "main/host/webhook_flags.h"
#include "main/programs.h"
#include "rt/files.h"

namespace volcano_main {
namespace {

int fail(const std::string& message) {
  std::cerr << "vc-webhook-manager: " << message << "\n";
  return 1;
}

base::Result<admission::ServerOptions> server_options(const WebhookFlags& flags) {
  if (flags.port < 1 || flags.port > 65535)
    return base::make_error(base::Code::kInvalid,
                            "Configured port is invalid: the port should be in the range of 1 and 65535");
  for (const auto& [flag, text] : {std::pair{"--graceful-shutdown-time", &flags.graceful_shutdown_time},
                                   std::pair{"--log-flush-frequency", &flags.log_flush_frequency}})
    if (!base::parse_go_duration(*text))
      return base::make_error(base::Code::kInvalid, base::format("{}: \"{}\" is not a duration", flag, *text));
  const auto read = [](std::string_view what, const std::string& path) -> base::Result<std::string> {
    auto text = rt::read_file(path);
    if (!text.ok())
      return base::within(text.take_error(),
                          base::format("Failed to parse CA file: failed to read {} file ({})", what, path));
    return text;
  };
  admission::ServerOptions options;
  TRY(options.ca_pem, read("cacert", flags.ca_cert_file));
  rt::ServerKeys keys;
  TRY(keys.certificate_pem, read("cert", flags.tls_cert_file));
  TRY(keys.key_pem, read("key", flags.tls_private_key_file));
  if (flags.webhook_url.empty() && flags.webhook_namespace.empty() && flags.webhook_service_name.empty())
    return base::make_error(base::Code::kInvalid,
                            "failed to start webhooks as both 'url' and 'namespace/name' of webhook are empty");
  keys.client_ca_pem = options.ca_pem;
  options.http.tls = std::move(keys);
  options.http.address = flags.listen_address.empty() ? "0.0.0.0" : flags.listen_address;
  options.http.header_time_max = base::seconds(5);
  options.http.request_time_max = base::seconds(30);
  options.http.port = static_cast<std::uint16_t>(flags.port);
  auto rules = flags.admission();
  if (!rules.ok()) return rules.take_error();
  options.rules = *std::move(rules);
  return options;
}

struct Program {
  std::unique_ptr<rt::RealEnv> env = rt::make_real_env("webhooks");
  std::unique_ptr<client::Client> client;
  std::unique_ptr<admission::Server> server;
  std::unique_ptr<ConfigFile> pod_rules;

  // Pods can do without these rules; the jobs of a cluster cannot do without a server.
  void follow_pod_rules(const std::string& path) {
    pod_rules = std::make_unique<ConfigFile>(*env, "webhooks", path, [this](const std::string& text) -> base::Status {
      TRY(auto rules, admission::parse_pod_rules(text));
      server->set_pod_rules(std::move(rules));
      return {};
    });
    if (const base::Status read = pod_rules->read(); !read.ok())
      base::log_warning("webhooks", base::format("--admission-conf is not used: {}: {}", path, read.error().message));
    pod_rules->watch();
  }

  void stop() {
    std::promise<void> gone;
    env->loop().post([&] {
      pod_rules.reset();
      server.reset();
      client.reset();
      gone.set_value();
    });
    gone.get_future().wait();
    env->stop();
  }
};

}  // namespace

int run_webhook_manager(const Arguments& arguments) {
  WebhookFlags flags;
  const std::vector<Flag> rows = flags.rows();
  for (const std::string& word : arguments)
    if (word == "--help" || word == "-h")
      return std::cout << "Usage: vc-webhook-manager [flags]\n\n" << flags_help(rows), 0;
  if (const auto rest = parse_flags(rows, arguments); !rest.ok()) return fail(rest.error().message);
  if (flags.version) return std::cout << cli::version_block(kVersion), 0;
  auto options = server_options(flags);
  if (!options.ok()) return fail(options.error().message);
  auto access = server_access(flags.kubeconfig, flags.master);
  if (!access.ok()) return fail("unable to build k8s config: " + access.error().message);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  Program program;
  program.env->loop().post([&program, &flags, access = *access, options = *std::move(options)]() mutable {
    const auto report = [](base::Result<std::uint16_t> port) {
      if (port.ok()) return base::log_info("webhooks", base::format("answering on port {}", *port));
      std::cerr << "vc-webhook-manager: " << port.error().message << "\n";
      std::_Exit(1);
    };
    auto made = client::make_http_client({.access = std::move(access),
                                          .user_agent = "vc-webhook-manager",
                                          .field_manager = "vc-webhook-manager",
                                          .requests_per_second = static_cast<double>(flags.kube_api_qps),
                                          .burst = flags.kube_api_burst},
                                         *program.env);
    if (!made.ok()) return report(made.take_error());
    program.client = *std::move(made);
    program.server = std::make_unique<admission::Server>(*program.env, *program.client, std::move(options));
    program.follow_pod_rules(flags.admission_conf);
    program.server->start(report);
  });
  std::unique_ptr<rt::HttpServer> health;
  if (flags.enable_healthz) {
    auto made = start_side_server({.address = flags.healthz_address,
                                   .ca_cert_file = flags.ca_cert_file,
                                   .tls_cert_file = flags.tls_cert_file,
                                   .tls_private_key_file = flags.tls_private_key_file,
                                   .metrics = {},
                                   .healthz = true});
    if (!made.ok()) {
      program.stop();
      return fail(made.error().message);
    }
    health = *std::move(made);
  }
  int signal = 0;
  sigwait(&set, &signal);
  program.stop();
  return 0;
}

}  // namespace volcano_main
