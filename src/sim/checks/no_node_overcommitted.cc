// At every instant, the pods bound to a node ask for no more than it has.
#include <map>

#include "api/schema/quantity.h"
#include "base/format.h"
#include "sim/checks/all.h"
#include "sim/world/world.h"

namespace sim {

using api::Json;

namespace {

api::ResourceList requests_of(const Json& pod) {
  api::ResourceList sum;
  for (const Json& container : pod["spec"]["containers"].items())
    for (const auto& [name, quantity] : api::resource_list_from(container["resources"]["requests"]))
      sum[name] += quantity;
  for (const Json& container : pod["spec"]["initContainers"].items())
    for (const auto& [name, quantity] : api::resource_list_from(container["resources"]["requests"]))
      sum[name] = std::max(sum[name], quantity);
  sum["pods"] = api::Quantity::from_int(1);
  return sum;
}

// The node on which a pod takes room; empty: nowhere (any more).
std::string place_of(const Json* pod) {
  if (!pod) return {};
  const std::string_view phase = (*pod)["status"]["phase"].as_string();
  return phase == "Succeeded" || phase == "Failed" ? std::string() : (*pod)["spec"]["nodeName"].str();
}

class NoNodeOvercommitted final : public Check {
 public:
  explicit NoNodeOvercommitted(World& world) : world_(world) {}

  void begin() override {
    world_.truth().on_change([this](const api::ResourceId& resource, const Json* before, const Json* after) {
      if (resource != api::resources::kPods) return;
      const std::string from = place_of(before);
      const std::string to = place_of(after);
      if (from == to) return;
      if (!from.empty())
        for (const auto& [name, quantity] : requests_of(*before)) used_[from][name] -= quantity;
      if (to.empty()) return;
      for (const auto& [name, quantity] : requests_of(*after)) used_[to][name] += quantity;
      compare(to, api::key_of(*after));
    });
  }

 private:
  void compare(const std::string& node, const std::string& pod) {
    const Json* object = world_.truth().find(api::resources::kNodes, node);
    if (!object)
      return world_.chronicle().violation("no-node-overcommitted",
                                          base::format("pod {} is bound to node {}, which does not exist", pod, node));
    const api::ResourceList room = api::resource_list_from((*object)["status"]["allocatable"]);
    for (const auto& [name, quantity] : used_[node]) {
      const auto available = room.find(name);
      if (quantity.sign() > 0 && (available == room.end() || quantity > available->second))
        world_.chronicle().violation("no-node-overcommitted",
                                     base::format("node {} has {} of {}, its pods ask for {}, the last one is {}", node,
                                                  available == room.end() ? "none" : available->second.to_string(),
                                                  name, quantity.to_string(), pod));
    }
  }

  World& world_;
  std::map<std::string, api::ResourceList> used_;
};

}  // namespace

std::unique_ptr<Check> make_no_node_overcommitted(World& world, Settings&, base::Random&) {
  return std::make_unique<NoNodeOvercommitted>(world);
}

}  // namespace sim
