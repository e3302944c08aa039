// Pods, owners and claims.
#include "controllers/workloads/pods.h"

#include <algorithm>

#include "base/format.h"
#include "base/random.h"
#include "controllers/framework/counts.h"

namespace controllers::workloads {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::string_view kByController = "workload-controller";
constexpr std::string_view kOrphans = "workload-orphans";

std::string in_namespace(std::string_view ns, std::string_view uid) { return base::format("{}/{}", ns, uid); }

}  // namespace

bool is_over(const Json& pod) {
  const std::string_view phase = pod["status"]["phase"].as_string();
  return phase == "Succeeded" || phase == "Failed";
}

bool is_active(const Json& pod) { return !is_over(pod) && !api::is_deleting(pod); }

const Json& condition_of(const Json& status, std::string_view type) {
  static const Json none;
  for (const Json& condition : status["conditions"].items())
    if (condition["type"].as_string() == type) return condition;
  return none;
}

const Json& ready_condition(const Json& pod) { return condition_of(pod["status"], "Ready"); }
bool is_ready(const Json& pod) { return ready_condition(pod)["status"].as_string() == "True"; }

base::Time time_in(const Json& text) { return base::parse_rfc3339(text.as_string()).value_or(base::Time{}); }

std::optional<base::Time> available_at(const Json& pod, std::int64_t min_ready_seconds) {
  if (!is_ready(pod)) return std::nullopt;
  const base::Time since = time_in(ready_condition(pod)["lastTransitionTime"]);
  if (min_ready_seconds <= 0) return since;
  return since + base::seconds(min_ready_seconds);
}

// FNV-1a, finished so that all bits count.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdU;
  return hash ^ (hash >> 33);
}

std::string hash_text(std::uint64_t hash, std::size_t length) {
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  return base::Random(hash).text(length, kAlphabet);
}

std::string fresh_name(const std::function<bool(std::string_view name)>& is_taken, const Json& owner,
                       std::string_view prefix, base::Time now, std::size_t index) {
  constexpr std::size_t kPrefixMax = 58;  // as generateName cuts it
  const std::string start = base::format("{}-", prefix).substr(0, kPrefixMax);
  for (int attempt = 0;; ++attempt) {
    const std::string seed = base::format("{} {} {} {}", api::uid_of(owner), now.ns, index, attempt);
    std::string name = start + hash_text(hash_of(seed), 5);
    if (!is_taken(name)) return name;
  }
}

std::function<bool(std::string_view name)> names_taken(const View& view, const api::ResourceId& resource,
                                                       const Json& owner) {
  return [&view, &resource, &owner](std::string_view name) {
    return view.find(resource, base::format("{}/{}", api::namespace_of(owner), name)) != nullptr;
  };
}

void set_creation_events(Action& action, std::string name) {
  action.success_reason = "SuccessfulCreate";
  action.success_text = "Created pod: {}";
  action.success_name = std::move(name);
  action.failure_reason = "FailedCreate";
  action.failure_text = "Error creating: {}";
}

Json owner_reference(const Json& owner, std::string_view api_version, std::string_view kind) {
  return Json::object({{"apiVersion", api_version},
                       {"kind", kind},
                       {"name", api::name_of(owner)},
                       {"uid", api::uid_of(owner)},
                       {"controller", true},
                       {"blockOwnerDeletion", true}});
}

