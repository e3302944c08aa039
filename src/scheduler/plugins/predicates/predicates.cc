// Predicates: the Kubernetes filters. Each refuses nodes with its own reason; some refusals could be cured by evicting.
#include "scheduler/plugins/predicates/predicates.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>

#include "base/format.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/model/model.h"
#include "scheduler/model/nodes/column_kernels.h"
#include "scheduler/plugins/predicates/node_facts.h"
#include "scheduler/plugins/predicates/pre_predicate.h"
#include "scheduler/plugins/predicates/predicates_dra.h"
#include "scheduler/plugins/predicates/predicates_volumes.h"

namespace scheduler {
namespace {

constexpr std::string_view kAnyAddress = "0.0.0.0";

class PredicateFilter final : public NodeFilter {
 public:
  PredicateFilter(const Model& model, DomainCache& domains, const PredicateSwitches& on, const Task& task)
      : model_(model), shape_(model.shape_of(task)), on_(on), passed_(model.nodes.known()) {
    add_fixed_rules();
    add_pod_filters(model, domains, on, task, cluster_filters_);
    if (on.resource_claims) {
      if (auto claims = make_claim_filter(model, task, on.claim_steps_max))
        cluster_filters_.push_back(std::move(claims));
    }
  }

  Reach reach() const override { return cluster_filters_.empty() ? Reach::kNode : Reach::kCluster; }

  void narrow(NodeSet& nodes, Strictness strictness, FitErrors* errors) override {
    if (errors == nullptr && strictness == Strictness::kPlace && cluster_filters_.empty()) {
      // The caller does not ask why, and only the nodes' own facts matter.
      nodes &= passed_;
      keep_with_pod_room(nodes);
      keep_with_free_ports(nodes);
      return;
    }
    Sieve sieve(nodes, errors);
    NodeSet roomy = nodes;
    keep_with_pod_room(roomy);
    sieve.keep(roomy, FitCode::kUnschedulable, kPodNumberExceeded);
    for (const FixedRule& rule : rules_) sieve.keep(rule.good, FitCode::kUnresolvable, rule.reason);
    if (asks_for_ports()) {
      NodeSet free = sieve.alive();
      keep_with_free_ports(free);
      sieve.keep(free, FitCode::kUnschedulable, "node(s) didn't have free ports for the requested pod ports");
    }
    for (const auto& filter : cluster_filters_) filter->apply(sieve);
    if (errors != nullptr) errors->add_unresolvable(sieve.unresolvable());
    nodes.subtract(strictness == Strictness::kPlace ? sieve.failed() : sieve.unresolvable());
  }

  bool fits(std::uint32_t n) override {
    if (!passed_.has(n) || is_full(n) || (asks_for_ports() && has_port_conflict(n))) return false;
    if (cluster_filters_.empty()) return true;
    NodeSet one = model_.nodes.known();
    one.clear();
    one.add(n);
    narrow(one, Strictness::kPlace, nullptr);
    return !one.empty();
  }

 private:
  // A rule about facts of nodes that static_generation() guards.
  struct FixedRule {
    NodeSet good;
    std::string_view reason;
  };

  // In the order in which their reasons are told.
  void add_fixed_rules() {
    const auto add = [&](NodeSet good, std::string_view reason) {
      passed_ &= good;
      rules_.push_back({std::move(good), reason});
    };
    const Taint unschedulable{model_.symbols.find("node.kubernetes.io/unschedulable"), model_.symbols.find(""),
                              Taint::Effect::kNoSchedule};
    if (!model_.nodes.unschedulable().empty() && !tolerates(shape_.tolerations, unschedulable)) {
      NodeSet good = model_.nodes.known();
      good.subtract(model_.nodes.unschedulable());
      add(std::move(good), "node(s) were unschedulable");
    }
    if (on_.node_affinity && (!shape_.node_selector.empty() || shape_.has_required_terms))
      add(nodes_matching_affinity(model_, shape_), "node(s) didn't match Pod's node affinity/selector");
    if (on_.taint_toleration) add(nodes_with_tolerated_taints(model_, shape_), "node(s) had untolerated taint(s)");
  }

  void keep_with_pod_room(NodeSet& nodes) const {
    keep_less(model_.nodes.seen_pods().data(), model_.nodes.allocatable(kPods).data(), nodes.words().data(),
              nodes.words().size());
  }

