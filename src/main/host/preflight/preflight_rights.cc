// Which rights do our programs use, and which of them are missing?
#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include "api/meta/resource.h"
#include "base/flags.h"
#include "base/format.h"
#include "main/host/base/other_installation.h"
#include "main/host/flags/controller_flags.h"
#include "main/host/flags/webhook_flags.h"
#include "main/host/preflight/preflight.h"
#include "main/host/preflight/write_rights.h"
#include "scheduler/options.h"
#include "scheduler/scheduler.h"

namespace volcano_main {
namespace {

using api::Json;
using Level = Finding::Level;

// The one object that a right is about, where roles give no more than that.
enum class NamedObjects : std::uint8_t {
  kNone,    // all of them
  kSecret,  // of the webhook
  kLease,   // for which the program waits
  kOwners,  // the role that profiles give to their owners
};

// Words are separated by blanks: each verb on each resource. Without those that are `optional` a program does without
// something; the text says what.
struct Right {
  std::string_view group, resources, verbs;
  std::string_view without = "";  // what is missing then; empty: the program does not work
  bool in_namespace = false;      // of the installation
  NamedObjects named = NamedObjects::kNone;
};

// The rights that a scheduler uses for any pod, and so all that the agent scheduler uses.
constexpr Right kPodScheduling[] = {
    {"", "pods", "list watch"},
    {"", "pods", "patch", "gates of pods stay, and shared devices are not noted"},
    {"", "nodes", "patch", "shared devices are not noted"},
    {"", "pods/status", "update"},
    {"", "pods/binding", "create"},
    {"", "nodes", "list watch"},
    {"coordination.k8s.io", "leases", "get create update", "", true},
    {"", "events", "create patch", "nobody is told why pods wait"},
    {"", "namespaces", "list watch", "selectors of namespaces match none"},
    {"", "persistentvolumeclaims persistentvolumes", "list watch update", "pods with volumes wait"},
    {"storage.k8s.io", "storageclasses csinodes csidrivers csistoragecapacities", "list watch",
     "pods with volumes wait"},
    {"resource.k8s.io", "resourceclaims deviceclasses resourceslices", "list watch", "pods with claims wait"},
    {"resource.k8s.io", "resourceclaims", "get patch", "pods with claims wait"},
    {"resource.k8s.io", "resourceclaims/status resourceclaims/binding", "update", "pods with claims wait"},
    {"", "services replicationcontrollers", "list watch", "pods of one service are not spread"},
    {"apps", "replicasets statefulsets", "list watch", "pods of one workload are not spread"},
    {"storage.k8s.io", "volumeattachments", "list watch", "volumes that nodes hold are not counted"},
    {"", "configmaps", "list watch", "what configures shared devices is not known"},
    {"shard.volcano.sh", "nodeshards", "list watch", "nodes are not shared between schedulers"},
    {"shard.volcano.sh", "nodeshards/status", "update", "what it uses of its shard is not shown"},
};

// And for groups, queues, and who gives way to whom.
constexpr Right kGroupScheduling[] = {
    {"", "pods", "delete"},
    {"scheduling.volcano.sh", "podgroups", "list watch update"},
    {"scheduling.volcano.sh", "queues", "list watch create"},
    {"scheduling.volcano.sh", "queues/status", "update", "the allocated resources of queues are not shown"},
    {"scheduling.k8s.io", "priorityclasses", "list watch"},
    {"", "resourcequotas", "list watch", "quotas of namespaces do not hold groups back"},
    {"policy", "poddisruptionbudgets", "list watch", "the plugin pdb protects nobody"},
    {"nodeinfo.volcano.sh", "numatopologies", "list watch", "the plugin numa-aware knows no node"},
    {"topology.volcano.sh", "hypernodes", "list watch", "the network's topology is not known"},
};

// The rights of the discovery of HyperNodes, in the controllers or by itself. The controllers work without it.
constexpr Right kDiscovery[] = {
    {"", "nodes", "list watch"},
    {"topology.volcano.sh", "hypernodes", "list watch create delete update"},
    {"topology.volcano.sh", "hypernodes/status", "update", "how many nodes HyperNodes have is not shown"},
};
constexpr std::string_view kWithoutDiscovery = "the network is not discovered";

// Beside those, where it is a program of its own.
constexpr Right kHyperNodeController[] = {
    {"coordination.k8s.io", "leases", "create", "", true},
    {"coordination.k8s.io", "leases", "get update", "", true, NamedObjects::kLease},
    {"", "configmaps", "list watch", "what configures the discovery is not known", true},
    {"", "secrets", "get", "UFM servers are not asked", true},
    {"", "events", "create patch", "nobody is told what is wrong with HyperNodes"},
};

constexpr std::string_view kAskedLater = "what refused a job's pods is asked again after up to half a minute";

constexpr std::string_view kWithoutNativeGroups = "pods of PodGroups of scheduling.k8s.io wait";

constexpr Right kControllers[] = {
    {"batch.volcano.sh", "jobs", "get list watch update delete"},
    {"batch.volcano.sh", "jobs/status", "update"},
    {"bus.volcano.sh", "commands", "list watch delete"},
    {"", "pods", "create get list watch delete update"},
    {"scheduling.volcano.sh", "podgroups", "get list watch create delete update"},
    {"scheduling.volcano.sh", "queues", "get list watch update"},
    {"scheduling.volcano.sh", "queues/status", "patch"},
    {"coordination.k8s.io", "leases", "get create update", "", true},
    {"", "events", "create patch", "nobody is told what becomes of jobs"},
    {"", "services", "get create delete", "jobs with the plugin svc wait"},
    {"", "configmaps", "get list watch create delete update", "jobs with the plugins svc and mpi wait"},
    {"", "secrets", "get create delete update", "jobs with the plugin ssh wait"},
    {"networking.k8s.io", "networkpolicies", "get create delete", "jobs with the plugin svc wait"},
    {"", "persistentvolumeclaims", "get list watch create", "jobs with volume claims wait"},
    {"scheduling.k8s.io", "priorityclasses", "get list watch", "priorities of tasks do not order minResources"},
    {"scheduling.k8s.io", "podgroups workloads", "list watch", kWithoutNativeGroups},
    {"scheduling.k8s.io", "podgroups/status", "update", kWithoutNativeGroups},
    {"", "resourcequotas limitranges serviceaccounts", "list watch", kAskedLater},
    {"node.k8s.io", "runtimeclasses", "list watch", kAskedLater},
    {"apps", "replicasets statefulsets", "get list watch", "pods of workloads get no groups"},
    {"batch.volcano.sh", "cronjobs", "get list watch", "CronJobs rest"},
    {"batch.volcano.sh", "cronjobs/status", "update", "CronJobs rest"},
    {"batch.volcano.sh", "jobs", "create", "CronJobs and JobFlows make no jobs"},
    {"flow.volcano.sh", "jobflows jobtemplates", "get list watch", "JobFlows rest"},
    {"flow.volcano.sh", "jobflows/status jobtemplates/status", "update", "JobFlows rest"},
    {"topology.volcano.sh", "hypernodes", "get", kWithoutDiscovery},
    {"shard.volcano.sh", "nodeshards", "get list watch create delete update", "nodes are not shared out"},
    {"shard.volcano.sh", "nodeshards/status", "update", "nodes are not shared out"},
    {"config.volcano.sh", "colocationconfigurations", "list watch", "ColocationConfigurations are not looked after"},
};

constexpr Right kAdmission[] = {
    {"admissionregistration.k8s.io", "mutatingwebhookconfigurations validatingwebhookconfigurations", "get update"},
    {"admissionregistration.k8s.io", "mutatingwebhookconfigurations validatingwebhookconfigurations", "list watch",
     "a CA that is taken out of them is not put back"},
    {"scheduling.volcano.sh", "queues", "get list watch"},
    {"", "secrets", "get list watch patch", "certificates are not renewed while it runs", true, NamedObjects::kSecret},
};
constexpr std::string_view kWithoutProfiles = "Profiles rest", kWithoutBoards = "TensorBoards and viewers rest";

constexpr std::string_view kWithoutPipelines = "runs of pipelines rest";

constexpr Right kKubeflow[] = {
    {"kubeflow.org", "notebooks", "list watch patch"},
    {"kubeflow.org", "notebooks/status", "update"},
    {"apps", "statefulsets", "list watch create update"},
    {"", "services", "list watch create update"},
    {"", "pods", "list watch delete"},
    {"", "events", "list watch create patch", "nobody is told what becomes of notebooks"},
    {"coordination.k8s.io", "leases", "get create update", "", true},
    {"apiextensions.k8s.io", "customresourcedefinitions", "list watch", "routes of Istio are not made"},
    {"tensorboard.kubeflow.org", "tensorboards", "list watch", kWithoutBoards},
    {"tensorboard.kubeflow.org", "tensorboards/status", "update", kWithoutBoards},
    {"kubeflow.org", "pvcviewers", "list watch", kWithoutBoards},
    {"kubeflow.org", "pvcviewers/status", "update", kWithoutBoards},
    {"apps", "deployments", "list watch create update", kWithoutBoards},
    {"", "persistentvolumeclaims", "list watch", kWithoutBoards},
    {"pipelines.kubeflow.org", "pipelineruns", "list watch create patch", kWithoutPipelines},
    {"pipelines.kubeflow.org", "pipelinetasks", "list watch create delete", kWithoutPipelines},
    {"pipelines.kubeflow.org", "experiments pipelines pipelineversions recurringruns", "list watch", kWithoutPipelines},
    {"pipelines.kubeflow.org", "pipelineruns/status pipelinetasks/status recurringruns/status", "update",
     kWithoutPipelines},
    {"pipelines.kubeflow.org", "experiments/status pipelinetasks/status", "patch", kWithoutPipelines},
    {"", "pods", "create", kWithoutPipelines},
    {"", "persistentvolumeclaims", "create delete", kWithoutPipelines},
    {"", "configmaps", "get create", kWithoutPipelines},
    {"", "serviceaccounts", "impersonate", "steps that make or delete claims fail in runs with a serviceAccountName"},
    {"argoproj.io", "workflows", "list watch create patch delete", "Workflows rest"},
    {"", "pods", "patch", "outputs of steps over 4 KiB are refused"},
    {"authentication.k8s.io", "tokenreviews", "create", "the REST API of pipelines lets nobody in"},
    {"scheduling.volcano.sh", "podgroups", "delete", "groups of ended steps stay until their tasks are deleted"},
    {"scheduling.volcano.sh", "podgroups", "list watch create patch", "gangs of loops do not start"},
    {"kubeflow.org", "profiles", "list watch update", kWithoutProfiles},
    {"kubeflow.org", "profiles/status", "update", kWithoutProfiles},
    {"", "namespaces", "list watch create update", kWithoutProfiles},
    {"", "serviceaccounts resourcequotas", "list watch create update", kWithoutProfiles},
    {"", "resourcequotas", "delete", kWithoutProfiles},
    {"rbac.authorization.k8s.io", "rolebindings", "list watch create update", kWithoutProfiles},
    {"rbac.authorization.k8s.io", "clusterroles", "bind", kWithoutProfiles, false, NamedObjects::kOwners},
};
// The DaemonSet of co-location.
constexpr Right kNodeAgent[] = {
    {"", "pods nodes", "list watch"},
    {"", "nodes/status", "patch"},
    {"", "nodes", "patch", "nodes that shed offline pods have no taint, and their label does not follow the switches"},
    {"", "configmaps", "list watch", "", true},
    {"", "configmaps", "create update", "the configuration is neither made nor completed", true},
    {"", "pods/eviction", "create", "offline pods are not evicted"},
    {"scheduling.volcano.sh", "podgroups", "get", "gangs are evicted pod by pod"},
    {"", "events", "create patch", "nobody is told what is evicted"},
};
constexpr Right kPodDefaulting = {"kubeflow.org", "poddefaults", "list watch", "no PodDefault is applied to pods"};
constexpr Right kGroupMutation = {"", "namespaces", "list watch", "groups go through /podgroups/mutate unchanged"};

// The names and paths in flags that rights are about; as charts give them where nothing runs that says otherwise.
struct Facts {
  std::string secret = "volcano-admission-secret";
  std::string lease;  // of the HyperNode controller
  bool mutates_groups = false, applies_pod_defaults = false;
  std::map<std::string, scheduler::Options, std::less<>> schedulers;  // by program
};

scheduler::Options options_of_scheduler(cli::Api& api, const PreflightOptions& options, std::string_view program) {
  const scheduler::Options usual = program == "scheduler" ? scheduler::Options() : scheduler::agent_options();
  scheduler::Options out = usual;
  std::string where;
  const Json pod = template_of(api, options, program, where);
  return !pod.is_null() && scheduler::parse_options(words_of_program(pod), out).ok() ? out : usual;
}

Facts facts_of(cli::Api& api, const PreflightOptions& options) {
  Facts out{.lease = options.release + "-hypernode-controller-manager"};
  std::string where;
  WebhookFlags webhook;
  const Json admission = template_of(api, options, "admission", where);
  if (!admission.is_null() && base::parse_flags(webhook.rows(), words_of_program(admission)).ok()) {
    if (!webhook.tls_secret_name.empty()) out.secret = webhook.tls_secret_name;
    out.mutates_groups = webhook.enabled.find("/podgroups/mutate") != std::string::npos;
    out.applies_pod_defaults = webhook.enabled.find("/apply-poddefault") != std::string::npos;
  }
  ControllerFlags discovery = hypernode_controller_flags();
  const Json pod = template_of(api, options, "hypernode-controller", where);
  if (!pod.is_null() && base::parse_flags(discovery.rows(), words_of_program(pod)).ok())
    out.lease = discovery.lease_name;
  for (const std::string_view program : {"scheduler", "agent-scheduler"})
    out.schedulers.emplace(program, options_of_scheduler(api, options, program));
  return out;
}

// Whether the scheduler leaves unread, as its flags say, what it could watch; it does not write to it either.
bool is_left_unread(const Facts& facts, std::string_view program, std::string_view group, std::string_view resource) {
  const auto options = facts.schedulers.find(program);
  if (options == facts.schedulers.end()) return false;
  const auto is_watched = [&](const scheduler::Options& by) {
    return std::ranges::any_of(scheduler::watched_resources(by), [&](const api::ResourceId& id) {
      return id.group == group && id.plural == resource.substr(0, resource.find('/'));
    });
  };
  scheduler::Options all = program == "scheduler" ? scheduler::Options() : scheduler::agent_options();
  all.sharding_mode = "soft";
  return is_watched(all) && !is_watched(options->second);
}

std::vector<Right> rights_of(std::string_view program, const Facts& facts) {
  std::vector<Right> out;
  const auto add = [&out](std::span<const Right> rights) { out.insert(out.end(), rights.begin(), rights.end()); };
  if (program == "scheduler" || program == "agent-scheduler") add(kPodScheduling);
  if (program == "scheduler") add(kGroupScheduling);
  if (program == "controllers") {
    add(kControllers);
    for (Right right : kDiscovery) {
      if (right.without.empty()) right.without = kWithoutDiscovery;
      out.push_back(right);
    }
  }
  if (program == "hypernode-controller") {
    add(kDiscovery);
    add(kHyperNodeController);
  }
  if (program == "admission") add(kAdmission);
  if (program == "kubeflow-controllers") add(kKubeflow);
  if (program == "agent") add(kNodeAgent);
  if (program == "admission" && facts.mutates_groups) out.push_back(kGroupMutation);
  if (program == "admission" && facts.applies_pod_defaults) out.push_back(kPodDefaulting);
  return out;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    words.emplace_back(text.substr(start, end - start));
    start = end + 1;
  }
  return words;
}

struct Asked {
  std::string user;  // empty: who asks
  std::string verb, group, resource, ns;
  std::string name = {};  // of one object; empty: of all
};

base::Result<bool> is_allowed(cli::Api& api, const Asked& asked) {
  const std::size_t slash = asked.resource.find('/');
  Json attributes =
      Json::object({{"verb", asked.verb}, {"group", asked.group}, {"resource", asked.resource.substr(0, slash)}});
  if (slash != std::string::npos) attributes.set("subresource", asked.resource.substr(slash + 1));
  if (!asked.ns.empty()) attributes.set("namespace", asked.ns);
  if (!asked.name.empty()) attributes.set("name", asked.name);
  Json spec = Json::object({{"resourceAttributes", std::move(attributes)}});
  if (!asked.user.empty()) {
    spec.set("user", asked.user);
    spec.set("groups", Json::array({"system:serviceaccounts", "system:authenticated"}));
  }
  const std::string_view kind = asked.user.empty() ? "SelfSubjectAccessReview" : "SubjectAccessReview";
  client::Request request{.verb = client::Verb::kCreate,
                          .resource = {"authorization.k8s.io", "v1",
                                       asked.user.empty() ? "selfsubjectaccessreviews" : "subjectaccessreviews"}};
  request.body = Json::object({{"apiVersion", "authorization.k8s.io/v1"}, {"kind", kind}, {"spec", std::move(spec)}});
  TRY(const Json answer, api.call(std::move(request)));
  return answer["status"]["allowed"].as_bool();
}

std::string who_asks(cli::Api& api) {
  client::Request request{.verb = client::Verb::kCreate,
                          .resource = {"authentication.k8s.io", "v1", "selfsubjectreviews"}};
  request.body = Json::object({{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "SelfSubjectReview"}});
  const auto answer = api.call(std::move(request));
  const std::string_view name = answer.ok() ? (*answer)["status"]["userInfo"]["username"].as_string() : "";
  return name.empty() ? "the account of the kubeconfig" : std::string(name);
}

struct Judged {
  std::string_view program;
  std::string user;     // empty: who asks
  std::string account;  // its name
  std::string ns;       // of the installation
};

Finding lack_of(const Judged& judged, const Right& right, const Asked& asked) {
  std::string what = right.group.empty() ? asked.resource : base::format("{}.{}", asked.resource, right.group);
  if (!asked.name.empty()) what += " " + asked.name;
  if (!asked.ns.empty()) what += " in namespace " + asked.ns;
  const bool is_needed = right.without.empty();
  return {is_needed ? Level::kProblem : Level::kChange,
          base::format("{} may not {} {}: {}", judged.account, asked.verb, what,
                       is_needed ? base::format("the {} needs that", judged.program)
                                 : base::format("{} ({})", right.without, judged.program))};
}

// One line for each right of the program that is missing; false: the server does not say.
bool check_program(cli::Api& api, const Judged& judged, const Facts& facts, Findings& out) {
  int count = 0, missing = 0;
  for (const Right& right : rights_of(judged.program, facts))
    for (const std::string& resource : words_of(right.resources)) {
      if (is_left_unread(facts, judged.program, right.group, resource)) continue;
      for (const std::string& verb : words_of(right.verbs)) {
        const Asked asked{judged.user,
                          verb,
                          std::string(right.group),
                          resource,
                          right.in_namespace ? judged.ns : "",
                          right.named == NamedObjects::kSecret   ? facts.secret
                          : right.named == NamedObjects::kLease  ? facts.lease
                          : right.named == NamedObjects::kOwners ? "kubeflow-admin"
                                                                 : ""};
        const auto allowed = is_allowed(api, asked);
        if (!allowed.ok()) {
          out.push_back({Level::kProblem, base::format("rights of {} cannot be asked for: {}", judged.account,
                                                       allowed.error().message)});
          return false;
        }
        ++count;
        if (*allowed) continue;
        ++missing;
        out.push_back(lack_of(judged, right, asked));
      }
    }
  if (missing == 0)
    out.push_back(
        {Level::kGood, base::format("{} has the {} rights of the {}", judged.account, count, judged.program)});
  return true;
}

// Charts leave some programs out unless they are told; their accounts are judged where these are.
bool is_left_out(std::string_view program) {
  return program != "scheduler" && program != "controllers" && program != "admission";
}

// By its Deployment or DaemonSet, or by its account, which is there before.
base::Result<bool> is_installed(cli::Api& api, const PreflightOptions& options, std::string_view program) {
  const std::string name = base::format("{}-{}", options.release, program);
  base::Status seen;
  for (const api::ResourceId& id : {api::ResourceId{"apps", "v1", program == "agent" ? "daemonsets" : "deployments"},
                                    api::resources::kServiceAccounts}) {
    const auto found = get_object(api, id, options.ns, name);
    if (found.ok()) return true;
    if (found.error().code != base::Code::kNotFound) seen = found.error();
  }
  if (!seen.ok()) return seen.error();
  return false;
}

bool is_asked_for(cli::Api& api, const PreflightOptions& options, std::string_view program, Findings& out) {
  if (!options.programs.empty()) return std::ranges::find(options.programs, program) != options.programs.end();
  if (!is_left_out(program)) return true;
  const auto installed = is_installed(api, options, program);
  if (installed.ok()) return *installed;
  out.push_back({Level::kChange, base::format("whether the {} is installed cannot be seen, and its rights are asked "
                                              "for with --program {} only: {}",
                                              program, program, installed.error().message)});
  return false;
}

}  // namespace

std::set<std::string> write_rights_of(std::string_view program) {
  std::set<std::string> out;
  for (const Right& right : rights_of(program, {}))
    for (const std::string& verb : words_of(right.verbs))
      if (verb == "create" || verb == "update" || verb == "patch" || verb == "delete" || verb == "deletecollection")
        for (const std::string& resource : words_of(right.resources))
          out.insert(base::format("{} {}.{}", verb, resource, right.group));
  return out;
}

void check_rights(cli::Api& api, const PreflightOptions& options, Findings& out) {
  const std::string self = options.service_accounts ? "" : who_asks(api);
  const Facts facts = facts_of(api, options);
  for (const std::string_view program : kPreflightPrograms) {
    if (!is_asked_for(api, options, program, out)) continue;
    const std::string user = options.service_accounts
                                 ? base::format("system:serviceaccount:{}:{}-{}", options.ns, options.release, program)
                                 : "";
    if (!check_program(api, {program, user, user.empty() ? self : user, options.ns}, facts, out)) return;
  }
}

}  // namespace volcano_main
