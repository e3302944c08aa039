// One look of an autoscaler: its target, what the metrics want, what the limits allow, and what is said of it.
#include "controllers/autoscaling/autoscaler.h"

#include <map>
#include <optional>
#include <utility>

#include "api/kinds.h"
#include "api/schema/quantity.h"
#include "base/format.h"
#include "base/split.h"
#include "controllers/autoscaling/limits.h"
#include "controllers/autoscaling/replicas.h"
#include "controllers/autoscaling/target.h"
#include "controllers/framework/pauses.h"

namespace controllers::autoscaling {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr base::Duration kPeriod = base::seconds(15);
constexpr std::string_view kNamespace = "namespace";

double tolerance_of(const Json& rules) {
  const auto value = api::Quantity::from_json(rules["tolerance"]);
  return value ? static_cast<double>(value->milli_value()) / 1000.0 : 0.1;
}

class AutoscalerStep {
 public:
  AutoscalerStep(const View& view, const Json& scaler, const api::NodeUsage* usage, const Turn& turn, Memory memory,
                 base::Result<Target> target)
      : view_(view),
        scaler_(scaler),
        spec_(scaler["spec"]),
        usage_(usage),
        turn_(turn),
        memory_(std::move(memory)),
        target_(std::move(target)) {
    for (const Json& condition : scaler["status"]["conditions"].items()) conditions_.push_back(condition);
    metrics_now_ = scaler["status"]["currentMetrics"];
  }

  Plan take() {
    plan_.set_subject(scaler_);
    plan_.requeue_after(kPeriod);
    if (has_target()) decide();
    return std::move(plan_);
  }
  Memory memory() && { return std::move(memory_); }

 private:
  void set_condition(const char* type, bool holds, std::string_view reason, std::string message) {
    const char* status = holds ? "True" : "False";
    Json since = base::format_rfc3339(turn_.now);
    for (const Json& old : conditions_)
      if (old["type"].as_string() == type && old["status"].as_string() == status) since = old["lastTransitionTime"];
    std::erase_if(conditions_, [&](const Json& old) { return old["type"].as_string() == type; });
    conditions_.push_back(Json::object({{"type", type},
                                        {"status", status},
                                        {"lastTransitionTime", since},
                                        {"reason", reason},
                                        {"message", std::move(message)}}));
  }
  void set_condition(const char* type, const ConditionFinding& finding) {
    set_condition(type, finding.holds, finding.reason, finding.message);
  }

  void warn(std::string_view reason, const std::string& message) { plan_.event(scaler_, "Warning", reason, message); }

  bool has_target() {
    if (target_.ok()) return true;
    const std::string& why = target_.error().message;
    set_condition("AbleToScale", false, "FailedGetScale",
                  base::format("the HPA controller was unable to get the target's current scale: {}", why));
    warn("FailedGetScale", why);
    write_status(scaler_["status"]["currentReplicas"].as_int(), scaler_["status"]["desiredReplicas"].as_int(), false);
    return false;
  }

  void decide() {
    const std::int64_t current = target_->replicas;
    const std::int64_t shown = target_->shown;
    const Bounds bounds{current, current, spec_["minReplicas"].as_int(1), spec_["maxReplicas"].as_int(1)};
    set_condition("AbleToScale", true, "SucceededGetScale",
                  "the HPA controller was able to get the target's current scale");
    if (current == 0 && bounds.min != 0) {
      set_condition("ScalingActive", false, "ScalingDisabled",
                    "scaling is disabled since the replica count of the target is zero");
      return write_status(shown, 0, false);
    }
    if (current > bounds.max)
      return rescale(shown, bounds, bounds.max, "Current number of replicas above Spec.MaxReplicas");
    if (current < bounds.min)
      return rescale(shown, bounds, bounds.min, "Current number of replicas below Spec.MinReplicas");
    const auto wanted = from_metrics(current);
    if (!wanted) return write_status(shown, current, false);
    Bounds with = bounds;
    with.desired = wanted->replicas;
    const Limited limited = limit(spec_["behavior"], with, turn_.now, memory_);
    set_condition("AbleToScale", limited.able);
    set_condition("ScalingLimited", limited.limited);
    rescale(shown, bounds, limited.replicas,
            wanted->replicas > current ? wanted->metric + " above target" : std::string("All metrics below target"));
  }

