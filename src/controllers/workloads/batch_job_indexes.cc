// The limits that an indexed Job sets for each index, and the indexes that suffice for its success.
//
// COMPAT(batch-job-indexes): the failures of an index are counted in an annotation of its next pod.
#include <algorithm>

#include "controllers/workloads/batch_job_state.h"

namespace controllers::workloads {

using api::Json;

namespace {

constexpr std::string_view kCounted = "batch.kubernetes.io/job-index-failure-count";
constexpr std::string_view kIgnored = "batch.kubernetes.io/job-index-ignored-failure-count";

std::int64_t count_in(const Json& pod, std::string_view annotation) {
  const auto count = NumberSet::parse(api::annotation_of(pod, annotation));
  return count && count->count() == 1 ? count->highest() : 0;
}

}  // namespace

std::int64_t index_of(const Json& pod) {
  const auto index = NumberSet::parse(api::annotation_of(pod, "batch.kubernetes.io/job-completion-index"));
  return index && index->count() == 1 ? index->highest() : -1;
}

bool has_index_limit(const Json& job) {
  const Json& spec = job["spec"];
  return spec["completionMode"].as_string() == "Indexed" && spec["backoffLimitPerIndex"].is_number();
}

bool record_index_failure(const Json& job, const PodOfJob& one, const Verdict& verdict, base::Time ended,
                          Tally& tally) {
  const std::int64_t index = index_of(*one.pod);
  if (!has_index_limit(job) || index < 0 || index >= tally.completions) return false;
  const bool is_ignored = verdict.action == "Ignore";
  const std::int64_t before = count_in(*one.pod, kCounted);
  IndexFailures& failures = tally.failures_of[index];
  if (one.number > failures.number)
    failures = {.number = one.number,
                .counted = before + (is_ignored ? 0 : 1),
                .ignored = count_in(*one.pod, kIgnored) + (is_ignored ? 1 : 0),
                .last = ended};
  if (verdict.action == "FailIndex") return true;
  return !is_ignored && before >= job["spec"]["backoffLimitPerIndex"].as_int();
}

base::Duration index_pause(const IndexFailures& failures, base::Time now) {
  const base::Time ends = failures.last + pause_after(failures.counted + failures.ignored);
  return ends > now ? ends - now : base::Duration{};
}

void set_failure_counts(const Tally& tally, std::int64_t index, Json& annotations) {
  const auto found = tally.failures_of.find(index);
  const IndexFailures failures = found == tally.failures_of.end() ? IndexFailures() : found->second;
  annotations.set(kCounted, std::to_string(failures.counted));
  if (failures.ignored > 0) annotations.set(kIgnored, std::to_string(failures.ignored));
}

std::optional<std::pair<std::string, std::string>> index_verdict(const Json& job, const Tally& tally) {
  if (!has_index_limit(job)) return std::nullopt;
  const std::int64_t lost = tally.lost.count();
  if (const Json& most = job["spec"]["maxFailedIndexes"]; most.is_number() && lost > most.as_int())
    return std::pair("MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes");
  if (lost > 0 && lost + tally.succeeded >= tally.completions)
    return std::pair("FailedIndexes", "Job has failed indexes");
  return std::nullopt;
}

std::int64_t fulfilled_rule(const Json& policy, const NumberSet& done) {
  if (done.count() == 0) return -1;
  std::int64_t at = 0;
  for (const Json& rule : policy["rules"].items()) {
    const Json& count = rule["succeededCount"];
    if (const Json& indexes = rule["succeededIndexes"]; indexes.is_string()) {
      const auto wanted = NumberSet::parse(indexes.as_string());
      const std::int64_t common = wanted ? done.count_common(*wanted) : 0;
      if (wanted && wanted->count() > 0 &&
          (common == wanted->count() || (count.is_number() && common >= count.as_int())))
        return at;
    } else if (count.is_number() && done.count() >= count.as_int()) {
      return at;
    }
    ++at;
  }
  return -1;
}

}  // namespace controllers::workloads
