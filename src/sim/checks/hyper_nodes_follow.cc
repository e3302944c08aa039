// In the end the HyperNodes are those that the labels of the nodes say, with their true counts, and those of the
// server.
#include "base/format.h"
#include "controllers/hypernode/step.h"
#include "sim/checks/all.h"
#include "sim/world/world.h"

namespace sim {

using api::Json;
namespace hypernode = controllers::hypernode;

namespace {

std::vector<const Json*> pointers(const std::map<std::string, Json>& objects) {
  std::vector<const Json*> out;
  for (const auto& [key, object] : objects) out.push_back(&object);
  return out;
}

class HyperNodesFollow final : public Check {
 public:
  explicit HyperNodesFollow(World& world) : world_(world) {}

  void begin() override {}

  std::string unrest() override {
    const auto nodes = pointers(world_.truth().objects(api::resources::kNodes));
    const auto all = pointers(world_.truth().objects(api::resources::kHyperNodes));
    const std::vector<hypernode::TopologyType> types = {{"net", {"net/spine", "net/leaf", "kubernetes.io/hostname"}}};
    std::size_t of_labels = 0, of_ports = 0;
    for (const Json* one : all) {
      of_labels += api::label_of(*one, hypernode::kSourceLabel) == "label" ? 1 : 0;
      of_ports += api::label_of(*one, hypernode::kSourceLabel) == "ufm" ? 1 : 0;
      if ((*one)["status"]["nodeCount"].as_int() != hypernode::count_members(*one, nodes))
        return base::format("HyperNode {} counts {} members", api::name_of(*one), (*one)["status"]["nodeCount"].dump());
    }
    const auto found = hypernode::discover_by_label(types, nodes, all);
    if (found.size() != of_labels) return base::format("{} HyperNodes of labels, not {}", of_labels, found.size());
    for (const hypernode::Found& one : found) {
      const Json* object = world_.truth().find(api::resources::kHyperNodes, one.name);
      if (object == nullptr || (*object)["spec"] != hypernode::to_object(one, "label")["spec"])
        return base::format("HyperNode {} is not what the labels say", one.name);
    }
    // Each node has a leaf of its own, and there is one spine.
    if (of_ports != nodes.size() + 1)
      return base::format("{} HyperNodes of ports for {} nodes", of_ports, nodes.size());
    return {};
  }

  void finish() override {
    if (std::string why = unrest(); !why.empty()) world_.chronicle().violation("hyper-nodes-follow", std::move(why));
  }

 private:
  World& world_;
};

}  // namespace

std::unique_ptr<Check> make_hyper_nodes_follow(World& world, Settings&, base::Random&) {
  return std::make_unique<HyperNodesFollow>(world);
}

}  // namespace sim