  // The largest number that a metric wants. One that cannot be known keeps the others from taking pods away.
  std::optional<Proposal> from_metrics(std::int64_t current) {
    const auto& selector = target_->selector;
    if (!selector || selector->requirements.empty()) {
      set_condition("ScalingActive", false, "InvalidSelector", "the HPA target's scale is missing a selector");
      warn("SelectorRequired", "selector is required");
      return std::nullopt;
    }
    if (const std::string all = who_scale_the_target(); !all.empty()) {
      const std::string why =
          base::format("{} {} is scaled by multiple HPAs: [{}]", spec_["scaleTargetRef"]["kind"].as_string(),
                       spec_["scaleTargetRef"]["name"].as_string(), all);
      set_condition("ScalingActive", false, "AmbiguousSelector", why);
      warn("AmbiguousSelector", why);
      return std::nullopt;
    }
    const Sight sight = look_at_pods(*selector);
    const Tolerance tolerance{tolerance_of(spec_["behavior"]["scaleUp"]), tolerance_of(spec_["behavior"]["scaleDown"])};
    std::optional<Proposal> best;
    std::size_t failed = 0;
    std::string first_reason, first_error;
    Json statuses = Json::array();
    for (const Json& metric : spec_["metrics"].items()) {
      auto one = propose(metric, sight, current, tolerance);
      if (!one.ok()) {
        if (failed++ == 0) {
          first_reason = reason_for_failure(metric);
          first_error = one.error().message;
        }
        warn(reason_for_failure(metric), one.error().message);
        continue;
      }
      statuses.push_back(one->status);
      if (!best || one->replicas > best->replicas) best = *std::move(one);
    }
    metrics_now_ = std::move(statuses);
    if (best && (failed == 0 || best->replicas >= current)) {
      set_condition("ScalingActive", true, "ValidMetricFound",
                    base::format("the HPA was able to successfully calculate a replica count from {}", best->metric));
      return best;
    }
    if (failed == 0) return std::nullopt;  // no metrics at all, which validation refuses
    set_condition("ScalingActive", false, first_reason,
                  base::format("the HPA was unable to compute the replica count: {}", first_error));
    warn("FailedComputeMetricsReplicas", base::format("invalid metrics ({} invalid out of {}), first error is: {}",
                                                      failed, spec_["metrics"].size(), first_error));
    return std::nullopt;
  }

  // "ns/name" of the autoscalers of the target, this one too, if there are several: they would turn it this way and
  // that for ever. Each says it in its own status, so that of many only some are named.
  std::string who_scale_the_target() const {
    constexpr std::size_t kNamedMax = 10;
    std::vector<std::string> named;
    std::size_t more = 0;
    for (const Json* one : view_.by_index(kAutoscalers, kNamespace, api::namespace_of(scaler_))) {
      if (!((*one)["spec"]["scaleTargetRef"] == spec_["scaleTargetRef"])) continue;
      if (named.size() < kNamedMax)
        named.push_back(api::key_of(*one));
      else
        ++more;
    }
    if (named.size() < 2) return {};
    const std::string text = base::join(named, " ");
    return more == 0 ? text : base::format("{} and {} more", text, more);
  }

  Sight look_at_pods(const api::LabelSelector& selector) const {
    Sight sight;
    sight.now = turn_.now;
    for (const Json* pod : view_.by_index(resources::kPods, kNamespace, api::namespace_of(scaler_)))
      if (selector.matches((*pod)["metadata"]["labels"])) sight.pods.push_back(pod);
    if (usage_ == nullptr) return sight;
    sight.measured = usage_->at;
    sight.window = usage_->window;
    std::map<std::string, const api::PodUsage*> known;
    for (const api::PodUsage& one : usage_->pods) known[one.uid] = &one;
    for (const Json* pod : sight.pods)
      if (const auto found = known.find(std::string(api::uid_of(*pod))); found != known.end())
        sight.usage[found->first] = found->second;
    return sight;
  }

