// Which pods of other groups could go from a domain together, and at what price to their groups?
#include "scheduler/actions/bundles.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "scheduler/model/whole_groups.h"

namespace scheduler {
namespace {

class Selection {
 public:
  Selection(Session& session, const BundleRequest& request)
      : session_(session), model_(session.model()), request_(request) {}

  std::vector<Bundle> run() {
    std::map<std::string_view, std::vector<TaskId>> by_job;  // by the job's key
    request_.inside.for_each([&](std::uint32_t node) {
      for (const TaskId id : model_.nodes[NodeId{node}].tasks) {
        if (is_candidate(model_.task(id))) by_job[model_.job(model_.task(id).job).key].push_back(id);
      }
    });
    std::vector<Bundle> out;
    for (auto& [key, tasks] : by_job) {
      const JobId job = model_.task(tasks.front()).job;
      if (goes_whole(model_, tasks.front()))
        add_all(tasks.front(), out);
      else
        split(job, std::move(tasks), out);
    }
    sort(out);
    keep_evictable(out);
    sort(out);
    if (!request_.allow_whole) std::erase_if(out, [](const Bundle& one) { return one.type == Bundle::Type::kWhole; });
    return out;
  }

 private:
  bool is_candidate(const Task& task) const {
    const bool for_queue = request_.eviction.purpose == EvictPurpose::kGangPreempt;
    const bool runs = task.status == TaskStatus::kRunning || (for_queue && task.status == TaskStatus::kBound);
    if (!runs || !task.preemptable || !task.job.is_set()) return false;
    const Job& job = model_.job(task.job);
    const Job& own = model_.job(request_.eviction.beneficiary);
    if (!job.has_group || !job.queue.is_set() || !model_.queue(job.queue).in_use) return false;
    if (job.names_preemptable && !job.preemptable) return false;
    if (for_queue) return job.id != own.id && job.queue == own.queue && job.priority < own.priority;
    return job.queue != own.queue && model_.queue(job.queue).reclaimable;
  }

  // The pods that a group can lose before its roles and subgroups miss their minimums.
  struct Spare {
    std::int32_t tasks = 0;
    std::map<std::uint32_t, std::int32_t> roles;     // by position, of those with a minimum
    std::map<std::uint32_t, std::int32_t> policies;  // whole subgroups
    std::set<std::uint32_t> broken;                  // subgroups that have lost somebody, or were never complete
  };

  static Spare spare_of(const Job& job) {
    Spare out;
    out.tasks = job.ready_count() - job.min_available;
    if (job.checks_roles()) {
      for (std::uint32_t i = 0; i < job.roles.size(); ++i) {
        if (job.roles[i].has_min && job.roles[i].min > 0) out.roles[i] = job.roles[i].occupied() - job.roles[i].min;
      }
    }
    if (!job.has_sub_groups()) return out;
    for (std::uint32_t i = 0; i < job.topology->policies.size(); ++i) {
      if (job.topology->policies[i].min_sub_groups > 0) out.policies[i] = -job.topology->policies[i].min_sub_groups;
    }
    for (std::uint32_t i = 0; i < job.topology->sub_jobs.size(); ++i) {
      const SubJob& part = job.topology->sub_jobs[i];
      if (!part.is_ready())
        out.broken.insert(i);
      else if (auto policy = out.policies.find(part.policy); policy != out.policies.end())
        ++policy->second;
    }
    return out;
  }

  // Takes the task off what can be lost; false when it is missed.
  bool spare_one(const Job& job, const Task& task, Spare& spare) const {
    const auto role = spare.roles.find(task.role);
    if (spare.tasks <= 0 || (role != spare.roles.end() && role->second <= 0)) return false;
    if (!spare.policies.empty()) {
      const std::uint32_t part = model_.sub_job_of(task.id);
      const auto policy = spare.policies.find(job.topology->sub_jobs[part].policy);
      if (policy != spare.policies.end() && !spare.broken.contains(part)) {
        if (policy->second <= 0) return false;
        --policy->second;
        spare.broken.insert(part);
      }
    }
    --spare.tasks;
    if (role != spare.roles.end()) --role->second;
    return true;
  }

  // All pods of the group, if each of them is a candidate.
  void add_all(TaskId one, std::vector<Bundle>& out) const {
    Bundle all{Bundle::Type::kWhole, model_.task(one).job, with_all_gone(model_, {one})};
    const bool may_go =
        std::all_of(all.tasks.begin(), all.tasks.end(), [this](TaskId id) { return is_candidate(model_.task(id)); });
    if (may_go) out.push_back(std::move(all));
  }

