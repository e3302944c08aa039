// Network-topology-aware: which parts of the network are tried for a group, and which of them is best.
#include <algorithm>

#include "base/format.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/plugins/topology/network_topology_score.h"
#include "scheduler/session/session.h"

namespace scheduler {
namespace {

constexpr double kFadingDefault = 0.8;
constexpr std::int64_t kEvictDomainsDefault = 8;

class NetworkTopologyAware final : public Plugin {
 public:
  void attach(PluginSetup& setup) override {
    model_ = &setup.model();
    sums_ = std::make_unique<DomainSums>(*model_);
    configure(setup.arguments());
    setup.on<JobGradients>([this](const Job& job, DomainId within, DomainPurpose purpose) {
      if (!job.topology || !job.topology->constraint.hard) return Gradients{{within}};
      const Search search{job.topology->constraint.allowed, job.topology->allocated, within, purpose};
      return gradients(search, job.min_resources() ? *job.min_resources() : Request{});
    });
    setup.on<SubJobGradients>([this](const Job& job, const SubJob& part, DomainId within, DomainPurpose purpose) {
      if (!part.constraint.hard) return Gradients{{within}};
      return gradients({part.constraint.allowed, part.allocated, within, purpose}, pending_of(job, part));
    });
    setup.on<HyperNodeOrder>([this](const Job& job, const SubJob& part, const std::vector<DomainId>& domains) {
      return order(job, part, domains);
    });
    setup.on<ClassKey>([this](const Task& task) -> std::uint32_t {
      if (!task.job.is_set() || !model_->job(task.job).topology) return 0;
      const std::uint32_t part = model_->sub_job_of(task.id);
      const bool has_constraint = model_->job(task.job).topology->sub_jobs[part].constraint.present;
      return task.job.index * 0x9e3779b1u + 2 * part + (has_constraint ? 2 : 1);
    });
    setup.on<NodeOrder>([this](const Task& task) -> std::unique_ptr<NodeScorer> {
      const Job* job = task.job.is_set() ? &model_->job(task.job) : nullptr;
      if (job != nullptr && job->topology) {
        const std::uint32_t part = model_->sub_job_of(task.id);
        if (job->topology->sub_jobs[part].constraint.present)
          return make_part_scorer(*model_, weights_, task.job, part);
      }
      if (!weights_.normal_pods || model_->hyper_nodes.empty()) return nullptr;
      return make_normal_pod_scorer(*model_, *sums_, groups_, weights_, model_->shape_of(task).request);
    });
  }

  void open(Session&) override {
    pending_ = {};
    whole_ = {};
    if (!model_->hyper_nodes.empty() || !model_->topology_jobs().empty()) sums_->open();
  }

 private:
  struct Search {
    std::int64_t allowed = 0;
    Symbol allocated;  // HyperNode of what runs already
    DomainId within;
    DomainPurpose purpose = DomainPurpose::kAllocate;
  };

  void configure(const Arguments& arguments) {
    weights_.all = arguments.get_weight("weight", 1);
    weights_.by_dim[kCpu] = weight_of(arguments, "hypernode.binpack.cpu");
    weights_.by_dim[kMemory] = weight_of(arguments, "hypernode.binpack.memory");
    const std::string list = arguments.get_string("hypernode.binpack.resources", "");
    for (std::size_t start = 0; start < list.size();) {
      const std::size_t comma = std::min(list.find(',', start), list.size());
      std::string name = list.substr(start, comma - start);
      name.erase(0, name.find_first_not_of(" \t\n"));
      name.erase(name.find_last_not_of(" \t\n") + 1);
      start = comma + 1;
      if (name.empty()) continue;
      weights_.by_dim[model_->dimensions.intern(name)] = weight_of(arguments, "hypernode.binpack.resources." + name);
    }
    weights_.normal_pods = arguments.get_bool("hypernode.binpack.normal-pod.enable", true);
    weights_.fading = arguments.get_double("hypernode.binpack.normal-pod.fading", kFadingDefault);
    if (!(weights_.fading >= 0)) {
      arguments.warn(base::format("hypernode.binpack.normal-pod.fading: {} is less than 0; {} is used", weights_.fading,
                                  kFadingDefault));
      weights_.fading = kFadingDefault;
    }
    evict_domains_max_ = arguments.get_int_from("hypernode.gradient.evict.max-hypernodes", 1, kEvictDomainsDefault);
  }

  static std::int64_t weight_of(const Arguments& arguments, const std::string& key) {
    return arguments.get_int_from(key, 0, 1);
  }

  // The requests of a part's tasks, as many domains in a row are judged for one part. Every placement touches a node.
  struct PartRequest {
    JobId job;
    const SubJob* part = nullptr;
    std::size_t touched = 0;
    std::uint64_t epoch = 0;
    Sums sums;
    Request request;
  };

