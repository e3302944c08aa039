// A Job of a flow is made after those it waits for have completed, unless a probe decides; in the end every flow has
// ended, and what its status says of its Jobs is so.
#include "base/format.h"
#include "sim/checks/all.h"
#include "sim/world/world.h"

namespace sim {

using api::Json;

namespace {

std::string_view phase_of(const Json& object) { return object["status"]["state"]["phase"].as_string(); }

class FlowsInOrder final : public Check {
 public:
  explicit FlowsInOrder(World& world) : world_(world) {}

  void begin() override {
    world_.truth().on_change([this](const api::ResourceId& resource, const Json* before, const Json* after) {
      if (resource == api::resources::kJobs && !before && after) made(*after);
    });
  }

  std::string unrest() override {
    for (const auto& [key, flow] : world_.truth().objects(api::resources::kJobFlows)) {
      const std::string_view phase = phase_of(flow);
      if (phase != "Succeed" && phase != "Failed")
        return base::format("flow {} is {}", key, phase.empty() ? "without a phase" : phase);
      for (const Json& one : flow["status"]["jobStatusList"].items()) {
        const Json* job = world_.truth().find(api::resources::kJobs, "default/" + one["name"].str());
        if (job && phase_of(*job) != one["state"].as_string())
          return base::format("flow {} says that {} is {}", key, one["name"].as_string(), one["state"].as_string());
      }
    }
    return {};
  }

  void finish() override {
    std::size_t succeeded = 0;
    const auto& flows = world_.truth().objects(api::resources::kJobFlows);
    for (const auto& [key, flow] : flows) succeeded += phase_of(flow) == "Succeed" ? 1 : 0;
    world_.chronicle().record(base::format("{} flows, {} succeeded", flows.size(), succeeded));
  }

 private:
  void made(const Json& job) {
    const Json& owner = api::controller_of(job);
    if (owner["kind"].as_string() != "JobFlow") return;
    const std::string name = owner["name"].str();
    const Json* flow = world_.truth().find(api::resources::kJobFlows, "default/" + name);
    if (!flow) return;
    for (const Json& one : (*flow)["spec"]["flows"].items()) {
      if (base::format("{}-{}", name, one["name"].as_string()) != api::name_of(job)) continue;
      if (one["dependsOn"].has("probe")) continue;
      for (const Json& target : one["dependsOn"]["targets"].items()) {
        const Json* other =
            world_.truth().find(api::resources::kJobs, base::format("default/{}-{}", name, target.as_string()));
        if (!other || phase_of(*other) != "Completed")
          world_.chronicle().violation("flows-in-order", base::format("{} was made before {} had completed",
                                                                      api::name_of(job), target.as_string()));
      }
    }
  }

  World& world_;
};

}  // namespace

std::unique_ptr<Check> make_flows_in_order(World& world, Settings&, base::Random&) {
  return std::make_unique<FlowsInOrder>(world);
}

}  // namespace sim
