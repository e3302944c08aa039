// The pods of a Job: their numbers, and how many have ended how.
#include <algorithm>

#include "controllers/workloads/batch_job_state.h"

namespace controllers::workloads {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr base::Duration kPauseMin = base::seconds(10);
constexpr base::Duration kPauseMax = base::minutes(10);
// NumberSet of pods are given one by one; a larger one is somebody else's, and those after it could not be read again.
constexpr std::int64_t kGivenMax = 100'000'000'000;
// The numbers of pods are believed up to here, so that what follows stays below the other.
constexpr std::int64_t kBelievedMax = kGivenMax - 1'000'000'000;

base::Time ended_at(const Json& pod) {
  base::Time latest{};
  for (const Json& status : pod["status"]["containerStatuses"].items())
    latest = std::max(latest, time_in(status["state"]["terminated"]["finishedAt"]));
  if (!latest.is_set()) latest = time_in(pod["metadata"]["deletionTimestamp"]);
  if (!latest.is_set()) latest = time_in(pod["metadata"]["creationTimestamp"]);
  return latest;
}

// The next pod waits for a failure that counts for nothing, too: it would come again at once.
void count_failure(const Json& job, const PodOfJob& one, Tally& tally) {
  tally.failures.push_back(ended_at(*one.pod));
  const Verdict verdict = judge_failure(job["spec"]["podFailurePolicy"], *one.pod);
  if (record_index_failure(job, one, verdict, tally.failures.back(), tally)) tally.lost.add(index_of(*one.pod));
  if (verdict.action == "Ignore") return;
  if (verdict.action == "FailJob" && tally.fatal_rule.empty()) tally.fatal_rule = verdict.message;
  ++tally.failed;
}

// The place of a pod that leaves is not filled before the pod is over.
void hold(const Json& pod, Tally& tally) {
  ++tally.held;
  if (const std::int64_t index = index_of(pod); tally.is_indexed && index >= 0) tally.leaving.add(index);
}

// A pod that is in the counts, or was given up.
void look_at_settled(const Json& job, const PodOfJob& one, bool waits_for_end, Tally& tally) {
  const Json& pod = *one.pod;
  const std::string_view phase = pod["status"]["phase"].as_string();
  const bool leaves = api::is_deleting(pod);
  if (!is_over(pod) && !leaves) tally.abandoned.push_back(&pod);
  if (phase == "Failed") {
    tally.failures.push_back(ended_at(pod));
    if (has_index_limit(job) && !leaves)
      record_index_failure(job, one, judge_failure(job["spec"]["podFailurePolicy"], pod), tally.failures.back(), tally);
  }
  if (phase == "Succeeded") tally.last_success = std::max(tally.last_success, ended_at(pod));
  if (leaves && !is_over(pod) && waits_for_end) hold(pod, tally);
}

void count_pod(const Json& job, const PodOfJob& one, bool waits_for_end, Tally& tally) {
  const Json& pod = *one.pod;
  const std::string_view phase = pod["status"]["phase"].as_string();
  const bool leaves = api::is_deleting(pod);
  if (phase == "Succeeded") {
    tally.settled.add(one.number);
    tally.last_success = std::max(tally.last_success, ended_at(pod));
    if (!tally.is_indexed)
      ++tally.succeeded;
    else if (const std::int64_t index = index_of(pod); index >= 0 && index < tally.completions)
      tally.done.add(index);
  } else if (phase == "Failed" || (leaves && !waits_for_end)) {
    tally.settled.add(one.number);
    count_failure(job, one, tally);
  } else if (leaves) {
    hold(pod, tally);
  } else {
    tally.running.push_back({one.pod, one.number, index_of(pod)});
  }
}

}  // namespace

