// Which rights do our programs use, and which of them are missing?
#include <algorithm>
#include <span>

#include "base/format.h"
#include "main/host/preflight.h"

namespace volcano_main {
namespace {

using api::Json;
using Level = Finding::Level;

// Words are separated by blanks: each verb on each resource. Without those that are `optional` a program does without
// something; the text says what.
struct Right {
  std::string_view group, resources, verbs;
  std::string_view without = "";  // what is missing then; empty: the program does not work
  bool in_namespace = false;      // of the installation
};

constexpr Right kScheduler[] = {
    {"", "pods", "list watch delete"},
    {"", "pods", "patch", "gates of pods stay, and shared devices are not noted"},
    {"", "nodes", "patch", "shared devices are not noted"},
    {"", "pods/status", "update"},
    {"", "pods/binding", "create"},
    {"", "nodes", "list watch"},
    {"scheduling.volcano.sh", "podgroups", "list watch update"},
    {"scheduling.volcano.sh", "queues", "list watch create"},
    {"scheduling.volcano.sh", "queues/status", "update", "the allocated resources of queues are not shown"},
    {"scheduling.k8s.io", "priorityclasses", "list watch"},
    {"coordination.k8s.io", "leases", "get create update", "", true},
    {"", "events", "create patch", "nobody is told why pods wait"},
    {"", "resourcequotas", "list watch", "quotas of namespaces do not hold groups back"},
    {"", "namespaces", "list watch", "selectors of namespaces match none"},
    {"", "persistentvolumeclaims persistentvolumes", "list watch update", "pods with volumes wait"},
    {"storage.k8s.io", "storageclasses csinodes csidrivers csistoragecapacities", "list watch",
     "pods with volumes wait"},
    {"policy", "poddisruptionbudgets", "list watch", "the plugin pdb protects nobody"},
    {"resource.k8s.io", "resourceclaims deviceclasses resourceslices", "list watch", "pods with claims wait"},
    {"nodeinfo.volcano.sh", "numatopologies", "list watch", "the plugin numa-aware knows no node"},
    {"topology.volcano.sh", "hypernodes", "list watch", "the network's topology is not known"},
    {"shard.volcano.sh", "nodeshards", "list watch", "nodes are not shared between schedulers"},
};

constexpr Right kControllers[] = {
    {"batch.volcano.sh", "jobs", "get list watch update delete"},
    {"batch.volcano.sh", "jobs/status", "update"},
    {"bus.volcano.sh", "commands", "list watch delete"},
    {"", "pods", "create get list watch delete update"},
    {"scheduling.volcano.sh", "podgroups", "get list watch create delete update"},
    {"scheduling.volcano.sh", "queues", "get list watch update"},
    {"scheduling.volcano.sh", "queues/status", "update"},
    {"coordination.k8s.io", "leases", "get create update", "", true},
    {"", "events", "create patch", "nobody is told what becomes of jobs"},
    {"", "services", "get create delete", "jobs with the plugin svc wait"},
    {"", "configmaps", "get list watch create delete update", "jobs with the plugins svc and mpi wait"},
    {"", "secrets", "get create delete update", "jobs with the plugin ssh wait"},
    {"networking.k8s.io", "networkpolicies", "get create delete", "jobs with the plugin svc wait"},
    {"", "persistentvolumeclaims", "get list watch create", "jobs with volume claims wait"},
    {"scheduling.k8s.io", "priorityclasses", "get list watch", "priorities of tasks do not order minResources"},
    {"apps", "replicasets statefulsets", "get list watch", "pods of workloads get no groups"},
    {"batch.volcano.sh", "cronjobs", "get list watch update", "CronJobs rest"},
    {"batch.volcano.sh", "cronjobs/status", "update", "CronJobs rest"},
    {"batch.volcano.sh", "jobs", "create", "CronJobs and JobFlows make no jobs"},
    {"flow.volcano.sh", "jobflows jobtemplates", "get list watch update", "JobFlows rest"},
    {"", "nodes", "list watch", "the network is not discovered"},
    {"topology.volcano.sh", "hypernodes", "get list watch create delete update", "the network is not discovered"},
};

constexpr Right kAdmission[] = {
    {"admissionregistration.k8s.io", "mutatingwebhookconfigurations validatingwebhookconfigurations", "get update"},
    {"admissionregistration.k8s.io", "mutatingwebhookconfigurations validatingwebhookconfigurations", "list watch",
     "a CA that is taken out of them is not put back"},
    {"scheduling.volcano.sh", "queues", "get list watch"},
    {"", "namespaces", "list watch", "groups go through /podgroups/mutate unchanged"},
    {"", "secrets", "get list watch patch", "certificates are not renewed while it runs", true},
};

std::span<const Right> rights_of(std::string_view program) {
  if (program == "scheduler") return kScheduler;
  if (program == "controllers") return kControllers;
  return kAdmission;
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
};

base::Result<bool> is_allowed(cli::Api& api, const Asked& asked) {
  const std::size_t slash = asked.resource.find('/');
  Json attributes =
      Json::object({{"verb", asked.verb}, {"group", asked.group}, {"resource", asked.resource.substr(0, slash)}});
  if (slash != std::string::npos) attributes.set("subresource", asked.resource.substr(slash + 1));
  if (!asked.ns.empty()) attributes.set("namespace", asked.ns);
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

// One line for each right of the program that is missing; false: the server does not say.
bool check_program(cli::Api& api, std::string_view program, const std::string& user, const std::string& account,
                   const std::string& ns, Findings& out) {
  int asked = 0, missing = 0;
  for (const Right& right : rights_of(program))
    for (const std::string& resource : words_of(right.resources))
      for (const std::string& verb : words_of(right.verbs)) {
        const auto allowed =
            is_allowed(api, {user, verb, std::string(right.group), resource, right.in_namespace ? ns : ""});
        if (!allowed.ok()) {
          out.push_back({Level::kProblem,
                         base::format("rights of {} cannot be asked for: {}", account, allowed.error().message)});
          return false;
        }
        ++asked;
        if (*allowed) continue;
        ++missing;
        const std::string what = right.group.empty() ? resource : base::format("{}.{}", resource, right.group);
        const std::string where = right.in_namespace ? base::format(" in namespace {}", ns) : "";
        out.push_back({right.without.empty() ? Level::kProblem : Level::kChange,
                       base::format("{} may not {} {}{}: {}", account, verb, what, where,
                                    right.without.empty() ? base::format("the {} needs that", program)
                                                          : base::format("{} ({})", right.without, program))});
      }
  if (missing == 0)
    out.push_back({Level::kGood, base::format("{} has the {} rights of the {}", account, asked, program)});
  return true;
}

}  // namespace

void check_rights(cli::Api& api, const PreflightOptions& options, Findings& out) {
  const std::string self = options.service_accounts ? "" : who_asks(api);
  for (const std::string_view program : kPreflightPrograms) {
    if (!options.programs.empty() && std::ranges::find(options.programs, program) == options.programs.end()) continue;
    const std::string user = options.service_accounts
                                 ? base::format("system:serviceaccount:{}:{}-{}", options.ns, options.release, program)
                                 : "";
    if (!check_program(api, program, user, user.empty() ? self : user, options.ns, out)) return;
  }
}

}  // namespace volcano_main
