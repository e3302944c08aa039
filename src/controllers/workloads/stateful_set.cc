// One step of a StatefulSet: its revisions, its pods in their order, its claims, what it says.
#include "controllers/workloads/stateful_set.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "api/schema/unwritten.h"
#include "base/format.h"
#include "base/saturate.h"
#include "controllers/framework/restart_pauses.h"
#include "controllers/workloads/pods.h"

namespace controllers::workloads {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::string_view kRevisionHash = "controller-revision-hash";
// The objects that one plan makes and deletes, claims and the volumes of pods included: a set in parallel may ask for
// more of them than there is memory. The rest comes at the next look.
constexpr std::size_t kWeightMax = 500;

class StatefulSetStep {
 public:
  StatefulSetStep(const View& view, const Json& set, const Turn& turn, RestartPauses& pauses)
      : view_(view),
        set_(set),
        spec_(set["spec"]),
        turn_(turn),
        pauses_(pauses),
        replicas_(spec_["replicas"].as_int(1)),
        start_(spec_["ordinals"]["start"].as_int()),
        parallel_(spec_["podManagementPolicy"].as_string() == "Parallel") {}

  Plan take() {
    plan_.set_subject(set_);
    const auto selector = selector_of(set_);
    if (!selector) return std::move(plan_);
    Claim claimed = claim(view_, resources::kPods, set_, *selector);
    std::erase_if(claimed.adopt, [&](const Json* pod) { return !ordinal_of(*pod); });
    settle_claim(plan_, resources::kPods, claimed, set_, "apps/v1", "StatefulSet");
    for (const auto* list : {&claimed.owned, &claimed.adopt})
      for (const Json* pod : *list)
        if (const auto ordinal = ordinal_of(*pod)) pods_[*ordinal] = pod;
    pauses_.begin_look(turn_.now);
    for (const auto& [ordinal, pod] : pods_) pauses_.see(std::to_string(ordinal), *pod);
    pauses_.end_look();
    find_revisions();
    if (!api::is_deleting(set_)) act();
    say();
    return std::move(plan_);
  }

 private:
  std::string pod_name(std::int64_t ordinal) const { return base::format("{}-{}", api::name_of(set_), ordinal); }

  std::optional<std::int64_t> ordinal_of(const Json& pod) const {
    const std::string_view name = api::name_of(pod);
    const std::string prefix = base::format("{}-", api::name_of(set_));
    if (!name.starts_with(prefix)) return std::nullopt;
    const auto number = api::parse_json(name.substr(prefix.size()));
    if (!number.ok() || !number->is_int() || number->as_int() < 0) return std::nullopt;
    return number->as_int();
  }

  // A ControllerRevision for each template, the newest with the highest number.
  void find_revisions() {
    const Json data = Json::object({{"spec", Json::object({{"template", spec_["template"]}})}});
    const std::vector<const Json*> all = revisions_of(view_, set_, "StatefulSet", plan_);
    const std::int64_t highest = all.empty() ? 0 : (*all.back())["revision"].as_int();
    const std::int64_t next = base::saturating_add(highest, 1);
    for (const Json* one : all)
      if (api::same_as_written(api::core_schema("core.v1.PodTemplateSpec"), (*one)["data"]["spec"]["template"],
                               spec_["template"]))
        update_ = *one;
    if (update_.is_null()) {
      const std::string name = base::format("{}-{}", api::name_of(set_), hash_text(hash_of(data.sorted().dump()), 10));
      Json metadata =
          Json::object({{"name", name},
                        {"namespace", api::namespace_of(set_)},
                        {"labels", spec_["template"]["metadata"]["labels"]},
                        {"ownerReferences", Json::array({owner_reference(set_, "apps/v1", "StatefulSet")})}});
      update_ = Json::object({{"apiVersion", "apps/v1"},
                              {"kind", "ControllerRevision"},
                              {"metadata", std::move(metadata)},
                              {"data", data},
                              {"revision", next}});
      plan_.create(kControllerRevisions, update_);
      plan_.begin_stage();
    } else if (update_["revision"].as_int() < highest) {  // a rollback
      plan_.patch(kControllerRevisions, update_, client::PatchType::kMerge, Json::object({{"revision", next}}));
      plan_.begin_stage();
    }
    current_ = update_;
    for (const Json* one : all)
      if (api::name_of(*one) == set_["status"]["currentRevision"].as_string()) current_ = *one;
    drop_old(all);
  }