  void keep_with_free_ports(NodeSet& nodes) const {
    if (!asks_for_ports()) return;
    NodeSet free = nodes;
    nodes.for_each([&](std::uint32_t n) {
      if (has_port_conflict(n)) free.remove(n);
    });
    nodes = std::move(free);
  }

  bool is_full(std::uint32_t n) const {
    const Column& most = model_.nodes.allocatable(kPods);
    return (n < most.size() ? most[n] : 0) <= model_.nodes.seen_pods()[n];
  }

  bool asks_for_ports() const { return on_.node_ports && !shape_.ports.empty(); }

  // The ports of a shape are in the order of port, protocol and address. An address conflicts with itself and with the
  // one that stands for all.
  bool conflicts(const HostPort& theirs) const {
    const auto port_of = [](const HostPort& one) { return std::tie(one.port, one.protocol); };
    const auto ours = std::equal_range(shape_.ports.begin(), shape_.ports.end(), theirs,
                                       [&](const HostPort& a, const HostPort& b) { return port_of(a) < port_of(b); });
    if (ours.first == ours.second || theirs.ip == kAnyAddress) return ours.first != ours.second;
    const auto has = [&](std::string_view ip) {
      const auto at = std::lower_bound(ours.first, ours.second, ip,
                                       [](const HostPort& one, std::string_view wanted) { return one.ip < wanted; });
      return at != ours.second && at->ip == ip;
    };
    return has(theirs.ip) || has(kAnyAddress);
  }

  bool has_port_conflict(std::uint32_t n) const {
    for (const TaskId id : model_.nodes[NodeId{n}].tasks) {
      const Task& task = model_.task(id);
      if (!(effects_of(task.status) & kEffectSeen)) continue;
      for (const HostPort& theirs : model_.shape_of(task).ports) {
        if (conflicts(theirs)) return true;
      }
    }
    return false;
  }

