// hcclrank: the pod's rank as an annotation, for Ascend's collective library.
#include <array>
#include <optional>

#include "api/meta/resource.h"
#include "controllers/job/plugins/arguments.h"
#include "controllers/job/plugins/plugin.h"

namespace controllers::job {

using api::Json;

namespace {

constexpr std::string_view kRankIndex = "hccl/rankIndex";
constexpr std::array<Flag, 2> kFlags = {
    {{"master", Flag::Type::kText, "master"}, {"worker", Flag::Type::kText, "worker"}}};

std::string rank_from_env(const Json& pod) {
  for (const Json& container : pod["spec"]["containers"].items())
    for (const Json& env : container["env"].items())
      if (env["name"].as_string() == "RANK" && !env["value"].as_string().empty()) return env["value"].str();
  return {};
}

}  // namespace

base::Status edit_hcclrank(const Job& job, const Args& args, const Task& task, std::int64_t index, Json& pod) {
  if (!api::annotation_of(pod, kRankIndex).empty()) return {};
  const Flags flags(kFlags, args);
  std::string rank = rank_from_env(pod);
  if (rank.empty()) {
    const Task* master = job.find_task(flags.text("master"));
    if (task.name == flags.text("master"))
      rank = std::to_string(index);
    else if (task.name == flags.text("worker"))
      rank = std::to_string((master ? master->replicas : 0) + index);
    else
      return {};
  }
  pod.edit_path({"metadata", "annotations"}).set(kRankIndex, rank);
  return {};
}

}  // namespace controllers::job