PodNumbers read_numbers(const ObservedJob& seen) {
  const std::string_view record = api::annotation_of(seen.job, kSettled);
  auto known = NumberSet::parse(record);
  if (known && known->highest() > kGivenMax) known.reset();
  PodNumbers out{.settled = known.value_or(NumberSet())};
  for (const Json* pod : seen.claimed.owned) {
    const auto number = NumberSet::parse(api::annotation_of(*pod, kPodNumber));
    const bool is_ours = number && number->count() == 1 && number->highest() <= kBelievedMax;
    const std::int64_t value = is_ours ? number->highest() : -1;
    out.next = std::max(out.next, value + 1);
    out.pods.push_back({pod, value});
  }
  out.next = std::max(out.next, out.settled.highest() + 1);
  // Somebody took the record away: what has ended and is in the counts must not come into them again.
  std::int64_t left = seen.job["status"]["failed"].as_int() + seen.job["status"]["succeeded"].as_int();
  if ((record.empty() || !known) && left > 0)
    for (const auto& [pod, number] : out.pods)
      if (is_over(*pod) && number >= 0 && left-- > 0) out.settled.add(number);
  return out;
}

void give_numbers(const ObservedJob& seen, PodNumbers& numbers, Plan& plan) {
  const auto give = [&](const Json& pod, bool take_over) {
    Json metadata = Json::object({{"uid", api::uid_of(pod)},
                                  {"resourceVersion", api::resource_version_of(pod)},
                                  {"annotations", Json::object({{kPodNumber, std::to_string(numbers.next++)}})}});
    if (take_over) {
      Json references = pod["metadata"]["ownerReferences"];
      references.push_back(owner_reference(seen.job, "batch/v1", "Job"));
      metadata.set("ownerReferences", std::move(references));
    }
    plan.patch(resources::kPods, pod, client::PatchType::kMerge, Json::object({{"metadata", std::move(metadata)}}))
        .missing_is_fine = true;
    numbers.are_given = true;
  };
  for (const Json* pod : seen.claimed.adopt) give(*pod, true);
  for (const PodOfJob& one : numbers.pods)
    if (one.number < 0 && !api::is_deleting(*one.pod)) give(*one.pod, false);
}

Tally count_pods(const Json& job, const PodNumbers& numbers) {
  const Json& spec = job["spec"];
  const Json& status = job["status"];
  Tally tally{.is_indexed = spec["completionMode"].as_string() == "Indexed",
              .completions = spec["completions"].is_null() ? -1 : spec["completions"].as_int(),
              .failed = status["failed"].as_int(),
              .succeeded = status["succeeded"].as_int(),
              .settled = numbers.settled};
  const auto indexes = [&](const char* field) {
    return NumberSet::parse(status[field].as_string()).value_or(NumberSet()).below(tally.completions);
  };
  if (tally.is_indexed) tally.done = indexes("completedIndexes");
  if (has_index_limit(job)) tally.lost = indexes("failedIndexes");
  const bool waits_for_end = spec["podReplacementPolicy"].as_string() == "Failed";
  for (const PodOfJob& one : numbers.pods) {
    if (api::is_deleting(*one.pod) && !is_over(*one.pod)) ++tally.terminating;
    if (one.number < 0) continue;
    if (tally.settled.has(one.number))
      look_at_settled(job, one, waits_for_end, tally);
    else
      count_pod(job, one, waits_for_end, tally);
  }
  if (tally.is_indexed) tally.succeeded = tally.done.count();
  return tally;
}

void give_up(const PodAtWork& one, std::string_view ending, Tally& tally) {
  tally.settled.add(one.number);
  tally.abandoned.push_back(one.pod);
  if (ending == "FailureTarget") ++tally.failed;
}

base::Duration failure_pause(const Tally& tally, base::Time now) {
  base::Time last{};
  int count = 0;
  for (const base::Time at : tally.failures) {
    if (at <= tally.last_success) continue;
    ++count;
    last = std::max(last, at);
  }
  if (count == 0) return {};
  const base::Time ends = last + pause_after(count);
  return ends > now ? ends - now : base::Duration{};
}

base::Duration pause_after(std::int64_t failures) {
  if (failures <= 0) return {};
  base::Duration pause = kPauseMin;
  for (std::int64_t i = 1; i < failures && pause < kPauseMax; ++i) pause = pause * 2;
  return std::min(pause, kPauseMax);
}

}  // namespace controllers::workloads