Json pod_from(const Json& pod_template, const Json& owner, std::string_view api_version, std::string_view kind,
              std::string name) {
  Json metadata = Json::object({{"name", std::move(name)}, {"namespace", api::namespace_of(owner)}});
  for (const char* key : {"labels", "annotations", "finalizers"})
    if (const Json& value = pod_template["metadata"][key]; !value.empty()) metadata.set(key, value);
  metadata.set("ownerReferences", Json::array({owner_reference(owner, api_version, kind)}));
  return Json::object(
      {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", std::move(metadata)}, {"spec", pod_template["spec"]}});
}

std::vector<IndexBy> ownership_indexes(const api::ResourceId& resource) {
  return {{resource, std::string(kByController),
           [](const Json& object) {
             const Json& owner = api::controller_of(object);
             return owner.is_null() ? Keys{} : Keys{in_namespace(api::namespace_of(object), owner["uid"].as_string())};
           }},
          {resource, std::string(kOrphans), [](const Json& object) {
             return api::controller_of(object).is_null() ? Keys{std::string(api::namespace_of(object))} : Keys{};
           }}};
}

std::vector<const Json*> controlled_by(const View& view, const api::ResourceId& resource, std::string_view ns,
                                       std::string_view uid) {
  return view.by_index(resource, kByController, in_namespace(ns, uid));
}

std::vector<const Json*> controlled_by(const View& view, const api::ResourceId& resource, const Json& owner) {
  return controlled_by(view, resource, api::namespace_of(owner), api::uid_of(owner));
}

Claim claim(const View& view, const api::ResourceId& resource, const Json& owner, const api::LabelSelector& selector) {
  Claim claimed;
  const bool ends = api::is_deleting(owner);
  for (const Json* one : controlled_by(view, resource, owner)) {
    if (selector.matches((*one)["metadata"]["labels"]))
      claimed.owned.push_back(one);
    else if (!ends && !api::is_deleting(*one))
      claimed.release.push_back(one);
  }
  if (ends) return claimed;
  for (const Json* one : view.by_index(resource, kOrphans, api::namespace_of(owner)))
    if (!api::is_deleting(*one) && !is_over(*one) && selector.matches((*one)["metadata"]["labels"]))
      claimed.adopt.push_back(one);
  return claimed;
}

void settle_claim(Plan& plan, const api::ResourceId& resource, const Claim& claimed, const Json& owner,
                  std::string_view api_version, std::string_view kind) {
  const auto patch = [&](const Json& object, Json references) {
    Json metadata = Json::object({{"uid", api::uid_of(object)},
                                  {"resourceVersion", api::resource_version_of(object)},
                                  {"ownerReferences", std::move(references)}});
    plan.patch(resource, object, client::PatchType::kMerge, Json::object({{"metadata", std::move(metadata)}}))
        .missing_is_fine = true;
  };
  for (const Json* one : claimed.adopt) {
    Json references = (*one)["metadata"]["ownerReferences"];
    references.push_back(owner_reference(owner, api_version, kind));
    patch(*one, std::move(references));
  }
  for (const Json* one : claimed.release) {
    Json kept = Json::array();
    for (const Json& reference : (*one)["metadata"]["ownerReferences"].items())
      if (reference["uid"].as_string() != api::uid_of(owner)) kept.push_back(reference);
    patch(*one, kept.empty() ? Json() : std::move(kept));
  }
  if (!claimed.adopt.empty() || !claimed.release.empty()) plan.begin_stage();
}

Revisions revisions_of(const View& view, const Json& set) {
  Revisions revisions{.owned = controlled_by(view, kControllerRevisions, set), .claimed = {}};
  if (const auto selector = selector_of(set)) revisions.claimed = claim(view, kControllerRevisions, set, *selector);
  revisions.claimed.release.clear();
  return revisions;
}

std::vector<const Json*> settle_revisions(Plan& plan, const Revisions& revisions, const Json& set,
                                          std::string_view kind) {
  settle_claim(plan, kControllerRevisions, revisions.claimed, set, "apps/v1", kind);
  std::vector<const Json*> all = revisions.owned;
  all.insert(all.end(), revisions.claimed.adopt.begin(), revisions.claimed.adopt.end());
  std::ranges::stable_sort(
      all, [](const Json* a, const Json* b) { return (*a)["revision"].as_int() < (*b)["revision"].as_int(); });
  return all;
}

base::Duration failed_rest(const Json& pod, base::Time now) {
  if (pod["status"]["phase"].as_string() != "Failed" || api::is_deleting(pod)) return {};
  return std::clamp(time_in(pod["metadata"]["creationTimestamp"]) + kFailedRests - now, base::Duration{}, kFailedRests);
}

std::optional<api::LabelSelector> selector_of(const Json& owner) {
  const Json& given = owner["spec"]["selector"];
  const bool is_map = api::kind_of(owner) == "ReplicationController";
  auto selector = api::label_selector_from(is_map ? Json::object({{"matchLabels", given}}) : given);
  if (!selector.ok() || selector->requirements.empty()) return std::nullopt;
  return *std::move(selector);
}

Keys owners_of(const View& view, const Json& object, const api::ResourceId& owners, std::string_view kind) {
  const Json& controller = api::controller_of(object);
  if (!controller.is_null()) {
    if (controller["kind"].as_string() != kind || controller["apiVersion"].as_string() != owners.api_version())
      return {};
    return {base::format("{}/{}", api::namespace_of(object), controller["name"].as_string())};
  }
  Keys keys;
  if (api::is_deleting(object)) return keys;
  for (const Json* owner : view.all(owners)) {
    if (api::namespace_of(*owner) != api::namespace_of(object)) continue;
    if (const auto selector = selector_of(*owner); selector && selector->matches(object["metadata"]["labels"]))
      keys.push_back(api::key_of(*owner));
  }
  return keys;
}

namespace {

// Types, statuses and reasons.
std::string gist_of(const Json& status) {
  std::string gist;
  for (const Json& condition : status["conditions"].items())
    gist += base::format("{}={}/{};", condition["type"].as_string(), condition["status"].as_string(),
                         condition["reason"].as_string());
  return gist;
}

}  // namespace

bool differs_in_numbers_only(const Json& before, const Json& after) {
  return before["observedGeneration"] == after["observedGeneration"] && gist_of(before) == gist_of(after);
}

void write_status(Plan& plan, const api::ResourceId& resource, const Json& object, Json status, const Turn& turn) {
  const Json& before = object["status"];
  if (status == before || (status.empty() && before.empty())) return;
  if (turn.counts_wait > base::Duration{} && differs_in_numbers_only(before, status)) {
    plan.requeue_after(turn.counts_wait);
    return;
  }
  Json next = object;
  next.set("status", std::move(status));
  plan.set_status(resource, std::move(next));
}

void set_count(Json& status, std::string_view field, std::int64_t count) {
  if (count == 0)
    status.erase(field);
  else
    status.set(field, fit_count(count));
}

}  // namespace controllers::workloads