  void drop_old(const std::vector<const Json*>& all) {
    std::vector<const Json*> idle;
    for (const Json* one : all) {
      const std::string_view name = api::name_of(*one);
      bool used = name == api::name_of(update_) || name == api::name_of(current_);
      for (const auto& [ordinal, pod] : pods_) used = used || api::label_of(*pod, kRevisionHash) == name;
      if (!used) idle.push_back(one);
    }
    const std::int64_t limit = std::max<std::int64_t>(0, spec_["revisionHistoryLimit"].as_int(10));
    for (std::size_t i = 0; i + static_cast<std::size_t>(limit) < idle.size(); ++i)
      plan_.remove(kControllerRevisions, *idle[i]);
  }

  bool is_wanted(std::int64_t ordinal) const { return ordinal >= start_ && ordinal < start_ + replicas_; }
  bool is_good(const Json& pod) const {
    if (api::is_deleting(pod)) return false;
    const auto from = available_at(pod, spec_["minReadySeconds"].as_int());
    return from && (*from <= turn_.now || spec_["minReadySeconds"].as_int() <= 0);
  }

  void act() {
    for (std::int64_t at = start_; at < start_ + replicas_; ++at) {
      if (is_enough()) return;
      const auto found = pods_.find(at);
      if (found == pods_.end()) {
        create(at);
      } else if (const base::Duration rest = failed_rest(*found->second, turn_.now); rest > base::Duration{}) {
        plan_.requeue_after(rest);
      } else if (is_over(*found->second) && !api::is_deleting(*found->second)) {
        remove(*found->second);
      } else if (is_pending(*found->second)) {
        make_claims(at);  // one may have been deleted since, and the pod waits for it
      } else if (is_good(*found->second)) {
        continue;
      }
      if (!parallel_) return;
    }
    std::vector<const Json*> spare;  // the highest first
    for (const auto& [ordinal, pod] : pods_)
      if (!is_wanted(ordinal)) spare.push_back(pod);
    std::ranges::reverse(spare);
    for (const Json* pod : spare) {
      if (is_enough()) return;
      if (!api::is_deleting(*pod)) {
        if (keeps("whenScaled") == Keeping::kNo) release_claims(*pod);
        remove(*pod);
      }
      if (!parallel_) return;
    }
    if (spare.empty()) update();
  }

  bool is_enough() {
    if (weight_ < kWeightMax) return false;
    plan_.requeue_after({});
    return true;
  }

  // From the highest ordinal down to the partition, one at a time.
  void update() {
    if (spec_["updateStrategy"]["type"].as_string() == "OnDelete") return;
    const std::int64_t partition = spec_["updateStrategy"]["rollingUpdate"]["partition"].as_int();
    for (auto at = pods_.rbegin(); at != pods_.rend(); ++at) {
      if (at->first < start_ + partition) return;
      const Json& pod = *at->second;
      if (api::label_of(pod, kRevisionHash) != api::name_of(update_)) {
        if (!api::is_deleting(pod)) remove(pod);
        return;
      }
      if (!is_good(pod)) return;
    }
  }

  enum class Keeping : std::uint8_t { kYes, kNo };
  Keeping keeps(std::string_view when) const {
    const bool gone = spec_["persistentVolumeClaimRetentionPolicy"][when].as_string() == "Delete";
    return gone ? Keeping::kNo : Keeping::kYes;
  }

  // They go with the pod that is given up, since it becomes their owner.
  void release_claims(const Json& pod) {
    bool any = false;
    for (const Json& pattern : spec_["volumeClaimTemplates"].items()) {
      const std::string key =
          base::format("{}/{}-{}", api::namespace_of(set_), api::name_of(pattern), api::name_of(pod));
      const Json* found = view_.find(resources::kPersistentVolumeClaims, key);
      if (!found || api::is_deleting(*found)) continue;
      Json owner = owner_reference(pod, "v1", "Pod");
      owner.erase("controller");
      Json metadata =
          Json::object({{"uid", api::uid_of(*found)}, {"ownerReferences", Json::array({std::move(owner)})}});
      plan_.patch(resources::kPersistentVolumeClaims, *found, client::PatchType::kMerge,
                  Json::object({{"metadata", std::move(metadata)}}));
      ++weight_;
      any = true;
    }
    if (any) plan_.begin_stage();
  }

