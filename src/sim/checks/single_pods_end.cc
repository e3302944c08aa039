// In the healed world every single pod finds a node and ends.
#include "base/format.h"
#include "sim/checks/all.h"
#include "sim/world/world.h"

namespace sim {

using api::Json;

namespace {

class SinglePodsEnd final : public Check {
 public:
  explicit SinglePodsEnd(World& world) : world_(world) {}

  void begin() override {}
  std::string unrest() override {
    for (const auto& [key, pod] : world_.truth().objects(api::resources::kPods)) {
      if (pod["spec"]["schedulerName"].as_string() != "agent-scheduler") continue;
      const std::string_view phase = pod["status"]["phase"].as_string();
      if (phase != "Succeeded" && phase != "Failed")
        return base::format("pod {} is {} on node '{}'", key, phase, pod["spec"]["nodeName"].as_string());
    }
    return {};
  }
  void finish() override {
    for (const auto& [key, pod] : world_.truth().objects(api::resources::kPods)) {
      if (pod["spec"]["schedulerName"].as_string() == "agent-scheduler") return;
    }
    world_.chronicle().violation("single-pods-end", "there was none");
  }

 private:
  World& world_;
};

}  // namespace

std::unique_ptr<Check> make_single_pods_end(World& world, Settings&, base::Random&) {
  return std::make_unique<SinglePodsEnd>(world);
}

}  // namespace sim
