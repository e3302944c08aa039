// Which rights do our programs use, and which of them are missing?
#include <algorithm>
#include <iterator>
#include <vector>

#include "base/flags.h"
#include "base/format.h"
#include "main/host/other_installation.h"
#include "main/host/preflight.h"
#include "main/host/webhook_flags.h"

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
  bool of_secret = false;         // on the one Secret of the webhook, which is all that charts give
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
    {"resource.k8s.io", "resourceclaims", "get patch", "pods with claims wait"},
    {"resource.k8s.io", "resourceclaims/status resourceclaims/binding", "update", "pods with claims wait"},
    {"", "services replicationcontrollers", "list watch", "pods of one service are not spread"},
    {"apps", "replicasets statefulsets", "list watch", "pods of one workload are not spread"},
    {"storage.k8s.io", "volumeattachments", "list watch", "volumes that nodes hold are not counted"},
    {"", "configmaps", "list watch", "what configures shared devices is not known"},
    {"nodeinfo.volcano.sh", "numatopologies", "list watch", "the plugin numa-aware knows no node"},
    {"topology.volcano.sh", "hypernodes", "list watch", "the network's topology is not known"},
    {"shard.volcano.sh", "nodeshards", "list watch", "nodes are not shared between schedulers"},
    {"shard.volcano.sh", "nodeshards/status", "update", "what it uses of its shard is not shown"},
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
    {"flow.volcano.sh", "jobflows/status jobtemplates/status", "update", "JobFlows rest"},
    {"", "nodes", "list watch", "the network is not discovered"},
    {"topology.volcano.sh", "hypernodes", "get list watch create delete update", "the network is not discovered"},
    {"topology.volcano.sh", "hypernodes/status", "update", "how many nodes HyperNodes have is not shown"},
    {"shard.volcano.sh", "nodeshards", "get list watch create delete update", "nodes are not shared out"},
    {"config.volcano.sh", "colocationconfigurations", "list watch", "ColocationConfigurations are not looked after"},
};

constexpr Right kAdmission[] = {
    {"admissionregistration.k8s.io", "mutatingwebhookconfigurations validatingwebhookconfigurations", "get update"},
    {"admissionregistration.k8s.io", "mutatingwebhookconfigurations validatingwebhookconfigurations", "list watch",
     "a CA that is taken out of them is not put back"},
    {"scheduling.volcano.sh", "queues", "get list watch"},
    {"", "secrets", "get list watch patch", "certificates are not renewed while it runs", true, true},
};
constexpr Right kGroupMutation = {"", "namespaces", "list watch", "groups go through /podgroups/mutate unchanged"};

// What its flags say of the webhook; as charts give them where nothing runs that says otherwise.
struct WebhookFacts {
  std::string secret = "volcano-admission-secret";
  bool mutates_groups = false;
};

WebhookFacts webhook_facts(cli::Api& api, const PreflightOptions& options) {
  WebhookFacts out;
  std::string where;
  const Json pod = template_of(api, options, "admission", where);
  WebhookFlags flags;
  if (pod.is_null() || !base::parse_flags(flags.rows(), words_of_program(pod)).ok()) return out;
  if (!flags.tls_secret_name.empty()) out.secret = flags.tls_secret_name;
  out.mutates_groups = flags.enabled.find("/podgroups/mutate") != std::string::npos;
  return out;
}

std::vector<Right> rights_of(std::string_view program, const WebhookFacts& webhook) {
  if (program == "scheduler") return {std::begin(kScheduler), std::end(kScheduler)};
  if (program == "controllers") return {std::begin(kControllers), std::end(kControllers)};
  std::vector<Right> out(std::begin(kAdmission), std::end(kAdmission));
  if (webhook.mutates_groups) out.push_back(kGroupMutation);
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
bool check_program(cli::Api& api, const Judged& judged, const WebhookFacts& webhook, Findings& out) {
  int count = 0, missing = 0;
  for (const Right& right : rights_of(judged.program, webhook))
    for (const std::string& resource : words_of(right.resources))
      for (const std::string& verb : words_of(right.verbs)) {
        const Asked asked{judged.user,
                          verb,
                          std::string(right.group),
                          resource,
                          right.in_namespace ? judged.ns : "",
                          right.of_secret ? webhook.secret : ""};
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
  if (missing == 0)
    out.push_back(
        {Level::kGood, base::format("{} has the {} rights of the {}", judged.account, count, judged.program)});
  return true;
}

}  // namespace

void check_rights(cli::Api& api, const PreflightOptions& options, Findings& out) {
  const std::string self = options.service_accounts ? "" : who_asks(api);
  const WebhookFacts webhook = webhook_facts(api, options);
  for (const std::string_view program : kPreflightPrograms) {
    if (!options.programs.empty() && std::ranges::find(options.programs, program) == options.programs.end()) continue;
    const std::string user = options.service_accounts
                                 ? base::format("system:serviceaccount:{}:{}-{}", options.ns, options.release, program)
                                 : "";
    if (!check_program(api, {program, user, user.empty() ? self : user, options.ns}, webhook, out)) return;
  }
}

}  // namespace volcano_main
