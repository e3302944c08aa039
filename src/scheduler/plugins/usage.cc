// Usage: pods keep away from nodes that are busy in fact, whatever was asked for there.
//
// Between two measurements the load of pods that came meanwhile is estimated: the shadow load.
#include <algorithm>
#include <unordered_map>

#include "base/format.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/search/node_by_node_filter.h"
#include "scheduler/session/session.h"

namespace scheduler {
namespace {

constexpr std::string_view kPeriod = "10m";
constexpr base::Duration kMetricsAgeMax = base::minutes(5);
constexpr std::int64_t kMiB = 1024 * 1024;

struct Estimator {
  double request_ratio = 0.7;
  double burst_ratio = 0;
  double risk_threshold = 0.6;
  double risk_factor = 1.2;
  double idle_cpu = 250;  // of pods that ask for nothing
  double idle_memory = 200.0 * kMiB;
};

struct UsageOptions {
  double weight = 5;
  double cpu_weight = 1;
  double memory_weight = 1;
  double cpu_threshold = 80;  // percent
  double memory_threshold = 80;
  Estimator estimator;
};

struct Amount {
  double cpu = 0;
  double memory = 0;
};

// The shadow loads of all nodes, and what each task added.
class ShadowLoads {
 public:
  ShadowLoads(const Model& model, const UsageOptions& options) : model_(model), options_(options) {}

  void open(base::Time now, base::Duration interval) {
    now_ = now;
    interval_ = interval;
    nodes_.clear();
    added_.clear();
  }

  const NodeUsage* fresh_usage(std::uint32_t n) const {
    const NodeUsage* usage = model_.usage.find(model_.nodes[NodeId{n}].name, kPeriod);
    if (usage == nullptr || now_ > usage->at + kMetricsAgeMax) return nullptr;
    return usage->at > now_ + kMetricsAgeMax ? nullptr : usage;  // the clock was set back
  }

  // The parts of the node's capacity in use, with the shadow load.
  Amount load(std::uint32_t n, const NodeUsage& usage) { return load_with(n, usage, shadow(n)); }

  // Told after the change. The load of a node that is not measured is never asked for.
  void placed(const Task& task) {
    if (fresh_usage(task.node.index) != nullptr) add(task, shadow(task.node.index, &task));
  }
  void removed(const Task& task) {
    if (!task.node.is_set() || fresh_usage(task.node.index) == nullptr) return;
    Amount& node = shadow(task.node.index, &task);
    const auto known = added_.find(task.id.index);
    if (known == added_.end()) return;
    node.cpu -= known->second.cpu;
    node.memory -= known->second.memory;
    added_.erase(known);
  }

 private:
  // Summed up as the cycle found the node, when it is first asked for or the first of its tasks has `changed`: what is
  // added depends on what is there already. Placements are added as they come.
  Amount& shadow(std::uint32_t n, const Task* changed = nullptr) {
    const auto [slot, fresh] = nodes_.try_emplace(n);
    if (!fresh) return slot->second;
    std::vector<TaskId> tasks = model_.nodes[NodeId{n}].tasks;
    std::sort(tasks.begin(), tasks.end(), [&](TaskId a, TaskId b) { return model_.text(a).uid < model_.text(b).uid; });
    for (const TaskId id : tasks) {
      const Task& task = model_.task(id);
      const bool was_evicted = &task == changed && task.status == TaskStatus::kEvicting;
      const bool has_come = &task == changed && !was_evicted;
      if (!has_come && is_unmeasured(task, was_evicted)) add(task, slot->second);
    }
    return slot->second;
  }

  // `was_evicted`: a moment ago; it ran until then.
  bool is_unmeasured(const Task& task, bool was_evicted) const {
    if (was_evicted || task.status == TaskStatus::kRunning) {
      const std::int64_t started = model_.details.started_ns(task.id);
      return started == 0 || now_ < base::Time{started} + interval_;
    }
    return task.status == TaskStatus::kAllocated || task.status == TaskStatus::kBinding ||
           task.status == TaskStatus::kBound || task.status == TaskStatus::kPipelined;
  }

  void add(const Task& task, Amount& node) {
    const Amount more = estimate(task, node);
    node.cpu += more.cpu;
    node.memory += more.memory;
    added_[task.id.index] = more;
  }

  Amount estimate(const Task& task, const Amount& shadow) const {
    const Estimator& e = options_.estimator;
    const NodeUsage* usage = fresh_usage(task.node.index);
    const bool risky = usage != nullptr && composite(load_with(task.node.index, *usage, shadow)) >= e.risk_threshold;
    const double risk = risky ? e.risk_factor : 1;
    if (task.best_effort) return {e.idle_cpu * risk, e.idle_memory * risk};
    const Request& request = model_.shape_of(task).request;
    const PodLimits& limits = model_.details.limits(task.id);
    const auto one = [&](std::int64_t wanted, std::int64_t limit) {
      const auto req = static_cast<double>(wanted), most = std::max(static_cast<double>(limit), req);
      return std::clamp((req * e.request_ratio + (most - req) * e.burst_ratio) * risk, 0.0, most);
    };
    return {one(request.get(kCpu), limits.cpu), one(request.get(kMemory), limits.memory)};
  }

  Amount load_with(std::uint32_t n, const NodeUsage& usage, const Amount& shadow) const {
    const Request& capacity = model_.nodes[NodeId{n}].capacity;
    const auto one = [](double percent, double all, double more) {
      return all <= 0 ? 1.0 : std::clamp((percent / 100 * all + more) / all, 0.0, 1.0);
    };
    return {one(usage.cpu, static_cast<double>(capacity.get(kCpu)), shadow.cpu),
            one(usage.memory, static_cast<double>(capacity.get(kMemory)), shadow.memory)};
  }

