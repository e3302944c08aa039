// Deviceshare: cards that several pods share, and how pods are spread over them.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/format.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/plugins/devices/device_family.h"
#include "scheduler/plugins/devices/mindcluster_reports.h"
#include "scheduler/search/node_evaluators.h"
#include "scheduler/session/session.h"

namespace scheduler {
namespace {

constexpr base::Duration kLockTime = base::seconds(5 * 60);

using Families = std::vector<const DeviceFamily*>;

class DeviceFilter final : public NodeFilter {
 public:
  DeviceFilter(const Model& model, TaskId task, Families families, base::Time now)
      : model_(model), task_(task), families_(std::move(families)), now_(now) {}
  Reach reach() const override { return Reach::kNode; }
  bool lasts() const override { return false; }

  void narrow(NodeSet& nodes, Strictness strictness, FitErrors* errors) override {
    NodeSet out = nodes, unresolvable = nodes;
    unresolvable.clear();
    nodes.for_each([&](std::uint32_t n) {
      DeviceMisfit misfit;
      if (fits(n, misfit)) return;
      if (errors != nullptr) errors->add(misfit.message, 1);
      if (misfit.code != FitCode::kUnschedulable) unresolvable.add(n);
      if (strictness == Strictness::kPlace || misfit.code != FitCode::kUnschedulable) out.remove(n);
    });
    if (errors != nullptr) errors->add_unresolvable(unresolvable);
    nodes = std::move(out);
  }

  bool fits(std::uint32_t n) override {
    DeviceMisfit misfit;
    return fits(n, misfit);
  }

 private:
  bool fits(std::uint32_t n, DeviceMisfit& misfit) const {
    return std::all_of(families_.begin(), families_.end(), [&](const DeviceFamily* family) {
      return !family->is_on(NodeId{n}) || family->take(model_.task(task_), NodeId{n}, now_, misfit).has_value();
    });
  }

  const Model& model_;
  const TaskId task_;
  const Families families_;
  const base::Time now_;
};

class DeviceScorer final : public NodeScorer {
 public:
  DeviceScorer(const Model& model, TaskId task, Families families, double weight)
      : model_(model), task_(task), families_(std::move(families)), weight_(weight) {}
  Reach reach() const override { return Reach::kNode; }
  bool lasts() const override { return false; }
  double weight() const override { return weight_; }
  double score(std::uint32_t n) override {
    double sum = 0;
    for (const DeviceFamily* family : families_) {
      DeviceMisfit misfit;
      if (!family->is_on(NodeId{n})) continue;
      if (const auto taken = family->take(model_.task(task_), NodeId{n}, base::Time{}, misfit)) sum += taken->score;
    }
    return std::round(sum);
  }

 private:
  const Model& model_;
  const TaskId task_;
  const Families families_;
  const double weight_;
};

// Scores that follow from all candidates together, of families that compare nodes (spec/scheduler 5.16.2).
class TogetherScorer final : public NodeScorer {
 public:
  TogetherScorer(const Model& model, TaskId task, Families families, double weight)
      : model_(model), task_(task), families_(std::move(families)), weight_(weight) {}
  Reach reach() const override { return Reach::kCluster; }
  bool lasts() const override { return false; }
  Normalise normalise() const override { return Normalise::kWhole; }
  void add_scores(const NodeSet& candidates, std::vector<double>& totals) override {
    for (const DeviceFamily* family : families_)
      family->score_together(model_.task(task_), candidates, weight_, totals);
  }

 private:
  const Model& model_;
  const TaskId task_;
  const Families families_;
  const double weight_;
};

class DeviceShare final : public Plugin {
 public:
  void attach(PluginSetup& setup) override {
    model_ = &setup.model();
    read(setup);
    if (families_.empty()) return;
    setup.on<ClassKey>([this](const Task& task) {
      std::uint32_t out = 0;
      for (const DeviceFamily* family : wanted_by(task)) out = out * 31 + family->class_key(task);
      return out;
    });
    setup.on<Predicate>([this](const Task& task) -> std::unique_ptr<NodeFilter> {
      Families wanted = wanted_by(task);
      if (wanted.empty()) return nullptr;
      return std::make_unique<DeviceFilter>(*model_, task.id, std::move(wanted), now_);
    });
    if (weight_ > 0) {
      setup.on<NodeOrder>([this](const Task& task) { return scorer<DeviceScorer>(task, false); });
      setup.on<NodeOrder>([this](const Task& task) { return scorer<TogetherScorer>(task, true); });
    }
    // COMPAT(devices-without-predicates): devices are reserved whether or not the predicates plugin is configured.
    setup.on<TaskPlaced>([this](const Task& task) { return reserve(task); });
    setup.on<TaskRemoved>([this](const Task& task) {
      // A pod that is being evicted keeps what it was told.
      if (is_releasing(task.status)) return;
      model_->devices.revoke(task.id);
    });
  }

  bool refresh() override {
    bool out = false;
    for (const auto& family : families_) out |= family->refresh();
    return out;
  }
  void open(Session& session) override { now_ = session.input().now; }

  void report(const MetricSink& sink) const override {
    for (const auto& family : families_) family->report(sink);
  }