  void remove(const Json& pod) {
    ++weight_;
    pauses_.forget(api::uid_of(pod));
    Action& action = plan_.remove(resources::kPods, pod);
    action.success_reason = "SuccessfulDelete";
    action.success_text =
        base::format("delete Pod {} in StatefulSet {} successful", api::name_of(pod), api::name_of(set_));
  }

  static bool is_pending(const Json& pod) {
    const std::string_view phase = pod["status"]["phase"].as_string();
    return !api::is_deleting(pod) && (phase.empty() || phase == "Pending");
  }

  void create(std::int64_t ordinal) {
    if (const base::Duration left = pauses_.left(std::to_string(ordinal), turn_.now); left > base::Duration{})
      return plan_.requeue_after(left);
    if (!make_claims(ordinal)) return;
    const std::int64_t partition = spec_["updateStrategy"]["rollingUpdate"]["partition"].as_int();
    const Json& revision = ordinal < start_ + partition ? current_ : update_;
    const std::string name = pod_name(ordinal);
    Json pod = pod_from(revision["data"]["spec"]["template"], set_, "apps/v1", "StatefulSet", name);
    Json& labels = pod.edit("metadata").edit("labels");
    labels.set(kRevisionHash, api::name_of(revision));
    labels.set("statefulset.kubernetes.io/pod-name", name);
    labels.set("apps.kubernetes.io/pod-index", std::to_string(ordinal));
    pod.edit("spec").set("hostname", name);
    if (!spec_["serviceName"].as_string().empty()) pod.edit("spec").set("subdomain", spec_["serviceName"]);
    name_claims(ordinal, pod);
    weight_ += 1 + spec_["volumeClaimTemplates"].size();
    Action& action = plan_.create(resources::kPods, std::move(pod));
    action.success_reason = "SuccessfulCreate";
    action.success_text = base::format("create Pod {} in StatefulSet {} successful", name, api::name_of(set_));
    action.failure_reason = "FailedCreate";
    action.failure_text = base::format("create Pod {} in StatefulSet {} failed error: {{}}", name, api::name_of(set_));
    action.stops_nothing = true;  // the status goes on to say what there is
  }

  std::string claim_name(const Json& pattern, std::int64_t ordinal) const {
    return base::format("{}-{}", api::name_of(pattern), pod_name(ordinal));
  }

  void name_claims(std::int64_t ordinal, Json& pod) const {
    const Json& patterns = spec_["volumeClaimTemplates"];
    if (patterns.empty()) return;
    std::set<std::string_view> named;
    for (const Json& pattern : patterns.items()) named.insert(api::name_of(pattern));
    Json volumes = Json::array();
    for (const Json& one : pod["spec"]["volumes"].items())
      if (!named.contains(one["name"].as_string())) volumes.push_back(one);
    for (const Json& pattern : patterns.items())
      if (named.erase(api::name_of(pattern)) != 0)
        volumes.push_back(
            Json::object({{"name", api::name_of(pattern)},
                          {"persistentVolumeClaim", Json::object({{"claimName", claim_name(pattern, ordinal)}})}}));
    pod.edit("spec").set("volumes", std::move(volumes));
  }

  // Claims that are not there. False: one is on its way out, and a pod made now would wait for it for ever; or some are
  // left for the next look.
  bool make_claims(std::int64_t ordinal) {
    bool all_stay = true;
    for (const Json& pattern : spec_["volumeClaimTemplates"].items()) {
      const std::string name = claim_name(pattern, ordinal);
      const Json* found =
          view_.find(resources::kPersistentVolumeClaims, base::format("{}/{}", api::namespace_of(set_), name));
      if (found != nullptr) {
        all_stay = all_stay && !api::is_deleting(*found);
        continue;
      }
      if (is_enough()) return false;
      Json made = pattern;
      made.erase("status");
      made.set("apiVersion", "v1");
      made.set("kind", "PersistentVolumeClaim");
      Json& metadata = made.edit("metadata");
      metadata.set("name", name);
      metadata.set("namespace", api::namespace_of(set_));
      for (const Json::Member& label : spec_["selector"]["matchLabels"].members())
        metadata.edit("labels").set(label.name(), label.value);
      if (keeps("whenDeleted") == Keeping::kNo) {
        Json owner = owner_reference(set_, "apps/v1", "StatefulSet");
        owner.erase("controller");
        metadata.set("ownerReferences", Json::array({std::move(owner)}));
      }
      plan_.create(resources::kPersistentVolumeClaims, std::move(made)).existing_is_fine = true;
      ++weight_;
    }
    if (!all_stay) plan_.requeue_after(base::seconds(1));
    return all_stay;
  }