  double composite(const Amount& load) const {
    const double weights = options_.cpu_weight + options_.memory_weight;
    return weights == 0 ? 0 : (load.cpu * options_.cpu_weight + load.memory * options_.memory_weight) / weights;
  }

  const Model& model_;
  const UsageOptions& options_;
  base::Time now_;
  base::Duration interval_;
  std::unordered_map<std::uint32_t, Amount> nodes_;
  std::unordered_map<std::uint32_t, Amount> added_;  // by task: exactly what is taken away again
};

class UsageFilter final : public NodeByNodeFilter {
 public:
  UsageFilter(const UsageOptions& options, const ShadowLoads& loads) : options_(options), loads_(loads) {}
  Reach reach() const override { return Reach::kCluster; }  // follows the clock

 private:
  std::string_view refusal(std::uint32_t n) override {
    const NodeUsage* usage = loads_.fresh_usage(n);
    if (usage == nullptr) return "";
    if (usage->cpu > options_.cpu_threshold) return "the CPU load of the node exceeds the upper limit.";
    if (usage->memory > options_.memory_threshold) return "the memory load of the node exceeds the upper limit.";
    return "";
  }
  const UsageOptions& options_;
  const ShadowLoads& loads_;
};

class UsageScorer final : public NodeScorer {
 public:
  UsageScorer(const UsageOptions& options, ShadowLoads& loads) : options_(options), loads_(loads) {}
  Reach reach() const override { return Reach::kCluster; }
  double score(std::uint32_t n) override {
    const NodeUsage* usage = loads_.fresh_usage(n);
    const double weights = options_.cpu_weight + options_.memory_weight;
    if (usage == nullptr || weights == 0) return 0;
    const Amount load = loads_.load(n, *usage);
    return ((1 - load.cpu) * options_.cpu_weight + (1 - load.memory) * options_.memory_weight) / weights * 100 *
           options_.weight;
  }

 private:
  const UsageOptions& options_;
  ShadowLoads& loads_;
};

class Usage final : public Plugin {
 public:
  void attach(PluginSetup& setup) override {
    Model& model = setup.model();
    setup.depends_on_time();
    read(setup.arguments());
    loads_ = std::make_unique<ShadowLoads>(model, options_);
    setup.on<Predicate>([this](const Task&) -> std::unique_ptr<NodeFilter> {
      return std::make_unique<UsageFilter>(options_, *loads_);
    });
    setup.on<NodeOrder>([this](const Task&) -> std::unique_ptr<NodeScorer> {
      return std::make_unique<UsageScorer>(options_, *loads_);
    });
    setup.on<TaskPlaced>([this](const Task& task) -> Refusal {
      loads_->placed(task);
      return {};
    });
    setup.on<TaskRemoved>([this](const Task& task) { loads_->removed(task); });
  }

  // The loads are summed up anew in each cycle, node by node as they are asked for.
  void open(Session& session) override { loads_->open(session.input().now, interval_of(session.input().config)); }

 private:
  static base::Duration interval_of(const Config& config) {
    const auto found = config.metrics.find("interval");
    const auto span = found == config.metrics.end() ? std::nullopt : base::parse_go_duration(found->second);
    return span && span->ns > 0 ? *span : base::seconds(30);
  }

  static double bounded(const Arguments& map, std::string_view key, double fallback, double low, double high) {
    const double value = map.get_double(key, fallback);
    if (value >= low && value <= high) return value;
    map.warn(base::format("{}: {} is out of range; {} is used", key, value, fallback));
    return fallback;
  }

  // A number counts in `unit`s; a text is a quantity.
  static double amount(const Arguments& map, std::string_view key, double fallback, double unit, bool milli) {
    if (!map.has(key)) return fallback;
    const std::int64_t number = map.get_int_or_text(key);
    if (number >= 0) return static_cast<double>(number) * unit;
    const auto quantity = api::Quantity::parse(map.get_string(key, ""));
    if (quantity && quantity->sign() >= 0)
      return static_cast<double>(milli ? quantity->milli_value() : quantity->value());
    map.warn(base::format("{}: is not an amount; the default is used", key));
    return fallback;
  }

  void read(const Arguments& arguments) {
    const double kMost = 1e9;
    options_.weight = bounded(arguments, "usage.weight", 5, 0, kMost);
    options_.cpu_weight = bounded(arguments, "cpu.weight", 1, 0, kMost);
    options_.memory_weight = bounded(arguments, "memory.weight", 1, 0, kMost);
    const Arguments thresholds = arguments.get_map("thresholds");
    options_.cpu_threshold = bounded(thresholds, "cpu", 80, 0, 100);
    options_.memory_threshold = bounded(thresholds, "mem", 80, 0, 100);
    const Arguments estimator = arguments.get_map("estimator");
    Estimator& e = options_.estimator;
    e.request_ratio = bounded(estimator, "request_ratio", 0.7, 0, 1);
    e.burst_ratio = bounded(estimator, "burst_ratio", 0, 0, 1);
    e.risk_threshold = bounded(estimator, "risk_threshold", 0.6, 0, 1);
    e.risk_factor = bounded(estimator, "risk_factor", 1.2, 1, kMost);
    e.idle_cpu = amount(estimator, "be_cpu", 250, 1, true);
    e.idle_memory = amount(estimator, "be_mem", 200.0 * kMiB, kMiB, false);
  }

  UsageOptions options_;
  std::unique_ptr<ShadowLoads> loads_;
};

}  // namespace

std::unique_ptr<Plugin> make_usage() { return std::make_unique<Usage>(); }

}  // namespace scheduler
