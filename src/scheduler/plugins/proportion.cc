// Proportion: each queue deserves a part of the cluster by its weight, as far as it wants it.
#include <algorithm>
#include <limits>
#include <unordered_map>

#include "scheduler/framework/plugin.h"
#include "scheduler/plugins/queues/queue_gauges.h"
#include "scheduler/plugins/queues/queue_reserve.h"
#include "scheduler/plugins/queues/queue_shortage.h"
#include "scheduler/session/session.h"

namespace scheduler {
namespace {

struct Attributes {
  bool active = false;  // owns a job
  double weight = 0;
  bool has_capability = false;
  Resource capability;
  Resource real_capability;
  Resource guarantee;
  Resource request;
  Resource deserved;
  Resource elastic;
  Resource inqueue;
};

class Proportion final : public Plugin {
 public:
  void attach(PluginSetup& setup) override {
    model_ = &setup.model();
    setup.on<QueueOrder>([this](const Queue& a, const Queue& b) {
      if (a.priority != b.priority) return a.priority > b.priority ? -1 : 1;
      const double left = share(a), right = share(b);
      return left == right ? 0 : left < right ? -1 : 1;
    });
    setup.on<Reclaimable>(
        [this](const Task&, const std::vector<TaskId>& candidates) { return reclaimable(candidates); });
    setup.on<Overused>([this](const Queue& queue) {
      const Attributes* own = find(queue);
      return own != nullptr && own->deserved.less_equal(allocated(queue), Missing::kZero);
    });
    setup.on<Allocatable>([this](const Queue& queue, const Task& task) {
      return has_room(queue, Resource(model_->shape_of(task).request));
    });
    // Simulation reads what was copied when the pod was looked at first; with predicates switched off nothing is.
    const bool copies = setup.is_on("enablePredicate");
    setup.on<SimulateRemoveTask>([copies](const Task&) { return copies; });
    setup.on<SimulateAllocatable>([this, copies](const Queue& queue, const Task& task) {
      return copies && fits_deserved(queue, Resource(model_->shape_of(task).request));
    });
    setup.on<Preemptive>([this](const Queue& queue, const std::vector<TaskId>& tasks) {
      Resource wanted;
      for (const TaskId id : tasks) wanted += Resource(model_->shape_of(model_->task(id)).request);
      return has_room(queue, wanted);
    });
    setup.on<QueueLimit>([this](const Queue& queue, const Resource& wanted, LimitQuestion question) {
      return shortage(queue, wanted, question);
    });
    setup.on<JobEnqueueable>([this](const Job& job) { return enqueueable(job); });
    setup.on<JobEnqueued>([this](const Job& job) {
      if (job.min_resources()) attributes_[job.queue.index].inqueue += without_gated(*model_, job, minimum_of(job));
    });
    setup.on<ReserveLapsed>([this](const Job& job) {
      if (const Resource* held = reserve_.held_by(job)) attributes_[job.queue.index].inqueue -= *held;
    });
  }

  void open(Session& session) override {
    session_ = &session;
    reserve_.open(session);
    build();
    fill();
  }

  void report(const MetricSink& sink) const override {
    for (std::uint32_t q = 0; q < attributes_.size(); ++q) {
      const Queue& queue = model_->queue(QueueId{q});
      const Attributes* own = find(queue);
      if (own == nullptr || !queue.in_use) continue;
      report_amounts(sink, *model_, queue.name, "allocated", allocated(queue));
      report_amounts(sink, *model_, queue.name, "request", own->request);
      report_amounts(sink, *model_, queue.name, "inqueue", own->inqueue);
      report_amounts(sink, *model_, queue.name, "deserved", own->deserved);
      sink("queue_weight", {queue.name}, own->weight);
      sink("queue_share", {queue.name}, share(queue));
      sink("queue_overused", {queue.name}, own->deserved.less_equal(allocated(queue), Missing::kZero) ? 1 : 0);
    }
  }

 private:
  const Attributes* find(const Queue& queue) const {
    return queue.id.index < attributes_.size() && attributes_[queue.id.index].active ? &attributes_[queue.id.index]
                                                                                     : nullptr;
  }

  // With what is promised in this cycle.
  static Resource allocated(const Queue& queue) { return Resource(queue.allocated) + Resource(queue.pipelined); }

  void build() {
    total_ = Resource(model_->nodes.total());
    Resource guaranteed;
    attributes_.assign(model_->queue_count(), Attributes{});
    for (std::uint32_t q = 0; q < model_->queue_count(); ++q) {
      if (model_->queue(QueueId{q}).in_use) guaranteed += model_->queue(QueueId{q}).guarantee;
    }
    for (std::uint32_t q = 0; q < model_->queue_count(); ++q) {
      const Queue& queue = model_->queue(QueueId{q});
      if (!queue.in_use || queue.jobs == 0) continue;
      Attributes& own = attributes_[q];
      own.active = true;
      own.weight = queue.weight;
      own.guarantee = queue.guarantee;
      own.has_capability = queue.has_capability;
      own.capability = queue.capability;
      own.real_capability = Resource::exceeded_part(total_, guaranteed) + queue.guarantee;
      if (queue.has_capability) {
        for (const Dim d : {kCpu, kMemory}) {
          if (own.capability.get(d) <= 0) own.capability.set(d, std::numeric_limits<double>::max());
        }
        own.real_capability.lower_to(own.capability, Missing::kInfinity);
      }
      own.request = Resource(queue.allocated) + Resource(queue.pending);
      own.elastic = reserve_.of(QueueId{q}).elastic;
      own.inqueue = reserve_.of(QueueId{q}).inqueue;
    }
  }

