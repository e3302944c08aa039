// API objects in, the model kept current: PodGroups.
#include "scheduler/cache/intake_group.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "base/format.h"
#include "base/log.h"
#include "base/number.h"
#include "base/quote.h"
#include "base/time.h"
#include "scheduler/cache/intake_fields.h"
#include "scheduler/model/core/count_or_percent.h"
#include "scheduler/model/core/digest.h"

namespace scheduler {
namespace {

constexpr std::string_view kAllocatedDomain = "volcano.sh/job-allocated-hypernode";
constexpr std::size_t kNameLengthMax = 253;  // of an object; a longer text is none, and symbols are kept for ever

// Without what this scheduler remembers there: nothing of the group changes with it.
api::Json annotations_of_others(const api::Json& group) {
  api::Json out = group["metadata"]["annotations"];
  if (out.is_object() && out.has(kEvictionRoundAnnotation)) out.erase(kEvictionRoundAnnotation);
  return out.empty() ? api::Json() : out;
}

// An annotation, or else a label.
const api::Json* annotation_or_label(const api::Json& object, std::string_view key) {
  if (const api::Json* found = object["metadata"]["annotations"].find(key)) return found;
  return object["metadata"]["labels"].find(key);
}

// A number of pods as somebody wrote it. Below, there is room to subtract counts of pods from it.
std::int32_t count_in(const api::Json& number) {
  constexpr std::int64_t kLeast = -(std::int64_t{1} << 30);
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(number.as_int(), kLeast, std::numeric_limits<std::int32_t>::max()));
}

std::optional<base::Duration> waiting_time_of(const api::Json& group) {
  for (const std::string_view key : {"volcano.sh/sla-waiting-time", "sla-waiting-time"}) {
    const std::string_view text = api::annotation_of(group, key);
    if (text.empty()) continue;
    const auto span = base::parse_go_duration(text);
    return span && span->ns > 0 ? span : std::nullopt;
  }
  return std::nullopt;
}

// How many pods an eviction leaves, or takes. Admission looks at pods and jobs; a group may say anything.
std::string budget_of(const api::Json& group, std::string_view key) {
  std::string out(api::annotation_of(group, key));
  if (out.empty() || count_or_percent_from(out)) return out;
  base::log_warning(
      "scheduler",
      base::format("PodGroup {}: metadata.annotations[{}]: {} is neither a count nor a percentage; it is ignored",
                   api::key_of(group), key, base::go_quoted(std::string_view(out).substr(0, 64))));
  return "";
}

// A key of a label is not longer: a prefix of DNS, a slash and a name.
Symbol domain_key_of(const api::Json& group, Symbols& symbols) {
  constexpr std::size_t kKeyLengthMax = kNameLengthMax + 1 + 63;
  const std::string_view key = api::annotation_of(group, "volcano.sh/topology-key");
  return key.empty() || key.size() > kKeyLengthMax ? Symbol() : symbols.intern(key);
}

GroupExtras extras_of(const api::Json& group, Dimensions& dimensions, Symbols& symbols) {
  GroupExtras out;
  const api::Json& minimum = group["spec"]["minResources"];
  if (minimum.is_object()) {
    out.has_minimum = true;
    out.min_resources = api::resource_list_from(minimum);
    for (auto& [name, amount] : out.min_resources) {
      if (amount.sign() < 0) amount = api::Quantity();  // it would make room for others in sums
    }
    out.minimum = request_from(out.min_resources, dimensions);
  }
  out.waiting_time = waiting_time_of(group);
  out.priority = base::parse_number<std::int32_t>(api::annotation_of(group, "volcano.sh/group-priority"));
  out.domain_key = domain_key_of(group, symbols);
  out.budget_min_available = budget_of(group, "volcano.sh/jdb-min-available");
  if (out.budget_min_available.empty())  // the other counts where this one is not given
    out.budget_max_unavailable = budget_of(group, "volcano.sh/jdb-max-unavailable");
  return out;
}

std::uint64_t digest_of(const GroupExtras& extras) {
  Digest out;
  for (const auto& [name, quantity] : extras.min_resources) {
    out.add(name);
    out.add(static_cast<std::uint64_t>(quantity.milli_value()));
  }
  return out.value();
}

// The modes of scheduling.k8s.io; a group that names none loses what it can spare, as groups of Volcano do.
DisruptionMode disruption_of(const api::Json& group) {
  const std::string_view mode = api::annotation_of(group, "volcano.sh/disruption-mode");
  return mode == "all" ? DisruptionMode::kAll : mode == "single" ? DisruptionMode::kSingle : DisruptionMode::kSpare;
}

void read_group_spec(const api::Json& group, Job& job, Model& model) {
  SharedTexts& shared_texts = model.shared_texts;
  const api::Json& spec = group["spec"];
  job.group_uid = Uid(api::uid_of(group));
  job.min_available = count_in(spec["minMember"]);
  job.created_ns = created_ns(group);
  job.priority_class = shared_texts.share(spec["priorityClassName"].as_string());
  GroupExtras extras = extras_of(group, model.dimensions, model.symbols);
  const bool is_plain = extras == GroupExtras{};
  const std::uint64_t digest = digest_of(extras);
  job.more = is_plain ? Shared<GroupExtras>() : model.shared_extras.share(std::move(extras), digest);
  const api::Json* preemptable = annotation_or_label(group, "volcano.sh/preemptable");
  job.names_preemptable = preemptable != nullptr;
  job.preemptable = preemptable != nullptr && parse_go_bool(preemptable->as_string());
  job.disruption = disruption_of(group);
  job.never_preempts = api::annotation_of(group, "volcano.sh/preemption-policy") == "Never";
}

}  // namespace

