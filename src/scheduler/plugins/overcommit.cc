// Overcommit: groups are admitted while their minimums fit into a multiple of what the cluster has left.
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "scheduler/framework/plugin.h"
#include "scheduler/plugins/queues/group_reserve.h"
#include "scheduler/plugins/queues/queue_shortage.h"
#include "scheduler/session/session.h"

namespace scheduler {
namespace {

constexpr double kDefaultFactor = 1.2;

class Overcommit final : public Plugin {
 public:
  void attach(PluginSetup& setup) override {
    model_ = &setup.model();
    factor_ = setup.arguments().get_double("overcommit-factor", kDefaultFactor);
    if (!(factor_ >= 1)) {
      setup.arguments().warn("overcommit-factor is less than 1; 1.2 is used");
      factor_ = kDefaultFactor;
    }
    setup.on<JobEnqueueable>([this](const Job& job) { return enqueueable(job); });
    setup.on<JobEnqueued>([this](const Job& job) {
      last_refused_.reset();
      if (job.min_resources()) inqueue_ += without_gated(*model_, job, minimum_of(job));
    });
    setup.on<ReserveLapsed>([this](const Job& job) {
      if (const auto held = held_.find(job.id.index); held != held_.end()) inqueue_ -= held->second;
    });
  }

  void open(Session& session) override {
    session_ = &session;
    const NodeTable& nodes = model_->nodes;
    idle_ = Resource(nodes.total());
    idle_ *= factor_;
    used_ = Resource();
    for (Dim d = 0; d < model_->dimensions.size(); ++d) {
      if (nodes.total_used(d) != 0) used_.set(d, static_cast<double>(nodes.total_used(d)));
    }
    for (Dim d = 0; d < used_.size(); ++d) {
      if (used_.get(d) != 0) idle_.set(d, idle_.get(d) - used_.get(d));
    }
    const auto follow = [&](JobId id) {
      auto known = held_.find(id.index);
      if (known != held_.end()) {
        sum_ -= known->second;
        held_.erase(known);
      }
      Resource held = held_by_job(model_->job(id));
      if (held.is_empty() && held.get(kPods) == 0) return;
      sum_ += held;
      held_.emplace(id.index, std::move(held));
    };
    if (session.input().all_jobs_changed) {
      held_.clear();
      sum_ = Resource();
      model_->for_each_job([&](const Job& job) { follow(job.id); });
    } else {
      for (const JobId id : session.input().changed_jobs) follow(id);
    }
    inqueue_ = sum_;
    last_refused_.reset();
  }

 private:
  // The whole minimum of an admitted group, also where part of it is allocated already.
  Resource held_by_job(const Job& job) const {
    if (!holds_reserve(job) || !model_->queue(job.queue).in_use) return {};
    const bool is_whole = job.phase == GroupPhase::kInqueue;
    return without_gated(*model_, job, is_whole ? minimum_of(job) : uncovered_minimum(job));
  }

  Vote enqueueable(const Job& job) {
    if (!job.min_resources()) return Vote::kPermit;
    // A long backlog is mostly of groups that ask for the same, and nobody entered since.
    if (!last_refused_ || last_refused_->first != *job.min_resources()) {
      const Resource wanted = minimum_of(job);
      std::vector<Dim> failing;
      if ((inqueue_ + wanted).fits_wanted(idle_, wanted, &failing)) return Vote::kPermit;
      auto shortage = shortage_of(*model_, nullptr, Limit::kOvercommit, used_ + inqueue_, wanted, idle_ + used_);
      if (shortage) shortage->factor = factor_;
      last_refused_.emplace(*job.min_resources(), std::make_shared<const AdmissionRefusal>(AdmissionRefusal{
                                                      .message = "resource in cluster is overused: " +
                                                                 failing_text(*model_, failing, "overused"),
                                                      .shortage = std::move(shortage)}));
    }
    session_->statuses().refusals().add(job, last_refused_->second);
    return Vote::kReject;
  }

  Model* model_ = nullptr;
  Session* session_ = nullptr;
  double factor_ = kDefaultFactor;
  Resource used_;  // by pods on nodes
  Resource idle_;  // what is left of the multiple
  Resource inqueue_;
  Resource sum_;  // over held_
  // The last minimum that was refused, while nothing changed that decides it.
  std::optional<std::pair<Request, std::shared_ptr<const AdmissionRefusal>>> last_refused_;
  std::unordered_map<std::uint32_t, Resource> held_;
};

}  // namespace

std::unique_ptr<Plugin> make_overcommit() { return std::make_unique<Overcommit>(); }

}  // namespace scheduler