  bool is_current(const PartRequest& known, const Job& job, const SubJob& part) const {
    return known.part == &part && known.job == job.id && known.touched == model_->touched().size() &&
           known.epoch == model_->touched_epoch();
  }

  // Adds up the part's tasks; the waiting ones only, or all.
  PartRequest add_up(const Job& job, const SubJob& part, bool waiting) const {
    PartRequest out{job.id, &part, model_->touched().size(), model_->touched_epoch(), {}, {}};
    for (const TaskId id : job.tasks) {
      const Task& task = model_->task(id);
      if (&job.topology->sub_jobs[model_->sub_job_of(id)] != &part) continue;
      if (!waiting || task.status == TaskStatus::kPending) out.sums.add(model_->shape_of(task).request, 1);
    }
    for (Dim d = 0; d < out.sums.size(); ++d) {
      if (out.sums.has(d)) out.request.add(d, out.sums.get(d));
    }
    return out;
  }

  const Request& pending_of(const Job& job, const SubJob& part) {
    if (!is_current(pending_, job, part)) pending_ = add_up(job, part, true);
    return pending_.request;
  }

  bool has_room(DomainId domain, DomainPurpose purpose, const Request& wanted) const {
    bool idle = true, future = true, ever = true;
    for (const Part& part : wanted.parts) {
      idle &= part.amount <= sums_->idle_at_open(domain, part.dim);
      future &= part.amount <= sums_->future_at_open(domain, part.dim);
      ever &= part.amount <= sums_->allocatable(domain, part.dim);
    }
    return purpose == DomainPurpose::kEvict ? ever : idle || future;
  }

  // Below which domain the search goes; unset when there is nothing to search.
  DomainId search_root(const DomainTree& tree, const Search& search) const {
    DomainId at = search.allocated.is_set() ? tree.find(search.allocated) : DomainId{};
    if (!at.is_set()) return search.within;
    if (tree[at].tier > search.allowed) return {};
    while (tree[at].parent.is_set() && tree[tree[at].parent].tier <= search.allowed) at = tree[at].parent;
    if (tree.contains(search.within, at)) return at;
    return tree.contains(at, search.within) ? search.within : DomainId{};
  }

  Gradients gradients(const Search& search, const Request& wanted) {
    const DomainTree& tree = model_->hyper_nodes.tree();
    sums_->catch_up();
    const DomainId root = search_root(tree, search);
    if (!root.is_set()) return {};
    const bool placed = search.allocated.is_set();
    std::map<std::int64_t, std::vector<DomainId>> by_tier;
    for (DomainId id = root; id.index < tree[root].end; ++id.index) {
      if (tree[id].tier > search.allowed) continue;
      if (placed || has_room(id, search.purpose, wanted)) by_tier[tree[id].tier].push_back(id);
    }
    Gradients out;
    for (auto& [tier, group] : by_tier) out.push_back(std::move(group));
    if (search.purpose == DomainPurpose::kEvict) cut_for_eviction(out);
    return out;
  }

  // The widest domains first, and not too many; a group that is cut keeps its last ones.
  void cut_for_eviction(Gradients& groups) const {
    std::reverse(groups.begin(), groups.end());
    auto left = static_cast<std::size_t>(evict_domains_max_);
    for (auto& group : groups) {
      if (group.size() > left) group.erase(group.begin(), group.end() - static_cast<std::ptrdiff_t>(left));
      left -= group.size();
    }
    std::erase_if(groups, [](const auto& group) { return group.empty(); });
  }

  std::vector<double> order(const Job& job, const SubJob& part, const std::vector<DomainId>& domains) {
    sums_->catch_up();
    const auto index = static_cast<std::uint32_t>(&part - job.topology->sub_jobs.data());
    if (!is_current(whole_, job, part)) whole_ = add_up(job, part, false);
    std::vector<double> out;
    for (const DomainId domain : domains) out.push_back(fullness(*sums_, weights_, domain, whole_.sums));
    const double most = out.empty() ? 0 : *std::max_element(out.begin(), out.end());
    const bool shared = std::count(out.begin(), out.end(), most) > 1;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (shared && out[i] == most) out[i] += part_of_tasks_in(*model_, job, index, domains[i]);
      out[i] *= 100 * weights_.all;
    }
    return out;
  }

  Model* model_ = nullptr;
  TopologyWeights weights_;
  std::int64_t evict_domains_max_ = kEvictDomainsDefault;
  std::unique_ptr<DomainSums> sums_;
  PartRequest pending_, whole_;
  DomainGroups groups_;
};

}  // namespace

std::unique_ptr<Plugin> make_network_topology_aware() { return std::make_unique<NetworkTopologyAware>(); }

}  // namespace scheduler
