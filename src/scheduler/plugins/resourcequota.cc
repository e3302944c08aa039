// ResourceQuota: a group is admitted only while its minimum fits into the quotas of its namespace.
#include <map>

#include "base/format.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/session/session.h"

namespace scheduler {
namespace {

// "map[cpu:2 memory:4Gi]", as people know it from Kubernetes' messages.
std::string text_of(const api::ResourceList& list) {
  std::string out = "map[";
  for (const auto& [name, amount] : list)
    out += base::format("{}{}:{}", out.size() > 4 ? " " : "", name, amount.to_string());
  return out + "]";
}

api::ResourceList restricted(const api::ResourceList& list, const std::vector<std::string>& names) {
  api::ResourceList out;
  for (const std::string& name : names) {
    if (const auto found = list.find(name); found != list.end()) out.emplace(name, found->second);
  }
  return out;
}

class ResourceQuota final : public Plugin {
 public:
  void attach(PluginSetup& setup) override {
    model_ = &setup.model();
    setup.on<JobEnqueueable>([this](const Job& job) { return enqueueable(job); });
    setup.on<JobEnqueued>([this](const Job& job) {
      if (!job.min_resources()) return;
      for (const auto& [name, amount] : job.extras().min_resources) pending_[std::string(job.ns())][name] += amount;
    });
  }

  void open(Session& session) override {
    session_ = &session;
    pending_.clear();
  }

 private:
  Vote enqueueable(const Job& job) {
    const auto quotas = model_->quotas.find(job.ns());
    if (!job.min_resources() || quotas == model_->quotas.end()) return Vote::kPermit;
    const api::ResourceList& pending = pending_[std::string(job.ns())];
    for (const auto& [name, quota] : quotas->second) {
      std::vector<std::string> exceeded;
      for (const auto& [resource, hard] : quota.hard) {
        const auto wanted = job.extras().min_resources.find(resource);
        if (wanted == job.extras().min_resources.end()) continue;
        api::Quantity sum = wanted->second;
        if (const auto used = quota.used.find(resource); used != quota.used.end()) sum += used->second;
        if (const auto held = pending.find(resource); held != pending.end()) sum += held->second;
        if (sum > hard) exceeded.push_back(resource);
      }
      if (exceeded.empty()) continue;
      session_->statuses().refusals().add(
          job,
          AdmissionRefusal{.message = base::format("resource quota insufficient, requested: {}, used: {}, limited: {}",
                                                   text_of(restricted(job.extras().min_resources, exceeded)),
                                                   text_of(restricted(quota.used, exceeded)),
                                                   text_of(restricted(quota.hard, exceeded))),
                           .shortage = shortage(job, name, quota, exceeded.front())});
      return Vote::kReject;
    }
    return Vote::kPermit;
  }

  Shortage shortage(const Job& job, const std::string& name, const Quota& quota, const std::string& resource) {
    Shortage out{.limit = Limit::kQuota, .name = name, .resource = resource};
    out.allowed = quota.hard.at(resource);
    out.wanted = job.extras().min_resources.at(resource);
    const api::ResourceList& pending = pending_[std::string(job.ns())];
    if (const auto used = quota.used.find(resource); used != quota.used.end()) out.used = used->second;
    if (const auto held = pending.find(resource); held != pending.end()) out.used += held->second;
    return out;
  }

  Model* model_ = nullptr;
  Session* session_ = nullptr;
  std::map<std::string, api::ResourceList> pending_;  // admitted in this cycle, by namespace
};

}  // namespace

std::unique_ptr<Plugin> make_resourcequota() { return std::make_unique<ResourceQuota>(); }

}  // namespace scheduler