  void held_by(const Task& task, const AmountSink& sink) const override {
    for (const auto& family : families_) family->held_by(task, sink);
  }

 private:
  void read(PluginSetup& setup) {
    const Arguments& arguments = setup.arguments();
    bool gpu_memory = arguments.get_bool("deviceshare.GPUSharingEnable", false);
    bool gpu_number = arguments.get_bool("deviceshare.GPUNumberEnable", false);
    const bool vgpu = arguments.get_bool("deviceshare.VGPUEnable", false);
    locks_nodes_ = arguments.get_bool("deviceshare.NodeLockEnable", false);
    if (locks_nodes_) setup.depends_on_time();
    weight_ = arguments.get_int_from("deviceshare.ScheduleWeight", 0, 0);
    const std::string policy = arguments.get_string("deviceshare.SchedulePolicy", "");
    VgpuSettings settings;
    if (policy == "binpack") settings.policy = DevicePolicy::kBinpack;
    if (policy == "spread") settings.policy = DevicePolicy::kSpread;
    settings.spread_scores = !setup.is_compat("vgpu-spread-score");
    settings.config_map = arguments.get_string("deviceshare.KnownGeometriesCMNamespace", "kube-system") + "/" +
                          arguments.get_string("deviceshare.KnownGeometriesCMName", "volcano-vgpu-device-config");
    const api::Json rules = arguments.get_list("deviceshare.GPUExclusiveRules");
    for (const api::Json& rule : rules.items()) settings.exclusive_rules.push_back(rule);
    // COMPAT(device-modes): two ways to share the same cards exclude one another; the first one counts, nothing ends.
    if (gpu_memory) gpu_number = false;
    if (vgpu && (gpu_memory || gpu_number)) gpu_memory = gpu_number = false;
    if (gpu_memory || gpu_number) families_.push_back(make_gpu_share(*model_, gpu_memory));
    if (arguments.get_bool("deviceshare.AscendMindClusterVNPUEnable", false)) {
      const bool gathered = reads_gathered_reports(setup.configuration("init-params"));
      families_.push_back(make_mindcluster_vnpu(*model_, gathered));
    }
    if (arguments.get_bool("deviceshare.AscendHAMiVNPUEnable", false))
      families_.push_back(make_hami_vnpu(*model_, settings));
    if (vgpu) families_.push_back(make_vgpu(*model_, std::move(settings)));
  }

  template <class Scorer>
  std::unique_ptr<NodeScorer> scorer(const Task& task, bool together) const {
    Families wanted = wanted_by(task);
    std::erase_if(wanted, [&](const DeviceFamily* family) { return family->scores_together() != together; });
    if (wanted.empty()) return nullptr;
    return std::make_unique<Scorer>(*model_, task.id, std::move(wanted), static_cast<double>(weight_));
  }

  Families wanted_by(const Task& task) const {
    Families out;
    const Shape& shape = model_->shape_of(task);
    if (shape.asks.empty()) return out;
    for (const auto& family : families_) {
      if (family->wants(shape)) out.push_back(family.get());
    }
    return out;
  }

  Refusal reserve(const Task& task) {
    // An eviction that is taken back finds the pod's devices as they were.
    const bool is_new = task.status == TaskStatus::kAllocated || task.status == TaskStatus::kPipelined;
    if (!is_new) return {};
    for (const DeviceFamily* family : wanted_by(task)) {
      if (!family->is_on(task.node)) continue;
      DeviceMisfit misfit;
      const auto taken = family->take(task, task.node, now_, misfit);
      if (!taken) return {"Devices", misfit.message};
      if (locks_nodes_ && !lock(task, *family)) {
        return {"Devices", base::format("node {} has been locked within 5 minutes", model_->nodes[task.node].name)};
      }
      model_->devices.grant(task.id, taken->annotations);
    }
    return {};
  }

  // One pod at a time may be on its way to a node's devices.
  bool lock(const Task& task, const DeviceFamily& family) {
    const std::string key = std::string(family.lock_name());
    if (key.empty()) return true;
    const auto since = base::parse_rfc3339(model_->devices.node(task.node)["annotations"][key].as_string());
    if (since && now_ - *since < kLockTime && *since - now_ < kLockTime) return false;
    model_->devices.node_locks.end(now_ - kLockTime);
    for (const TaskId id : model_->nodes[task.node].tasks) {
      const TaskStatus status = model_->task(id).status;
      const bool under_way =
          status == TaskStatus::kAllocated || status == TaskStatus::kBinding || status == TaskStatus::kBound;
      if (id != task.id && under_way && model_->devices.node_locks.is_taken(key, model_->text(id).uid.str()))
        return false;
    }
    model_->devices.lock(task.id, key);
    model_->devices.node_locks.take(key, model_->text(task.id).uid.str(), now_);
    return true;
  }

  Model* model_ = nullptr;
  std::vector<std::unique_ptr<DeviceFamily>> families_;
  bool locks_nodes_ = false;
  std::int64_t weight_ = 0;
  base::Time now_;
};

}  // namespace

std::unique_ptr<Plugin> make_deviceshare() { return std::make_unique<DeviceShare>(); }

}  // namespace scheduler