  void rescale(std::int64_t shown, const Bounds& bounds, std::int64_t to, const std::string& why) {
    if (to == bounds.current) return write_status(shown, to, false);
    Action& action = set_replicas(*target_, to, plan_);
    action.success_reason = "SuccessfulRescale";
    action.success_text = base::format("New size: {}; reason: {}", to, why);
    action.failure_reason = "FailedRescale";
    action.failure_text = base::format("New size: {}; reason: {}; error: {{}}", to, why);
    auto& changes = to > bounds.current ? memory_.ups : memory_.downs;
    changes.push_back({turn_.now, to > bounds.current ? to - bounds.current : bounds.current - to});
    plan_.begin_stage();
    set_condition("AbleToScale", true, "SucceededRescale",
                  base::format("the HPA controller was able to update the target scale to {}", to));
    write_status(shown, to, true);
  }

  void write_status(std::int64_t current, std::int64_t desired, bool scaled) {
    Json status = Json::object({{"currentReplicas", current}, {"desiredReplicas", desired}});
    const Json& before = scaler_["status"];
    if (scaled)
      status.set("lastScaleTime", base::format_rfc3339(turn_.now));
    else if (!before["lastScaleTime"].is_null())
      status.set("lastScaleTime", before["lastScaleTime"]);
    if (!metrics_now_.empty()) status.set("currentMetrics", metrics_now_);
    status.set("conditions", Json::array(std::move(conditions_)));
    if (status == before) return;
    Json object = scaler_;
    object.set("status", std::move(status));
    plan_.set_status(kAutoscalers, std::move(object));
  }

  const View& view_;
  const Json& scaler_;
  const Json& spec_;
  const api::NodeUsage* usage_;
  const Turn& turn_;
  Memory memory_;
  Plan plan_;
  base::Result<Target> target_;
  std::vector<Json> conditions_;
  Json metrics_now_;
};

class AutoscalerController final : public Controller {
 public:
  explicit AutoscalerController(LatestUsage usage) : usage_(std::move(usage)) {}

  std::string_view name() const override { return "horizontal-pod-autoscaler"; }

  std::vector<Write> writes() const override {
    return {{kAutoscalers, "update", "status"}, {api::ResourceId{"*", "*", "*"}, "patch"}};
  }
  std::vector<Wake> wakes_on() const override {
    std::vector<Wake> wakes;
    wakes.push_back({kAutoscalers, [](const View&, const Json& scaler) { return Keys{api::key_of(scaler)}; }});
    // Looked at when it is time; their changes alone wake nobody.
    const auto nobody = [](const View&, const Json&) { return Keys{}; };
    wakes.push_back({resources::kPods, nobody});
    for (const api::KindInfo* kind : scaled_kinds()) wakes.push_back({kind->resource, nobody});
    return wakes;
  }

  std::vector<IndexBy> indexes() const override {
    const auto namespace_of = [](const Json& object) { return Keys{std::string(api::namespace_of(object))}; };
    return {{resources::kPods, std::string(kNamespace), namespace_of},
            {kAutoscalers, std::string(kNamespace), namespace_of}};
  }