  void say() {
    std::int64_t ready = 0, available = 0, at_current = 0, at_update = 0, made = 0;
    const std::int64_t min_ready = spec_["minReadySeconds"].as_int();
    for (const auto& [ordinal, pod] : pods_) {
      if (is_over(*pod)) continue;
      ++made;
      ready += is_ready(*pod);
      if (const auto from = available_at(*pod, min_ready)) {
        if (*from <= turn_.now || min_ready <= 0)
          ++available;
        else
          plan_.requeue_after(*from - turn_.now);
      }
      if (api::is_deleting(*pod)) continue;
      at_current += api::label_of(*pod, kRevisionHash) == api::name_of(current_);
      at_update += api::label_of(*pod, kRevisionHash) == api::name_of(update_);
    }
    std::string current(api::name_of(current_));
    const bool rolls = spec_["updateStrategy"]["type"].as_string() != "OnDelete";
    if (rolls && at_update == replicas_ && ready == replicas_ && made == replicas_) {
      current = api::name_of(update_);
      at_current = at_update;
    }
    Json status = set_["status"].is_object() ? set_["status"] : Json::object();
    status.set("observedGeneration", set_["metadata"]["generation"]);
    status.set("replicas", made);
    status.set("availableReplicas", available);
    set_count(status, "readyReplicas", ready);
    set_count(status, "currentReplicas", at_current);
    set_count(status, "updatedReplicas", at_update);
    const bool turns = set_["status"]["currentRevision"].as_string() != current ||
                       set_["status"]["updateRevision"].as_string() != api::name_of(update_);
    status.set("currentRevision", current);
    status.set("updateRevision", api::name_of(update_));
    status.set("collisionCount", 0);
    plan_.begin_stage();
    write_status(plan_, resources::kStatefulSets, set_, std::move(status),
                 {.now = turn_.now, .counts_wait = turns ? base::Duration{} : turn_.counts_wait});
  }

  const View& view_;
  const Json& set_;
  const Json& spec_;
  const Turn& turn_;
  RestartPauses& pauses_;  // by ordinal
  std::int64_t replicas_;
  std::int64_t start_;
  bool parallel_;
  Plan plan_;
  std::size_t weight_ = 0;  // see kWeightMax
  std::map<std::int64_t, const Json*> pods_;
  Json update_;   // the revision of the template
  Json current_;  // the one before, until all pods are of the new one
};

class StatefulSetController final : public Controller {
 public:
  std::string_view name() const override { return "statefulset-controller"; }
  std::string_view component() const override { return name(); }

  std::vector<Write> writes() const override {
    return {{resources::kPods, "create patch delete"},
            {kControllerRevisions, "create patch delete"},
            {resources::kPersistentVolumeClaims, "create patch"},
            {resources::kStatefulSets, "update", "status"}};
  }
  std::vector<Wake> wakes_on() const override {
    const auto of_set = [](const View& view, const Json& object) {
      return owners_of(view, object, resources::kStatefulSets, "StatefulSet");
    };
    return {{resources::kStatefulSets, [](const View&, const Json& set) { return Keys{api::key_of(set)}; }},
            {resources::kPods, of_set},
            {kControllerRevisions, of_set},
            {resources::kPersistentVolumeClaims, [](const View&, const Json&) { return Keys{}; }}};
  }
  std::vector<IndexBy> indexes() const override {
    std::vector<IndexBy> all = ownership_indexes(resources::kPods);
    for (IndexBy& index : ownership_indexes(kControllerRevisions)) all.push_back(std::move(index));
    return all;
  }
  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    const Json* set = view.find(resources::kStatefulSets, key);
    if (set != nullptr) return StatefulSetStep(view, *set, turn, pauses_.of(key)).take();
    pauses_.forget(key);
    return {};
  }

 private:
  PausesByOwner pauses_;
};

}  // namespace

std::unique_ptr<Controller> make_stateful_set_controller() { return std::make_unique<StatefulSetController>(); }

}  // namespace controllers::workloads
