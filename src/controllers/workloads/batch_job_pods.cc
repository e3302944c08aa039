// The pods that a Job wants at work: which stay, and which are made.
#include <algorithm>

#include "base/format.h"
#include "controllers/workloads/batch_job_state.h"
#include "controllers/workloads/job_groups.h"
#include "controllers/workloads/replica_set.h"

namespace controllers::workloads {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::size_t kBurstMax = 500;
constexpr std::string_view kIndex = "batch.kubernetes.io/job-completion-index";

std::int64_t wanted_pods(const Json& job, const Tally& tally) {
  const std::int64_t parallelism = job["spec"]["parallelism"].as_int(1);
  if (tally.completions >= 0) return std::min(parallelism, tally.completions - tally.succeeded - tally.lost.count());
  return tally.succeeded > 0 ? std::min(parallelism, static_cast<std::int64_t>(tally.running.size())) : parallelism;
}

// An index is worked at once, and only while it is wanted. Gives the indexes that are worked at.
NumberSet give_up_spare_indexes(Tally& tally) {
  NumberSet taken;
  std::vector<PodAtWork> kept;
  for (const PodAtWork& one : tally.running) {
    const bool is_spare =
        tally.is_indexed && (one.index < 0 || one.index >= tally.completions || tally.done.has(one.index) ||
                             tally.lost.has(one.index) || taken.has(one.index));
    if (is_spare) {
      give_up(one, "", tally);
      continue;
    }
    if (tally.is_indexed) taken.add(one.index);
    kept.push_back(one);
  }
  tally.running = std::move(kept);
  return taken;
}

void give_up_surplus(std::int64_t wanted, base::Time now, Tally& tally) {
  std::vector<PodAtWork>& pods = tally.running;
  std::ranges::stable_sort(pods,
                           [&](const PodAtWork& a, const PodAtWork& b) { return goes_before({a.pod}, {b.pod}, now); });
  const std::int64_t surplus = static_cast<std::int64_t>(pods.size()) - std::max<std::int64_t>(wanted, 0);
  for (std::int64_t i = 0; i < surplus; ++i) give_up(pods[static_cast<std::size_t>(i)], "", tally);
  if (surplus > 0) pods.erase(pods.begin(), pods.begin() + surplus);
}

// The first indexes that are neither over nor worked at, and whose own pause has passed.
MissingPods free_indexes(std::size_t count, const NumberSet& taken, base::Time now, const Tally& tally) {
  MissingPods out;
  for (std::int64_t index = 0; out.indexes.size() < count; ++index) {
    // There may be billions that are done.
    for (std::int64_t from = -1; from != index;) {
      from = index;
      for (const NumberSet* over : {&tally.done, &tally.lost, &tally.leaving, &taken})
        index = over->first_absent(index);
    }
    if (index >= tally.completions) break;
    const auto failed = tally.failures_of.find(index);
    const base::Duration pause =
        failed == tally.failures_of.end() ? base::Duration{} : index_pause(failed->second, now);
    if (pause > base::Duration{})
      out.look_again = std::min(pause, out.look_again.value_or(pause));
    else
      out.indexes.push_back(index);
  }
  out.count = out.indexes.size();
  return out;
}

void set_index(const std::string& host, std::int64_t index, Json& pod) {
  constexpr std::string_view kVariable = "JOB_COMPLETION_INDEX";
  for (const char* part : {"annotations", "labels"}) pod.edit("metadata").edit(part).set(kIndex, std::to_string(index));
  if (pod["spec"]["hostname"].as_string().empty()) pod.edit("spec").set("hostname", host);
  const Json variable = Json::object(
      {{"name", kVariable},
       {"valueFrom",
        Json::object({{"fieldRef", Json::object({{"fieldPath", base::format("metadata.labels['{}']", kIndex)}})}})}});
  for (const char* list : {"initContainers", "containers"})
    for (std::size_t i = 0; i < pod["spec"][list].size(); ++i) {
      Json& container = pod.edit("spec").edit(list).edit(i);
      const bool has = std::ranges::any_of(container["env"].items(),
                                           [&](const Json& one) { return one["name"].as_string() == kVariable; });
      if (!has) container.edit("env").push_back(variable);
    }
}

void create_pod(const ObservedJob& seen, const Tally& tally, const Turn& turn, const MissingPods& missing,
                std::size_t at, std::int64_t number, Plan& plan) {
  const bool is_indexed = !missing.indexes.empty();
  const std::string prefix = is_indexed ? base::format("{}-{}", api::name_of(seen.job), missing.indexes[at])
                                        : std::string(api::name_of(seen.job));
  std::string name = fresh_name(seen.is_taken, seen.job, prefix, turn.now, at);
  Json pod = pod_from(seen.job["spec"]["template"], seen.job, "batch/v1", "Job", name);
  Json& metadata = pod.edit("metadata");
  metadata.set("generateName", prefix + "-");
  metadata.edit("annotations").set(kPodNumber, std::to_string(number));
  if (has_index_limit(seen.job)) set_failure_counts(tally, missing.indexes[at], metadata.edit("annotations"));
  if (has_own_group(seen.job))
    pod.edit("spec").set("schedulingGroup", Json::object({{"podGroupName", group_name_of(seen.job)}}));
  if (is_indexed) set_index(prefix, missing.indexes[at], pod);
  Action& action = plan.create(resources::kPods, std::move(pod));
  set_creation_events(action, std::move(name));
  action.stops_nothing = turn.failures == 0;
}

}  // namespace

MissingPods plan_pods(const Json& job, base::Duration pause, base::Time now, const PodNumbers& numbers, Tally& tally) {
  const std::int64_t wanted = wanted_pods(job, tally);
  const NumberSet taken = give_up_spare_indexes(tally);
  give_up_surplus(wanted, now, tally);
  const std::int64_t missing = wanted - static_cast<std::int64_t>(tally.running.size()) - tally.held;
  if (missing <= 0 || numbers.are_given) return {};
  if (!has_index_limit(job)) pause = std::max(pause, failure_pause(tally, now));
  if (pause > base::Duration{}) return {.look_again = pause};
  const std::size_t count = std::min(static_cast<std::size_t>(missing), kBurstMax);
  return tally.is_indexed ? free_indexes(count, taken, now, tally) : MissingPods{.count = count};
}

void create_pods(const ObservedJob& seen, const Tally& tally, const Turn& turn, const MissingPods& missing,
                 std::int64_t first_number, Plan& plan) {
  std::size_t batch = turn.failures > 0 ? 1 : std::max<std::size_t>(missing.count, 1);
  for (std::size_t made = 0; made < missing.count; batch *= 2) {
    plan.begin_stage();
    for (std::size_t i = 0; i < batch && made < missing.count; ++i, ++made)
      create_pod(seen, tally, turn, missing, made, first_number + static_cast<std::int64_t>(made), plan);
  }
}

}  // namespace controllers::workloads
