// Waits for spec.ttlSecondsAfterFinished to pass, then deletes the Job with its pods.
#include "controllers/gc/controller.h"

#include "api/meta/resource.h"
#include "controllers/job/job.h"

namespace controllers::gc {

using api::Json;
namespace resources = api::resources;

namespace {

class GcController final : public Controller {
 public:
  std::string_view name() const override { return "gc-controller"; }

  std::vector<Write> writes() const override { return {{resources::kJobs, "delete"}}; }
  std::vector<Wake> wakes_on() const override {
    return {{resources::kJobs, [](const View&, const Json& job) { return Keys{api::key_of(job)}; }}};
  }

  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    Plan plan;
    const Json* job = view.find(resources::kJobs, key);
    if (!job || api::is_deleting(*job)) return plan;
    const Json& ttl = (*job)["spec"]["ttlSecondsAfterFinished"];
    const Json& state = (*job)["status"]["state"];
    if (!ttl.is_number() || !job::is_finished(job::parse_phase(state["phase"].as_string()))) return plan;
    const auto finished = base::parse_rfc3339(state["lastTransitionTime"].as_string());
    if (!finished) return plan;  // the time comes with the next write, which wakes us
    const base::Time expiry = *finished + base::seconds(ttl.as_int());
    if (expiry > turn.now) {
      plan.requeue_after(expiry - turn.now);
      return plan;
    }
    Action& action = plan.remove(resources::kJobs, *job);
    action.body.set("propagationPolicy", "Foreground");
    // A writer that gives the Job more time, or has it do something else, does so before the deletion or after it.
    action.body.edit("preconditions").set("resourceVersion", api::resource_version_of(*job));
    return plan;
  }
};

}  // namespace

std::unique_ptr<Controller> make_gc_controller() { return std::make_unique<GcController>(); }

}  // namespace controllers::gc
