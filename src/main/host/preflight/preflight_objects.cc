// Volcano's objects on a cluster: webhooks, and programs that run.
#include <algorithm>
#include <set>

#include "api/meta/resource.h"
#include "base/format.h"
#include "main/host/base/other_installation.h"
#include "main/host/base/server_version.h"
#include "main/host/base/version.h"
#include "main/host/flags/controller_flags.h"
#include "main/host/preflight/preflight.h"
#include "scheduler/options.h"

namespace volcano_main {
namespace {

using api::Json;
using base::Code;
using Level = Finding::Level;

bool touches_our_kinds(const Json& configuration) {
  const Json& webhooks = configuration["webhooks"];
  for (std::size_t i = 0; i < webhooks.size(); ++i) {
    const Json& rules = webhooks[i]["rules"];
    for (std::size_t j = 0; j < rules.size(); ++j)
      for (std::size_t k = 0; k < rules[j]["apiGroups"].size(); ++k)
        if (rules[j]["apiGroups"][k].as_string().ends_with("volcano.sh")) return true;
  }
  return false;
}

}  // namespace

std::string some_of(const std::set<std::string>& names) {
  constexpr std::size_t kNamedMax = 6;
  std::string out;
  std::size_t named = 0;
  for (const std::string& name : names)
    if (named++ < kNamedMax) out += (out.empty() ? "" : ", ") + name;
  return named > kNamedMax ? base::format("{} and {} more", out, named - kNamedMax) : out;
}

base::Result<Json> get_object(cli::Api& api, const api::ResourceId& id, const std::string& ns,
                              const std::string& name) {
  return api.call({.verb = client::Verb::kGet, .resource = id, .ns = ns, .name = name});
}

void check_version(const Json& version, Findings& out) {
  const std::string trouble = version_trouble(version);
  if (trouble.empty())
    out.push_back({Level::kGood, base::format("Kubernetes {}", version["gitVersion"].as_string())});
  else
    out.push_back({Level::kProblem, trouble});
}

void check_webhooks(cli::Api& api, const PreflightOptions& options, Findings& out) {
  constexpr std::string_view kOurs = "volcano-admission-service-";
  int ours = 0;
  for (const char* plural : {"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}) {
    const auto list =
        api.call({.verb = client::Verb::kList, .resource = {"admissionregistration.k8s.io", "v1", plural}});
    if (!list.ok())
      return out.push_back({Level::kProblem, base::format("{} cannot be listed: {}", plural, list.error().message)});
    const Json& items = (*list)["items"];
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::string name(api::name_of(items[i]));
      if (!name.starts_with(kOurs)) {
        if (touches_our_kinds(items[i]))
          out.push_back(
              {Level::kChange, base::format("{} {} judges objects of Volcano, too, and stays", plural, name)});
        continue;
      }
      ++ours;
      const Json& service = items[i]["webhooks"][std::size_t{0}]["clientConfig"]["service"];
      if (service.is_object() && service["namespace"].as_string() != options.ns)
        out.push_back({Level::kProblem, base::format("{} {} belongs to an installation in namespace {}, not {}: one "
                                                     "installation with webhooks fits into a cluster",
                                                     plural, name, service["namespace"].as_string(), options.ns)});
    }
  }
  out.push_back({ours > 0 ? Level::kGood : Level::kChange,
                 ours > 0 ? base::format("{} webhook configurations are there; ours answers for the same names", ours)
                          : std::string("there are no webhook configurations; the chart brings them")});
}

namespace {

constexpr std::string_view kAgentScheduler = "agent-scheduler";  // its label `app`, and the name that it cares for

// The scheduler names that a Deployment's program cares for, as its flags say. Flags that cannot be read are taken for
// the worst.
std::set<std::string> names_cared_for(const Json& deployment) {
  const std::vector<std::string> words = words_of_program(deployment["spec"]["template"]);
  const bool is_agent = api::label_of(deployment, "app") == kAgentScheduler;
  std::vector<std::string> names;
  if (api::label_of(deployment, "app") == "volcano-controller") {
    ControllerFlags flags;
    if (base::parse_flags(flags.rows(), words).ok()) names = flags.scheduler_names;
  } else {
    scheduler::Options flags = is_agent ? scheduler::agent_options() : scheduler::Options();
    if (scheduler::parse_options(words, flags).ok()) names = flags.names();
  }
  if (names.empty()) names = {is_agent ? std::string(kAgentScheduler) : "volcano"};
  return {names.begin(), names.end()};
}

// Leases keep the replicas of one installation apart, and each has its own in its own namespace.
void check_other_namespaces(cli::Api& api, const PreflightOptions& options, Findings& out) {
  client::Request request{.verb = client::Verb::kList, .resource = {"apps", "v1", "deployments"}};
  request.label_selector = "app in (volcano-scheduler,volcano-controller,agent-scheduler)";
  const auto list = api.call(std::move(request));
  if (!list.ok())
    return out.push_back({Level::kChange, base::format("whether Volcano is installed in another namespace, too, cannot "
                                                       "be seen: {}",
                                                       list.error().message)});
  for (const Json& deployment : (*list)["items"].items()) {
    const std::string_view ns = deployment["metadata"]["namespace"].as_string();
    if (ns == options.ns || deployment["spec"]["replicas"].as_int() == 0) continue;
    const std::set<std::string> names = names_cared_for(deployment);
    const std::string what = base::format("Deployment {}/{} in namespace {} cares for the pods of scheduler {}", ns,
                                          api::name_of(deployment), ns, some_of(names));
    if (!names.contains("volcano") && api::label_of(deployment, "app") == "volcano-controller")
      out.push_back(
          {Level::kProblem,
           base::format("{}, and works on all Jobs and Queues, as the controllers of this one would: give one "
                        "of the two custom.controller_enable=false",
                        what)});
    else if (names.contains(std::string(kAgentScheduler)))
      out.push_back({Level::kChange, base::format("{}: custom.agent_scheduler_enable of this installation would need "
                                                  "another custom.agent_scheduler_name",
                                                  what)});
    else if (names.contains("volcano"))
      out.push_back({Level::kProblem,
                     base::format("{}, and its lease is there: both installations would decide about the same pods. "
                                  "Install into namespace {} to take its place, uninstall it, or give this one "
                                  "another custom.scheduler_name",
                                  what, ns)});
    else
      out.push_back({Level::kGood, what});
  }
}

// The Go plugins of a scheduler that runs. A folder of the image goes with it; what a volume brings would be found by
// ours, too, which then does not begin.
void check_plugins(const std::string& where, const Json& pod, Findings& out) {
  scheduler::Options flags;
  if (!scheduler::parse_options(words_of_program(pod), flags).ok() || flags.plugins_dir.empty()) return;
  std::string folder = flags.plugins_dir;
  while (folder.ends_with('/')) folder.pop_back();
  const auto mounts = pod["spec"]["containers"][std::size_t{0}]["volumeMounts"].items();
  const bool is_mounted = std::ranges::any_of(mounts, [&folder](const Json& mount) {
    std::string at = mount["mountPath"].str();
    while (at.ends_with('/')) at.pop_back();
    return folder == at || folder.starts_with(at + "/");
  });
  out.push_back(
      {is_mounted ? Level::kProblem : Level::kChange,
       base::format("{} has --plugins-dir={}: plugins of Volcano (.so) cannot be loaded; the plugin extender asks "
                    "programs of your own over HTTP instead. {}",
                    where, flags.plugins_dir,
                    is_mounted ? "A volume is mounted there: take it away, for ours does not begin with a .so in it"
                               : "Our image has none there")});
}

void check_images(cli::Api& api, const PreflightOptions& options, Findings& out) {
  constexpr std::pair<std::string_view, std::string_view> kImages[] = {
      {"scheduler", "vc-scheduler"},
      {"controllers", "vc-controller-manager"},
      {"admission", "vc-webhook-manager"},
      {"agent-scheduler", "vc-agent-scheduler"},
      {"hypernode-controller", "vc-hypernode-controller-manager"}};
  for (const auto& [program, image] : kImages) {
    const std::string where = base::format("Deployment {}/{}-{}", options.ns, options.release, program);
    const auto deployment =
        get_object(api, {"apps", "v1", "deployments"}, options.ns, base::format("{}-{}", options.release, program));
    if (!deployment.ok()) continue;  // nothing runs, or nobody may look
    const Json& spec = (*deployment)["spec"];
    const Json& container = spec["template"]["spec"]["containers"][std::size_t{0}];
    out.push_back({Level::kChange,
                   base::format("{} runs {} of {}, which would be replaced by {}:{} of the registry in "
                                "basic.image_registry",
                                where, spec["replicas"].as_int(), container["image"].as_string(), image, kVersion)});
    if (program == "scheduler") check_plugins(where, spec["template"], out);
  }
  const std::string name = options.release + "-agent";
  const auto agents = get_object(api, {"apps", "v1", "daemonsets"}, options.ns, name);
  if (!agents.ok()) return;
  const Json& container = (*agents)["spec"]["template"]["spec"]["containers"][std::size_t{0}];
  out.push_back({Level::kChange,
                 base::format("DaemonSet {}/{} runs {}, which would be replaced by vc-agent:{}; it runs as root there, "
                              "without network-qos",
                              options.ns, name, container["image"].as_string(), kVersion)});
}

}  // namespace

void check_programs(cli::Api& api, const PreflightOptions& options, base::Time now, Findings& out) {
  check_other_namespaces(api, options, out);
  for (const char* name : {"volcano", "vc-controller-manager"}) {
    const auto lease = get_object(api, api::resources::kLeases, options.ns, name);
    if (!lease.ok()) {
      if (lease.error().code != Code::kNotFound)
        out.push_back(
            {Level::kProblem, base::format("lease {}/{} cannot be read: {}", options.ns, name, lease.error().message)});
      continue;
    }
    const std::string_view holder = (*lease)["spec"]["holderIdentity"].as_string();
    const auto renewed = base::parse_rfc3339((*lease)["spec"]["renewTime"].as_string());
    // Below zero where it was renewed meanwhile, or by a clock that is ahead of ours.
    const std::int64_t seconds = renewed ? std::max<std::int64_t>((now - *renewed).ns / 1'000'000'000, 0) : -1;
    const std::int64_t lasts = (*lease)["spec"]["leaseDurationSeconds"].as_int();
    if (holder.empty() || seconds < 0 || seconds > lasts)
      out.push_back({Level::kGood, base::format("lease {}/{} is free", options.ns, name)});
    else
      out.push_back(
          {Level::kChange, base::format("lease {}/{} is held by {}, who renewed it {} s ago: ours waits until it goes",
                                        options.ns, name, holder, seconds)});
  }
  check_images(api, options, out);
}

}  // namespace volcano_main