  void split(JobId id, std::vector<TaskId> tasks, std::vector<Bundle>& out) const {
    const Job& job = model_.job(id);
    std::sort(tasks.begin(), tasks.end(), [&](TaskId a, TaskId b) {
      const Task &l = model_.task(a), &r = model_.task(b);
      return l.priority != r.priority ? l.priority < r.priority : model_.text(a).uid < model_.text(b).uid;
    });
    Spare spare = spare_of(job);
    Bundle safe{Bundle::Type::kSafe, id, {}}, whole{Bundle::Type::kWhole, id, {}};
    const bool all_are_safe = spare.tasks < 0 || job.disruption == DisruptionMode::kSingle;
    for (const TaskId one : tasks) {
      Bundle& to = all_are_safe || spare_one(job, model_.task(one), spare) ? safe : whole;
      to.tasks.push_back(one);
    }
    for (Bundle* one : {&safe, &whole}) {
      if (!one->tasks.empty()) out.push_back(std::move(*one));
    }
  }

  // How much of the need the bundle covers, by how much of it the victims' group loses altogether.
  double return_of(const Bundle& bundle) const {
    if (bundle.type == Bundle::Type::kSafe) return std::numeric_limits<double>::infinity();
    Sums local, global;
    for (const TaskId id : bundle.tasks) {
      if (request_.inside.has(model_.task(id).node.index)) local.add(model_.shape_of(model_.task(id)).request, 1);
    }
    for (const TaskId id : model_.job(bundle.job).tasks) global.add(model_.shape_of(model_.task(id)).request, 1);
    double gain = 0, price = 0;
    for (const Part& part : request_.need.parts) {
      if (part.amount <= 0) continue;
      const auto need = static_cast<double>(part.amount);
      gain += std::min(static_cast<double>(local.get(part.dim)), need) / need;
      price += static_cast<double>(global.get(part.dim)) / need;
    }
    return price > 0 ? gain / price : std::numeric_limits<double>::infinity();
  }

  int victim_order(const Job& a, const Job& b) const {
    if (request_.eviction.purpose == EvictPurpose::kGangPreempt) return -session_.ask<JobOrder>(a, b);
    if (a.queue == b.queue) return 0;
    const Queue &left = model_.queue(a.queue), &right = model_.queue(b.queue);
    const Queue& own = model_.queue(model_.job(request_.eviction.beneficiary).queue);
    const int order = session_.ask<VictimQueueOrder>(left, right, own);
    return order != 0 ? order : session_.queue_before(left, right) ? 1 : -1;
  }

  void sort(std::vector<Bundle>& bundles) const {
    std::vector<std::pair<double, Bundle>> keyed;
    for (Bundle& one : bundles) keyed.emplace_back(return_of(one), std::move(one));
    std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& l, const auto& r) {
      const Bundle &a = l.second, &b = r.second;
      if (a.type != b.type) return a.type < b.type;
      if (const int order = victim_order(model_.job(a.job), model_.job(b.job)); order != 0) return order < 0;
      if (l.first != r.first) return l.first > r.first;
      if (a.job != b.job) return model_.job(a.job).key < model_.job(b.job).key;
      return model_.text(a.tasks.front()).uid < model_.text(b.tasks.front()).uid;
    });
    bundles.clear();
    for (auto& [key, one] : keyed) bundles.push_back(std::move(one));
  }

  // Safe bundles keep what the plugins agree to; a whole one goes whole or not at all.
  void keep_evictable(std::vector<Bundle>& bundles) const {
    std::vector<TaskId> all;
    for (const Bundle& one : bundles) all.insert(all.end(), one.tasks.begin(), one.tasks.end());
    if (all.empty()) return;
    std::set<TaskId> agreed;
    for (const TaskId id : session_.ask<UnifiedEvictable>(request_.eviction, all)) agreed.insert(id);
    for (Bundle& one : bundles) {
      const std::size_t before = one.tasks.size();
      std::erase_if(one.tasks, [&](TaskId id) { return !agreed.contains(id); });
      if (one.type == Bundle::Type::kWhole && one.tasks.size() != before) one.tasks.clear();
    }
    std::erase_if(bundles, [](const Bundle& one) { return one.tasks.empty(); });
  }

  Session& session_;
  Model& model_;
  const BundleRequest& request_;
};

}  // namespace

std::vector<Bundle> select_bundles(Session& session, const BundleRequest& request) {
  return Selection(session, request).run();
}

}  // namespace scheduler
