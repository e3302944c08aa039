// tensorflow: TF_CONFIG tells each container the cluster and its own place in it.
#include <algorithm>
#include <array>

#include "controllers/job/plugins/arguments.h"
#include "controllers/job/plugins/plugin.h"

namespace controllers::job {

using api::Json;

namespace {

constexpr std::array<std::string_view, 4> kRoles = {"ps", "worker", "chief", "evaluator"};
constexpr std::array<Flag, 5> kFlags = {{{"ps", Flag::Type::kText, "ps"},
                                         {"worker", Flag::Type::kText, "worker"},
                                         {"chief", Flag::Type::kText, "chief"},
                                         {"evaluator", Flag::Type::kText, "evaluator"},
                                         {"port", Flag::Type::kNumber, "2222"}}};

}  // namespace

base::Status edit_tensorflow(const Job& job, const Args& args, const Task& task, std::int64_t index, Json& pod) {
  if (job.tasks.size() == 1 && job.tasks[0].replicas == 1) return {};
  const Flags flags(kFlags, args);
  Json cluster = Json::object();
  std::string type = task.name;
  for (const std::string_view role : kRoles) {
    if (task.name == flags.text(role)) type = std::string(role);
    const Task* member = job.find_task(flags.text(role));
    if (!member || member->replicas == 0) continue;
    Json hosts = Json::array();
    for (std::int64_t i = 0; i < std::min(member->replicas, kAddressesMax); ++i)
      hosts.push_back(address(job, *member, i) + ":" + flags.text("port"));
    cluster.set(role, std::move(hosts));
  }
  const Json config =
      Json::object({{"cluster", std::move(cluster)}, {"task", Json::object({{"type", type}, {"index", index}})}});
  const Json text = config.dump();
  for_containers(pod, false, [&](Json& container) { add_env(container, "TF_CONFIG", text); });
  return {};
}

}  // namespace controllers::job
