// Wakes and memory of the CronJob controller; the decision itself is step().
#include "controllers/cronjob/controller.h"

#include <map>
#include <optional>

#include "api/meta/resource.h"
#include "base/format.h"
#include "controllers/cronjob/step.h"
#include "controllers/framework/execution.h"

namespace controllers::cronjob {

using api::Json;
namespace resources = api::resources;

namespace {

Keys owner_cronjob(const Json& job) {
  const Json& owner = api::controller_of(job);
  if (owner["kind"].as_string() != "CronJob" || owner["apiVersion"].as_string() != "batch.volcano.sh/v1alpha1")
    return {};
  return {base::format("{}/{}", api::namespace_of(job), owner["name"].as_string())};
}

class CronJobController final : public Controller {
 public:
  explicit CronJobController(Options options) : options_(options) {}

  std::string_view name() const override { return "cronjob-controller"; }

  std::vector<Write> writes() const override {
    return {{resources::kJobs, "create delete"}, {resources::kCronJobs, "update", "status"}};
  }
  std::vector<Wake> wakes_on() const override {
    return {{.resource = resources::kCronJobs,
             .keys = [](const View&, const Json& cronjob) { return Keys{api::key_of(cronjob)}; },
             .may_be_absent = true},
            {resources::kJobs, [](const View&, const Json& job) { return owner_cronjob(job); }}};
  }

  std::vector<IndexBy> indexes() const override { return {{resources::kJobs, "cronjob", owner_cronjob}}; }

  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    pending_.erase(key);
    const Json* cronjob = view.find(resources::kCronJobs, key);
    if (!cronjob) {
      memories_.erase(key);
      return {};
    }
    const std::string uid(api::uid_of(*cronjob));
    Observed seen{.cronjob = cronjob};
    for (const Json* job : view.by_index(resources::kJobs, "cronjob", key))
      if (api::controller_of(*job)["uid"].as_string() == uid) seen.children.push_back(job);
    Memory memory;
    if (const auto known = memories_.find(key); known != memories_.end() && known->second.uid == uid)
      memory = known->second;
    memory.uid = uid;
    const FindJob find_job = [&view, cronjob](std::string_view name) {
      return view.find(resources::kJobs, base::format("{}/{}", api::namespace_of(*cronjob), name));
    };
    Decision decision = cronjob::step(seen, find_job, std::move(memory), turn, options_.local);
    pending_[key] = std::move(decision.memory);
    return std::move(decision.plan);
  }

  // A warning that was given stays given; a run counts as made once it was.
  void finished(const std::string& key, Ending ending) override {
    const auto found = pending_.find(key);
    if (found == pending_.end()) return;
    Memory after = std::move(found->second);
    pending_.erase(found);
    Memory& memory = memories_[key];
    if (!ending.succeeded) after.handled = memory.uid == after.uid ? memory.handled : base::Time{};
    if (ending.succeeded && !ending.fetched.empty()) {  // else it is not known whether the Job is there
      if (ending.fetched[0].is_null()) after.unseen.clear();
      after.there_at = after.looked_at;
    }
    for (const Failure& failure : ending.failures)
      if (failure.kind == "Job") record_refusal(failure.error, after);
    memory = std::move(after);
  }

 private:
  static void record_refusal(const base::Error& error, Memory& memory) {
    if (is_old_view(error.code) || is_outage(error)) return;
    memory.refused = error.message;
    memory.unseen.clear();
    for (const base::Cause& cause : error.causes)
      memory.namespace_ends = memory.namespace_ends || cause.reason == "NamespaceTerminating";
  }

  Options options_;
  std::map<std::string, Memory> memories_;
  std::map<std::string, Memory> pending_;  // of plans under way
};

}  // namespace

std::unique_ptr<Controller> make_cronjob_controller(Options options) {
  return std::make_unique<CronJobController>(options);
}

}  // namespace controllers::cronjob