  bool follows_definitions() const override { return true; }
  void kind_comes(const api::KindInfo& kind) override { strangers_.comes(kind); }
  void kind_goes(const api::ResourceId& resource) override { strangers_.goes(resource); }

  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    Plan plan;
    const Json* scaler = view.find(kAutoscalers, key);
    if (scaler == nullptr || api::is_deleting(*scaler)) {
      memories_.erase(key);
      return plan;
    }
    Kept& kept = memories_[key];
    // Its own writes wake it, too; means over a window do not change faster.
    const bool same = kept.uid == api::uid_of(*scaler) && kept.spec == (*scaler)["spec"];
    if (const base::Duration left = pause_left(kept.next, turn.now, kPeriod); same && left > base::Duration{}) {
      plan.requeue_after(left);
      return plan;
    }
    if (kept.uid != api::uid_of(*scaler)) {
      kept = {};
      kept.uid = api::uid_of(*scaler);
    }
    auto target = find_target(view, *scaler, kept, plan);
    if (!target) return plan;
    const auto usage = usage_ ? usage_() : nullptr;
    AutoscalerStep look(view, *scaler, usage.get(), turn, kept.memory, *std::move(target));
    plan = look.take();
    kept.pending = std::move(look).memory();
    kept.pending_next = turn.now + kPeriod;
    kept.pending_spec = (*scaler)["spec"];
    return plan;
  }

  void finished(const std::string& key, Ending ending) override {
    const auto found = memories_.find(key);
    if (found == memories_.end()) return;
    Kept& kept = found->second;
    if (std::exchange(kept.asking, false)) {
      if (!ending.failures.empty())
        kept.scale = ending.failures.front().error;
      else if (!ending.fetched.empty())
        kept.scale = std::move(ending.fetched.front());
      return;
    }
    if (!kept.pending_next.is_set()) return;
    // A failed write is tried again at once, from what was known before it.
    if (ending.succeeded) {
      kept.memory = std::move(kept.pending);
      kept.next = kept.pending_next;
      kept.spec = std::move(kept.pending_spec);
    }
    kept.pending_next = {};
  }

 private:
  struct Kept {
    std::string uid;
    Json spec;  // that the last look was by
    Memory memory;
    base::Time next;
    Memory pending;  // of the plan that runs
    Json pending_spec = {};
    base::Time pending_next = {};
    bool asking = false;                           // the plan that runs asks for the target's scale
    std::optional<base::Result<Json>> scale = {};  // what it was answered, for the next step; null: there is none
  };

  // Unset: `plan` asks for it, and the next step knows.
  std::optional<base::Result<Target>> find_target(const View& view, const Json& scaler, Kept& kept, Plan& plan) {
    const Json& reference = scaler["spec"]["scaleTargetRef"];
    const std::string ns(api::namespace_of(scaler)), name = reference["name"].str();
    const auto missing = [](std::string why) { return base::make_error(base::Code::kNotFound, std::move(why)); };
    if (const api::KindInfo* kind = scaled_kind(reference)) {
      const Json* object = view.find(kind->resource, base::format("{}/{}", ns, name));
      if (object != nullptr) return base::Result<Target>(target_of(*kind, *object));
      return missing(base::format("{} \"{}\" not found", api::qualified_plural(*kind), name));
    }
    const auto resource = strangers_.find(reference);
    if (!resource)
      return missing(base::format("no matches for kind \"{}\" with a scale in \"{}\"", reference["kind"].as_string(),
                                  reference["apiVersion"].as_string()));
    if (!kept.scale) {
      kept.asking = true;
      plan.fetch(*resource, reference["kind"].as_string(), ns, name).subresource = "scale";
      plan.requeue_after({});
      return std::nullopt;
    }
    const base::Result<Json> scale = *std::exchange(kept.scale, std::nullopt);
    if (!scale.ok()) return base::Result<Target>(scale.error());
    if (!scale->is_null()) return base::Result<Target>(target_of_scale(*resource, reference, *scale));
    return missing(base::format("{}.{} \"{}\" not found, or it has no scale", resource->plural, resource->group, name));
  }

  LatestUsage usage_;
  StrangersKinds strangers_;
  std::map<std::string, Kept> memories_;
};

}  // namespace

std::unique_ptr<Controller> make_autoscaler_controller(LatestUsage usage) {
  return std::make_unique<AutoscalerController>(std::move(usage));
}

}  // namespace controllers::autoscaling
