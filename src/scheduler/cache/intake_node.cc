// API objects in, the model kept current: nodes.
#include <algorithm>

#include "base/number.h"
#include "scheduler/cache/intake_objects.h"

namespace scheduler {
namespace {

std::vector<ImageOnNode> images_of(const api::Json& node, Symbols& symbols) {
  std::vector<ImageOnNode> out;
  for (const api::Json& image : node["status"]["images"].items()) {
    for (const api::Json& name : image["names"].items()) {
      out.push_back({symbols.intern(name.as_string()), image["sizeBytes"].as_int()});
    }
  }
  return out;
}

}  // namespace

bool set_node(Model& model, const IntakeOptions& options, const api::Json& node) {
  const std::string_view name = api::name_of(node);
  const auto& wanted = options.node_selector;
  const bool chosen = wanted.empty() || std::any_of(wanted.begin(), wanted.end(), [&](const auto& pair) {
                        return api::label_of(node, pair.first) == pair.second;
                      });
  if (!chosen || !options.share.owns(name)) return remove_node(model, node);
  NodeFacts facts;
  facts.name = name;
  const auto offered = [&](std::string_view list) {
    const api::ResourceList amounts = api::resource_list_from(node["status"][list]);
    model.dimensions.know(amounts);
    return request_from(amounts, model.dimensions);
  };
  facts.allocatable = offered("allocatable");
  facts.capacity = offered("capacity");
  if (auto cpu = base::parse_number<std::int64_t>(api::annotation_of(node, "volcano.sh/oversubscription-cpu"))) {
    facts.allocatable.add(kCpu, *cpu);
    facts.capacity.add(kCpu, *cpu);
  }
  if (auto memory = base::parse_number<std::int64_t>(api::annotation_of(node, "volcano.sh/oversubscription-memory"))) {
    facts.allocatable.add(kMemory, *memory);
    facts.capacity.add(kMemory, *memory);
  }
  facts.labels = labels_from(node["metadata"]["labels"], model.symbols);
  facts.taints = taints_from(node["spec"]["taints"], model.symbols);
  facts.unschedulable = node["spec"]["unschedulable"].as_bool();
  facts.images = images_of(node, model.symbols);
  const NodeId id = model.nodes.find_or_add(name);
  const bool devices_changed = model.devices.set_node(id, node);
  if (devices_changed) model.node_facts_changed(id);
  if (model.nodes.has_same_facts(id, facts)) return devices_changed;
  const bool other_members = !model.nodes[id].known || model.nodes[id].labels != facts.labels;
  model.nodes.set_facts(id, std::move(facts));
  if (other_members) model.hyper_nodes.node_changed(id);
  model.node_facts_changed(id);
  return true;
}

bool remove_node(Model& model, const api::Json& node) {
  const NodeId id = model.nodes.find(api::name_of(node));
  if (!id.is_set()) return false;
  model.nodes.forget_facts(id);
  model.hyper_nodes.node_changed(id);
  model.devices.remove_node(id);
  model.node_facts_changed(id);
  model.nodes.remove_if_unused(id);
  return true;
}

}  // namespace scheduler
