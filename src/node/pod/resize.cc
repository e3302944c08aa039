// Sums, comparisons, and the order of raising and lowering.
#include "node/pod/resize.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "api/pod_requests.h"
#include "base/format.h"
#include "node/pod/pod_plan.h"
#include "node/pod/pod_specs.h"

namespace node {

using api::Json;
using api::ResourceList;

namespace {

constexpr const char* kLists[] = {"initContainers", "containers"};
constexpr const char* kResized[] = {"cpu", "memory"};

std::optional<api::Quantity> amount(const Json& resources, const char* side, const char* name) {
  return api::Quantity::from_json(resources[side][name]);
}

bool same_amount(const Json& one, const Json& other, const char* name) {
  return amount(one, "requests", name) == amount(other, "requests", name) &&
         amount(one, "limits", name) == amount(other, "limits", name);
}

api::Quantity of(const ResourceList& list, const char* name) {
  const auto found = list.find(name);
  return found == list.end() ? api::Quantity() : found->second;
}

// As a kubelet counts: thousandths of a processor, bytes.
std::int64_t number(const api::Quantity& quantity, std::string_view name) {
  return name == "cpu" ? quantity.milli_value() : quantity.value();
}

std::string shortage_text(const char* name, const api::Quantity& asked, const ResourceList& others,
                          const ResourceList& allocatable) {
  return base::format("Node didn't have enough resource: {}, requested: {}, used: {}, capacity: {}", name,
                      number(asked, name), number(of(others, name), name), number(of(allocatable, name), name));
}

bool asks_for_restart(const Json& pod, const Json& container, const Json& wanted, const Json& held) {
  // A container that is never restarted cannot be restarted by this, either.
  if (restart_policy(pod, container) == "Never") return false;
  for (const Json& policy : container["resizePolicy"].items())
    for (const char* name : kResized)
      if (policy["resourceName"].as_string() == name && policy["restartPolicy"].as_string() == "RestartContainer" &&
          !same_amount(wanted, held, name))
        return true;
  return false;
}

// The larger limit; 0 is none at all.
std::int64_t looser(std::int64_t one, std::int64_t other) { return one == 0 || other == 0 ? 0 : std::max(one, other); }

}  // namespace

ContainerAmounts amounts_of(const Json& pod) {
  ContainerAmounts all;
  all.emplace(kWholePod, pod["spec"]["resources"].is_object() ? pod["spec"]["resources"] : Json::object());
  for (const char* list : kLists)
    for (const Json& container : pod["spec"][list].items())
      all[container["name"].str()] = container["resources"].is_object() ? container["resources"] : Json::object();
  return all;
}

Json with_amounts(const Json& pod, const ContainerAmounts& amounts) {
  Json out = pod;
  if (const auto whole = amounts.find(kWholePod);
      whole != amounts.end() && !same_amounts(pod["spec"]["resources"], whole->second))
    out.edit("spec").set("resources", whole->second);
  for (const char* list : kLists)
    for (std::size_t i = 0; i < pod["spec"][list].size(); ++i) {
      const Json& container = pod["spec"][list][i];
      const auto found = amounts.find(container["name"].as_string());
      if (found == amounts.end() || same_amounts(container["resources"], found->second)) continue;
      out.edit("spec").edit(list).edit(i).set("resources", found->second);
    }
  return out;
}

bool same_amounts(const Json& one, const Json& other) {
  return std::ranges::all_of(kResized, [&](const char* name) { return same_amount(one, other, name); });
}

bool has_amounts(const Json& pod) {
  if (!same_amounts(pod["spec"]["resources"], Json())) return true;
  for (const char* list : kLists)
    for (const Json& container : pod["spec"][list].items())
      if (!same_amounts(container["resources"], Json())) return true;
  return false;
}

PodAmounts pod_amounts(const Json& pod) {
  const SandboxSpec sandbox = sandbox_spec(pod);
  return {sandbox.cpu_request_milli, sandbox.cpu_limit_milli, sandbox.memory_limit_bytes};
}

ResourceList taken_by(const Json& pod) {
  ResourceList sum = api::pod_total(pod["spec"], "requests");
  api::add(sum, api::resource_list_from(pod["spec"]["overhead"]));
  std::erase_if(sum, [](const auto& row) { return row.first != "cpu" && row.first != "memory"; });
  return sum;
}

ResizeVerdict judge_resize(const Json& wanted, const Json& present, const ResourceList& allocatable,
                           const ResourceList& others) {
  const ResourceList request = taken_by(wanted), has = taken_by(present);
  for (const char* name : {"memory", "cpu"})
    if (of(request, name) > of(has, name) && of(request, name) > of(allocatable, name))
      return {ResizeVerdict::Kind::kInfeasible,
              base::format("Node didn't have enough capacity: {}, requested: {}, capacity: {}", name,
                           number(of(request, name), name), number(of(allocatable, name), name))};
  for (const char* name : kResized)
    if (of(request, name) > of(has, name) && of(request, name) + of(others, name) > of(allocatable, name))
      return {ResizeVerdict::Kind::kDeferred, shortage_text(name, of(request, name), others, allocatable)};
  return {};
}

std::optional<Shortage> lacks_room(const Json& pod, const ResourceList& allocatable, const ResourceList& others) {
  ResourceList request = taken_by(pod);
  request["pods"] = api::Quantity::from_int(1);
  for (const char* name : {"pods", "cpu", "memory"})
    if (of(request, name) > api::Quantity() && of(request, name) + of(others, name) > of(allocatable, name))
      return Shortage{name, shortage_text(name, of(request, name), others, allocatable)};
  return std::nullopt;
}

ResizeStep next_resize_step(const Json& pod, const PodState& state, const std::optional<PodAmounts>& held) {
  ResizeStep step;
  bool waits = false;
  for (std::size_t i = 0; i < state.containers.size(); ++i) {
    const ContainerState& container = state.containers[i];
    if (container.ephemeral) continue;
    waits = waits || container.phase == RunPhase::kStarting;
    if (container.phase != RunPhase::kRunning) continue;  // others get what they should when they start
    const Json& spec = container_spec(pod, container);
    const Json wanted = effective_resources(pod, spec);
    if (same_amounts(wanted, container.held)) continue;
    if (container.term_sent || container.kill_sent || !container.doom.empty()) {
      waits = true;
    } else if (asks_for_restart(pod, spec, wanted, container.held)) {
      step.restarted.push_back(i);
    } else {
      step.updated.push_back(i);
      step.change.containers.push_back({container.name, container.id, container_amounts(wanted)});
    }
  }
  PodAmounts goal = pod_amounts(pod);
  // Until all have restarted there is room for what they were and for what they will be.
  if (waits || !step.restarted.empty()) {
    ContainerAmounts amounts;
    for (const ContainerState& container : state.containers)
      if (container.held.is_object()) amounts[container.name] = container.held;
    const PodAmounts was = held.value_or(pod_amounts(with_amounts(pod, amounts)));
    goal = {std::max(goal.cpu_request_milli, was.cpu_request_milli), looser(goal.cpu_limit_milli, was.cpu_limit_milli),
            looser(goal.memory_limit_bytes, was.memory_limit_bytes)};
  }
  step.change.pod_uid = api::uid_of(pod);
  step.change.pod = goal;
  if (!step.updated.empty() || !held || *held != goal)
    step.kind = ResizeStep::Kind::kApply;
  else if (!step.restarted.empty())
    step.kind = ResizeStep::Kind::kRestart;
  else
    step.kind = waits ? ResizeStep::Kind::kWait : ResizeStep::Kind::kDone;
  return step;
}

std::string resize_text(std::string_view what, const Json& pod, std::int64_t generation, std::string_view error) {
  Json summary = Json::object();
  for (const char* list : kLists) {
    Json all = Json::array();
    for (const Json& container : pod["spec"][list].items())
      all.push_back(
          Json::object({{"name", container["name"]},
                        {"resources", container["resources"].is_object() ? container["resources"] : Json::object()}}));
    if (!all.empty()) summary.set(list, std::move(all));
  }
  summary.set("generation", generation);
  if (!error.empty()) summary.set("error", error);
  return base::format("Pod resize {}: {}", what, summary.dump());
}

}  // namespace node
