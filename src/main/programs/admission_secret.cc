// gen-admission-secret.sh: the keys of the webhook server into their Secret, before the server is there. It has the
// name and the flags of the script in Volcano's image, so that the chart's hook job runs either, and needs no shell and
// no openssl.
#include <chrono>
#include <iostream>

#include "admission/server/server_keys.h"
#include "api/meta/resource.h"
#include "base/flags.h"
#include "base/format.h"
#include "main/host/base/log_setup.h"
#include "main/host/base/waiting_api.h"
#include "main/programs/programs.h"

namespace volcano_main {
namespace {

constexpr int kTriesMax = 10;

struct SecretFlags {
  std::string service, secret, ns = "default", kubeconfig, master, log_format = "text";

  std::vector<base::Flag> rows() {
    return {{"service", &service, "service of the webhook server, which the certificate is for"},
            {"secret", &secret, "Secret that gets tls.key, tls.crt and ca.crt"},
            {"namespace", &ns, "namespace of both"},
            {"kubeconfig", &kubeconfig, "kubeconfig; empty: in a cluster"},
            {"master", &master, "API server URL, overrides the kubeconfig"},
            {"log-format", &log_format, "text or json"}};
  }
};

base::Error why(const SecretFlags& flags, std::string_view what, base::Error error) {
  const std::string hint = error.code == base::Code::kForbidden
                               ? "; the account of the hook job needs get, create and patch of secrets there"
                               : "";
  return base::within(std::move(error),
                      base::format("Secret {}/{} cannot be {}{}", flags.ns, flags.secret, what, hint));
}

// The result, for the log of the job.
base::Result<std::string> keep_secret(cli::Api& api, const SecretFlags& flags) {
  const admission::SecretName name{flags.ns, flags.secret};
  const admission::ServiceName service{flags.ns, flags.service};
  for (int tries = 1;; ++tries) {
    auto found = api.call(
        {.verb = client::Verb::kGet, .resource = api::resources::kSecrets, .ns = flags.ns, .name = flags.secret});
    if (!found.ok() && found.error().code != base::Code::kNotFound) return why(flags, "read", found.take_error());
    const api::Json before = found.ok() ? *found : api::Json();
    const base::Time now = base::Time{
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count()};
    const admission::FoundKeys keys = admission::look_at_keys(before["data"], service, now);
    if (!before.is_null() && keys.trouble.empty())
      return base::format("Secret {}/{} has keys that can be used; it stays as it is", flags.ns, flags.secret);
    if (const std::string refusal = admission::why_not_ours(before); !refusal.empty())
      return base::make_error(base::Code::kInvalid,
                              base::format("Secret {}/{}: {}; it {}", flags.ns, flags.secret, keys.trouble, refusal));
    TRY(client::Request request, admission::renewal_request(name, before, service, now));
    auto written = api.call(std::move(request));
    if (written.ok())
      return base::format("Secret {}/{} has new keys: {}", flags.ns, flags.secret,
                          before.is_null() ? "it was not there" : keys.trouble);
    const base::Code code = written.error().code;
    const bool raced =
        code == base::Code::kConflict || code == base::Code::kAlreadyExists || code == base::Code::kNotFound;
    if (!raced || tries >= kTriesMax) return why(flags, "written", written.take_error());
  }
}

}  // namespace

int run_admission_secret(const Arguments& arguments) {
  SecretFlags flags;
  const std::vector<base::Flag> rows = flags.rows();
  if (base::asks_for_help(arguments))
    return std::cout << "Usage: gen-admission-secret.sh --service NAME --secret NAME [flags]\n\n"
                     << base::flags_help(rows),
           0;
  const auto fail = [](const std::string& message) {
    return std::cerr << "gen-admission-secret.sh: " << message << "\n", 1;
  };
  if (const auto rest = base::parse_flags(rows, arguments); !rest.ok()) return fail(rest.error().message);
  if (flags.service.empty()) return fail("--service: the name of the service is needed");
  if (flags.secret.empty()) return fail("--secret: the name of the Secret is needed");
  if (const base::Status log = set_up_log(0, flags.log_format); !log.ok()) return fail(log.error().message);
  auto api = open_waiting_api(flags.kubeconfig, flags.master);
  if (!api.ok()) return fail(api.error().message);
  const auto outcome = keep_secret(**api, flags);
  if (!outcome.ok()) return fail(outcome.error().message);
  std::cout << *outcome << "\n";
  return 0;
}

}  // namespace volcano_main