GroupStatus group_status_from(const api::Json& status, SharedTexts& shared_texts) {
  GroupStatus out;
  out.phase = group_phase_from(status["phase"].as_string());
  out.running = count_in(status["running"]);
  out.succeeded = count_in(status["succeeded"]);
  out.failed = count_in(status["failed"]);
  for (const api::Json& item : status["conditions"].items()) {
    const auto text = [&](std::string_view key) { return shared_texts.share(item[key].as_string()); };
    out.conditions.push_back({text("type"), text("status"), text("reason"), text("message"), text("transitionID"),
                              base::parse_rfc3339(item["lastTransitionTime"].as_string()).value_or(base::Time{})});
  }
  return out;
}

api::Json to_json(const GroupStatus& status) {
  api::Json out = api::Json::object();
  std::vector<api::Json> conditions;
  for (const GroupCondition& one : status.conditions) {
    api::Json item = api::Json::object();
    if (one.last_transition.is_set()) item.set("lastTransitionTime", base::format_rfc3339(one.last_transition));
    if (!one.message.empty()) item.set("message", one.message.view());
    item.set("reason", one.reason.view());
    item.set("status", one.status.view());
    item.set("transitionID", one.transition_id.view());
    item.set("type", one.type.view());
    conditions.push_back(std::move(item));
  }
  if (!conditions.empty()) out.set("conditions", api::Json::array(std::move(conditions)));
  if (status.failed != 0) out.set("failed", std::int64_t{status.failed});
  if (status.phase != GroupPhase::kNone) out.set("phase", name_of(status.phase));
  if (status.running != 0) out.set("running", std::int64_t{status.running});
  if (status.succeeded != 0) out.set("succeeded", std::int64_t{status.succeeded});
  return out;
}

// Evictions that an earlier scheduler made for the group and that led to nothing are known again.
void GroupIntake::recall_round(const api::Json& group, JobId id) {
  ledger_.eviction_rounds.erase(id);
  auto round = eviction_round_from(api::annotation_of(group, kEvictionRoundAnnotation));
  if (!round) return;
  ledger_.edit_group(id).round = round->text;
  ledger_.eviction_rounds.insert_or_assign(id, *std::move(round));
}