  // Water-filling: shares by weight, what a queue cannot use is offered again to the others.
  void fill() {
    // By name: sums of fractions must not depend on which queue was heard of first.
    std::vector<std::uint32_t> order;
    for (std::uint32_t q = 0; q < attributes_.size(); ++q) {
      if (attributes_[q].active) order.push_back(q);
    }
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return model_->queue(QueueId{a}).name < model_->queue(QueueId{b}).name;
    });
    Resource remaining = total_;
    std::vector<bool> met(attributes_.size());
    for (;;) {
      double weights = 0;
      for (const std::uint32_t q : order) {
        if (!met[q]) weights += attributes_[q].weight;
      }
      if (weights == 0) break;
      Resource increased, decreased;
      for (const std::uint32_t q : order) {
        if (met[q]) continue;
        const Resource before = attributes_[q].deserved;
        met[q] = raise(attributes_[q], remaining, weights);
        increased += Resource::exceeded_part(attributes_[q].deserved, before);
        decreased += Resource::exceeded_part(before, attributes_[q].deserved);
      }
      const Resource rest = Resource::exceeded_part(remaining + decreased, increased);
      if (rest.is_empty()) break;
      if (rest.exactly_equals(remaining)) break;
      remaining = rest;
    }
  }

  static bool raise(Attributes& own, const Resource& remaining, double weights) {
    const Resource before = own.deserved;
    Resource part = remaining;
    part *= own.weight / weights;
    own.deserved += part;
    own.deserved.lower_to(own.real_capability, Missing::kInfinity);
    own.deserved.lower_to(own.request, Missing::kZero);
    own.deserved = Resource::max(own.deserved, own.guarantee);
    return own.request.less_equal(own.deserved, Missing::kZero) || own.deserved.exactly_equals(before);
  }

  double share(const Queue& queue) const {
    const Attributes* own = find(queue);
    if (own == nullptr) return 0;
    double most = 0;
    for (Dim d = 0; d < own->deserved.size(); ++d) {
      const double deserved = own->deserved.get(d);
      if (deserved < kResourceEpsilon) continue;
      most = std::max(most, share_of(static_cast<double>(queue.allocated.get(d) + queue.pipelined.get(d)), deserved));
    }
    return most;
  }

  bool has_room(const Queue& queue, const Resource& wanted) const {
    return queue.state == QueueState::kOpen && fits_deserved(queue, wanted);
  }

  bool fits_deserved(const Queue& queue, const Resource& wanted) const {
    const Attributes* own = find(queue);
    return own != nullptr && (allocated(queue) + wanted).fits_wanted(own->deserved, wanted);
  }

  std::optional<Shortage> shortage(const Queue& queue, const Resource& wanted, LimitQuestion question) const {
    const Attributes* own = find(queue);
    if (own == nullptr) return std::nullopt;
    if (question == LimitQuestion::kEver)
      return shortage_of(*model_, &queue, Limit::kCapability, Resource(), wanted, own->real_capability);
    return shortage_of(*model_, &queue, Limit::kDeserved, allocated(queue), wanted, own->deserved);
  }

  Victims reclaimable(const std::vector<TaskId>& candidates) const {
    Victims out;
    std::unordered_map<std::uint32_t, Resource> left;
    for (const TaskId id : candidates) {
      const Task& task = model_->task(id);
      if (!task.job.is_set() || !model_->job(task.job).queue.is_set()) continue;
      const Queue& queue = model_->queue(model_->job(task.job).queue);
      const Attributes* own = find(queue);
      if (own == nullptr) continue;
      auto [slot, added] = left.try_emplace(queue.id.index);
      if (added) slot->second = allocated(queue);
      if (slot->second.less_equal(own->deserved, Missing::kZero)) continue;
      slot->second -= Resource(model_->shape_of(task).request);
      out.tasks.push_back(id);
    }
    return out;
  }

  Vote enqueueable(const Job& job) {
    const Queue& queue = model_->queue(job.queue);
    const Attributes* own = find(queue);
    if (own == nullptr || queue.state != QueueState::kOpen) return Vote::kReject;
    if (!job.min_resources()) return Vote::kPermit;
    const Resource wanted = minimum_of(job);
    std::vector<Dim> failing;
    const Resource used = allocated(queue) + own->inqueue - own->elastic;
    if ((used + wanted).fits_wanted(own->real_capability, wanted, &failing)) return Vote::kPermit;
    session_->statuses().refusals().add(
        job, AdmissionRefusal{
                 .message = "queue resource quota insufficient: " + failing_text(*model_, failing, "insufficient"),
                 .shortage = shortage_of(*model_, &queue, Limit::kCapability, used, wanted, own->real_capability)});
    return Vote::kReject;
  }

  Model* model_ = nullptr;
  Session* session_ = nullptr;
  Resource total_;
  QueueReserve reserve_;
  std::vector<Attributes> attributes_;  // by queue
};

}  // namespace

std::unique_ptr<Plugin> make_proportion() { return std::make_unique<Proportion>(); }

}  // namespace scheduler