  const Model& model_;
  const Shape& shape_;
  const PredicateSwitches on_;
  std::vector<FixedRule> rules_;
  NodeSet passed_;  // the nodes that all of them let through
  std::vector<std::unique_ptr<ClusterFilter>> cluster_filters_;
};

// Every term asks for nodes by name, and no name satisfies any of them.
bool names_no_node(const Shape& shape) {
  for (const NodeTerm& term : shape.required_terms) {
    std::optional<std::vector<Symbol>> names;
    for (const Requirement& field : term.fields) {
      if (field.op != Requirement::Op::kIn) continue;
      if (!names)
        names = field.values;
      else
        std::erase_if(*names,
                      [&](Symbol name) { return !std::binary_search(field.values.begin(), field.values.end(), name); });
    }
    if (!names || !names->empty()) return false;
  }
  return !shape.required_terms.empty();
}

class Predicates final : public Plugin {
 public:
  void attach(PluginSetup& setup) override {
    const Arguments& arguments = setup.arguments();
    on_.node_affinity = arguments.get_bool("predicate.NodeAffinityEnable", true);
    on_.node_ports = arguments.get_bool("predicate.NodePortsEnable", true);
    on_.taint_toleration = arguments.get_bool("predicate.TaintTolerationEnable", true);
    on_.pod_affinity = arguments.get_bool("predicate.PodAffinityEnable", true);
    on_.volume_limits = arguments.get_bool("predicate.NodeVolumeLimitsEnable", true);
    on_.volume_zone = arguments.get_bool("predicate.VolumeZoneEnable", true);
    on_.topology_spread = arguments.get_bool("predicate.PodTopologySpreadEnable", true);
    on_.volume_binding = arguments.get_bool("predicate.VolumeBindingEnable", true);
    // COMPAT(predicate-cache): classes remember the stable filters in any case, and with their true reasons.
    (void)arguments.get_bool("predicate.CacheEnable", false);
    on_.resource_claims = arguments.get_bool("predicate.DynamicResourceAllocationEnable", true) &&
                          setup.model().gates.on("DynamicResourceAllocation");
    // COMPAT(device-search-bound): the seconds become steps, so that the same input has the same answer.
    const std::int64_t seconds = arguments.get_int("dynamicresources.filterTimeoutSeconds", 10);
    on_.claim_steps_max =
        static_cast<std::uint64_t>(std::clamp<std::int64_t>(seconds <= 0 ? 1000 : seconds, 1, 1000)) * 100'000;
    Model& model = setup.model();
    model.claims.enabled = on_.resource_claims;
    read_volume_binding(arguments, model);
    model.symbols.intern("node.kubernetes.io/unschedulable");
    model.symbols.intern("");
    const bool sidecars = model.gates.on("SidecarContainers");
    setup.on<PrePredicate>([this, sidecars, &model](const Task& task) -> Refusal {
      const Shape& shape = model.shape_of(task);
      if (shape.sidecars && !sidecars) {
        return {"PrePredicate", "pod has a restartable init container and the SidecarContainers feature is disabled"};
      }
      if (shape.has_too_many_terms) {
        return {
            "PrePredicate",
            base::format("pod affinity, anti-affinity and topology spread constraints have more than "
                         "{} terms or {} requirements together, or node affinity more than {} terms and expressions",
                         kPodTermsMax, kPodRequirementsMax, kNodeTermsMax)};
      }
      if (on_.node_affinity && shape.has_required_terms && names_no_node(shape)) {
        return refuse_before_nodes("NodeAffinity", "pod affinity terms conflict");
      }
      if (Refusal refused = on_.volume_binding ? check_claims(model, task) : Refusal{}) return refused;
      return on_.resource_claims ? check_resource_claims(model, task) : Refusal{};
    });
    // Claims come and go without a new class; only whether they offer alternatives decides which scores there are.
    setup.on<ClassKey>([this, &model](const Task& task) -> std::uint32_t {
      return on_.resource_claims && has_alternatives(model, task) ? 1 : 0;
    });
    setup.on<NodeOrder>([this, &model](const Task& task) -> std::unique_ptr<NodeScorer> {
      return on_.resource_claims ? make_claim_scorer(model, task, on_.claim_steps_max) : nullptr;
    });
    setup.on<NodeOrder>([this, &model](const Task& task) -> std::unique_ptr<NodeScorer> {
      if (!on_.volume_binding || !model.gates.on("StorageCapacityScoring")) return nullptr;
      return make_storage_scorer(model, utilization_, volume_weight_, task);
    });
    setup.on<TaskPlaced>([this, &model](const Task& task) -> Refusal {
      // An eviction that is taken back finds what the pod holds as it was.
      if (task.status != TaskStatus::kAllocated && task.status != TaskStatus::kPipelined) return {};
      if (Refusal refused = on_.volume_binding ? reserve_volumes(model, task) : Refusal{}) return refused;
      return on_.resource_claims ? reserve_devices(model, task, on_.claim_steps_max) : Refusal{};
    });
    setup.on<TaskRemoved>([&model](const Task& task) {
      if (is_releasing(task.status)) return;  // a pod that is evicted holds its volumes and devices until it is gone
      model.volumes.withdraw(task.id);
      model.claims.withdraw(task.id);
    });
    setup.on<Predicate>([this, &model](const Task& task) -> std::unique_ptr<NodeFilter> {
      return std::make_unique<PredicateFilter>(model, domains_, on_, task);
    });
  }

 private:
  void read_volume_binding(const Arguments& arguments, Model& model) {
    const std::int64_t timeout = arguments.get_int_from("volumebinding.bindTimeoutSeconds", 0, 600);
    model.volumes.bind_timeout = base::seconds(std::clamp<std::int64_t>(timeout, 0, 1'000'000));
    volume_weight_ = arguments.get_weight("volumebinding.weight", 1);
    utilization_ = {{0, 0}, {100, 100}};
    const api::Json points = arguments.get_list("volumebinding.shape");
    if (points.empty()) return;
    UtilizationShape wanted;
    for (const api::Json& point : points.items()) {
      const double at = point["utilization"].as_double(-1), score = point["score"].as_double(-1);
      const bool ascends = wanted.empty() || at > wanted.back().first;
      if (!ascends || at < 0 || at > 100 || score < 0 || score > 10)
        return arguments.warn(
            "volumebinding.shape must ascend in utilization (0 to 100) with scores of 0 to 10; the default is used");
      wanted.emplace_back(at, score * 10);
    }
    utilization_ = std::move(wanted);
  }

  PredicateSwitches on_;
  DomainCache domains_;
  UtilizationShape utilization_;
  double volume_weight_ = 1;
};

}  // namespace

std::unique_ptr<Plugin> make_predicates() { return std::make_unique<Predicates>(); }

}  // namespace scheduler
