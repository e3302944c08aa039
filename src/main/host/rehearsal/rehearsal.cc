// The objects that controllers would make join the dump in a one-shot run.
#include "main/host/rehearsal/rehearsal.h"

#include <algorithm>
#include <set>

#include "base/format.h"
#include "main/host/flags/manifests.h"
#include "main/host/rehearsal/proposal.h"
#include "scheduler/one_shot/one_shot.h"

namespace volcano_main {
namespace {

using api::Json;

// Admission, allocation, and the places that evictions free, with some to spare.
constexpr int kCycles = 8;

base::Error refused(std::string message) { return base::make_error(base::Code::kInvalid, std::move(message)); }

std::string as_lines(const std::vector<Json>& objects) {
  std::string lines;
  for (const Json& object : objects) lines += object.dump() + "\n";
  return lines;
}

// The keys of the groups of `pods`, in their order.
std::vector<std::string> groups_of(const std::vector<Json>& pods) {
  std::vector<std::string> groups;
  std::set<std::string> seen;
  for (const Json& pod : pods) {
    std::string key =
        base::format("{}/{}", api::namespace_of(pod), api::annotation_of(pod, "scheduling.k8s.io/group-name"));
    if (seen.insert(key).second) groups.push_back(std::move(key));
  }
  return groups;
}

Json answer_of(const scheduler::OneShot& run, const std::vector<Json>& pods) {
  const auto binds = run.binds();
  std::set<std::string> nodes;
  std::int64_t starting = 0;
  for (const Json& pod : pods) {
    const auto found = binds.find(api::key_of(pod));
    if (found == binds.end()) continue;
    ++starting;
    nodes.insert(found->second);
  }
  const std::vector<std::string> groups = groups_of(pods);
  const auto evictions = std::ranges::count_if(run.evictions(), [&](const scheduler::PlannedEviction& one) {
    return std::ranges::find(groups, one.for_group) != groups.end();
  });
  const Json result = run.result();
  const auto waits =
      std::ranges::find_if(groups, [&](const std::string& group) { return !result["waiting"][group].is_null(); });
  return Json::object({{"pods", static_cast<std::int64_t>(pods.size())},
                       {"starting", starting},
                       {"nodes", static_cast<std::int64_t>(nodes.size())},
                       {"evictions", static_cast<std::int64_t>(evictions)},
                       {"reason", waits == groups.end() ? Json() : result["waiting"][*waits]}});
}

base::Status check_size(const std::vector<Json>& workloads) {
  std::int64_t total = 0;
  for (const Json& one : workloads) {
    const std::int64_t wanted = pods_wanted(one);
    if (total += wanted; wanted > kRehearsedReplicasMax || total > kRehearsedReplicasMax)
      return refused(base::format("{} {}: {} pods are more than the {} that are rehearsed", api::kind_of(one),
                                  api::name_of(one), total, kRehearsedReplicasMax));
  }
  return total > 0 ? base::Status() : refused("no object has pods to place");
}

}  // namespace

base::Result<Json> rehearse(const std::string& dump, const RehearsedObjects& objects,
                            const scheduler::Options& options) {
  TRY_VOID(check_size(objects.workloads));
  scheduler::OneShotOptions run_options;
  run_options.scheduler = options;
  run_options.as_is = true;
  run_options.now_given = false;
  run_options.cycles = kCycles;
  scheduler::OneShot run(std::move(run_options), [] { return std::pair(0.0, 0.0); });
  TRY_VOID(run.configure());
  TRY_VOID(run.load("cluster.json", dump));
  run.finish_loading();
  const PriorityOf priority_of = [&classes = run.model().priority_classes](std::string_view name) -> std::int64_t {
    const auto found = classes.find(name);
    return found == classes.end() ? 0 : found->second;
  };
  TRY(Proposal proposal, propose(objects.workloads, options.names(), priority_of));
  if (proposal.pods.empty()) return refused("no object has pods to place");
  PodCompletion completion;
  completion.look_at("cluster.json", dump);
  for (Json& pod : proposal.pods) completion.complete(pod);
  TRY_VOID(run.load("claims.jsonl", as_lines(objects.claims)));
  TRY_VOID(run.load("groups.jsonl", as_lines(proposal.groups)));
  TRY_VOID(run.load("pods.jsonl", as_lines(proposal.pods)));
  run.run_phase();
  return answer_of(run, proposal.pods);
}

}  // namespace volcano_main
