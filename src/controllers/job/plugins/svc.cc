// svc: the pods of a job find each other: a headless Service, a list of hosts, and a wall around the job.
#include <algorithm>
#include <array>

#include "api/json/limits.h"
#include "controllers/job/plugins/arguments.h"
#include "controllers/job/plugins/plugin.h"

namespace controllers::job {

using api::Json;

namespace {

constexpr std::array<Flag, 3> kFlags = {{{"publish-not-ready-addresses", Flag::Type::kBool, "false"},
                                         {"disable-network-policy", Flag::Type::kBool, "false"},
                                         {"inject-hosts-env", Flag::Type::kBool, "true"}}};

std::string underscored(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string variable(const Task& task, std::string_view what) {
  std::string name = underscored(task.name);
  for (char& c : name)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return "VC_" + name + "_" + std::string(what);
}

Json hosts_data(const Job& job) {
  Json data = Json::object();
  std::size_t bytes = 0;  // beyond what a ConfigMap may hold it is refused
  for (const Task& task : job.tasks) {
    if (bytes > api::kObjectBytesMax) break;
    const std::vector<std::string> hosts = addresses(job, task);
    const std::string lines = join(hosts, "\n");
    bytes += lines.size() + task.name.size();
    data.set(underscored(task.name) + ".host", lines);
    data.set(variable(task, "HOSTS"), join(hosts, ","));
    data.set(variable(task, "NUM"), std::to_string(hosts.size()));
  }
  return data;
}

Json from_config_map(const Job& job, const std::string& name) {
  return Json::object(
      {{"name", name},
       {"valueFrom", Json::object({{"configMapKeyRef", Json::object({{"name", job.name + "-svc"}, {"key", name}})}})}});
}

}  // namespace

base::Status edit_svc(const Job& job, const Args& args, const Task&, std::int64_t, Json& pod) {
  const Flags flags(kFlags, args);
  Json& spec = pod.edit("spec");
  if (spec["hostname"].as_string().empty()) spec.set("hostname", pod["metadata"]["name"]);
  if (spec["subdomain"].as_string().empty()) spec.set("subdomain", job.name);
  const std::string volume = job.name + "-svc";
  for_containers(pod, true, [&](Json& container) {
    if (flags.on("inject-hosts-env"))
      for (const Task& task : job.tasks) {
        container.edit("env").push_back(from_config_map(job, variable(task, "HOSTS")));
        container.edit("env").push_back(from_config_map(job, variable(task, "NUM")));
      }
    container.edit("volumeMounts").push_back(Json::object({{"name", volume}, {"mountPath", "/etc/volcano"}}));
  });
  pod.edit("spec").edit("volumes").push_back(
      Json::object({{"name", volume}, {"configMap", Json::object({{"name", volume}})}}));
  return {};
}

base::Status list_svc(const Job& job, const Args& args, std::vector<PluginObject>& objects) {
  const Flags flags(kFlags, args);
  Json hosts = owned_object(job, "v1", "ConfigMap", job.name + "-svc");
  hosts.set("data", hosts_data(job));
  objects.push_back({.resource = api::resources::kConfigMaps, .body = std::move(hosts), .follows_job = true});

  Json service = owned_object(job, "v1", "Service", job.name);
  Json spec = Json::object({{"clusterIP", "None"}, {"selector", job_selector(job)}});
  if (flags.on("publish-not-ready-addresses")) spec.set("publishNotReadyAddresses", true);
  service.set("spec", std::move(spec));
  objects.push_back({.resource = api::resources::kServices, .body = std::move(service)});

  if (flags.on("disable-network-policy")) return {};
  Json policy = owned_object(job, "networking.k8s.io/v1", "NetworkPolicy", job.name);
  const Json selector = Json::object({{"matchLabels", job_selector(job)}});
  policy.set(
      "spec",
      Json::object({{"podSelector", selector},
                    {"ingress",
                     Json::array({Json::object({{"from", Json::array({Json::object({{"podSelector", selector}})})}})})},
                    {"policyTypes", Json::array({"Ingress"})}}));
  objects.push_back({.resource = api::resources::kNetworkPolicies, .body = std::move(policy)});
  return {};
}

}  // namespace controllers::job