bool GroupIntake::set(const api::Json& group) {
  if (!options_.share.owns_object(group)) return false;
  const std::string key = api::key_of(group);
  const JobId id = model_.find_or_add_job(key);
  Job& job = model_.edit_job(id);
  const bool known = job.has_group && job.group_uid == api::uid_of(group);
  if (known && !is_newer(api::resource_version_of(group), job.resource_version)) return false;
  const std::uint64_t before = job.changes;
  job.has_group = true;
  job.resource_version = api::resource_version_of(group);
  const GroupPhase old_phase = job.phase;
  // The domain written there is the finding of an earlier cycle. The places of the tasks are better evidence, so it is
  // not believed, only known.
  std::string_view domain = api::annotation_of(group, kAllocatedDomain);
  if (domain.size() > kNameLengthMax) domain = {};
  const bool differs =
      ledger_.observe(id, !known, key, job.resource_version, group_status_from(group["status"], model_.shared_texts),
                      domain.empty() ? Symbol{} : model_.symbols.intern(domain));
  if (known && differs) model_.mark_changed(id);  // what we wrote did not last
  if (!known) recall_round(group, id);
  job.phase = ledger_.group(id).status.phase;
  const Text old_spec = known ? job.spec_text : Text();
  std::string text;
  group["spec"].dump_to(text);
  annotations_of_others(group).dump_to(text);
  group["metadata"]["labels"].dump_to(text);
  job.spec_text = model_.shared_texts.share(text);
  if (known && old_spec == job.spec_text && old_phase == job.phase) return job.changes != before;
  read_group_spec(group, job, model_);
  set_topology(group, id);
  model_.group_preferences.set(id, group["metadata"]["annotations"]);
  const std::string queue = group["spec"]["queue"].str();
  // A group that was admitted and has no places yet reserves room in its queue: another queue is asked first.
  // DIFFERS(groups-that-move): docs/compat says why.
  const bool moves = known && !queue.empty() && !job.queue_name.empty() && job.queue_name.view() != queue;
  if (moves && job.phase == GroupPhase::kInqueue && job.scheduled_count() == 0) job.phase = GroupPhase::kPending;
  std::vector<std::pair<std::string, std::int32_t>> minimums;
  for (const auto& member : group["spec"]["minTaskMember"].members()) {
    minimums.emplace_back(std::string(member.name()), count_in(member.value));
  }
  model_.set_job_queue(id, queue.empty() ? options_.default_queue : queue);
  model_.set_role_minimums(id, minimums);
  model_.refresh_priority(id);
  model_.mark_changed(id);
  return true;
}

bool GroupIntake::remove(const api::Json& group) {
  const JobId id = model_.find_job(api::key_of(group));
  if (!id.is_set()) return false;
  Job& job = model_.edit_job(id);
  if (!job.has_group || job.group_uid != api::uid_of(group)) return false;
  job.has_group = false;
  job.phase = GroupPhase::kNone;
  job.spec_text.clear();
  ledger_.forget_group(id, job.key);
  model_.set_topology(id, nullptr);
  // Its pods count in their queue until they end.
  // DIFFERS(deleted-groups): docs/compat says why.
  model_.set_job_queue(id, job.named_by_pods);
  model_.mark_changed(id);
  model_.remove_job_if_empty(id);
  return true;
}

void GroupIntake::forget_version(const std::string& key) {
  if (const JobId id = model_.find_job(key); id.is_set()) model_.edit_job(id).resource_version.clear();
}

void GroupIntake::set_topology(const api::Json& group, JobId id) {
  const api::Json& spec = group["spec"];
  Job& job = model_.edit_job(id);
  const bool asks = spec["networkTopology"].is_object() || !spec["subGroupPolicy"].empty();
  if (!asks && !job.topology) return;
  if (spec["subGroupPolicy"].size() > kSubGroupPoliciesMax && !std::exchange(has_warned_of_policies_, true)) {
    base::log_warning("scheduler", base::format("PodGroup {}: only the first {} entries of subGroupPolicy count",
                                                job.key, kSubGroupPoliciesMax));
  }
  std::unique_ptr<JobTopology> topology;
  if (asks) topology = std::make_unique<JobTopology>(topology_from(spec, job.key, job.min_available, model_.symbols));
  model_.set_topology(id, std::move(topology));
}

bool GroupIntake::takes_answer(const api::Json& group) const {
  const JobId known = model_.find_job(api::key_of(group));
  return known.is_set() && model_.job(known).has_group && model_.job(known).group_uid == api::uid_of(group);
}

}  // namespace scheduler
