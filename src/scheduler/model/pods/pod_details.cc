// Which further facts of a pod do single plugins read?
#include "scheduler/model/pods/pod_details.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "api/schema/quantity.h"
#include "base/time.h"

namespace scheduler {
namespace {

struct Amounts {
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
};

Amounts amounts_of(const api::Json& list) {
  Amounts out;
  if (list.empty()) return out;
  if (const auto cpu = api::Quantity::from_json(list["cpu"])) out.cpu = cpu->milli_value();
  if (const auto memory = api::Quantity::from_json(list["memory"])) out.memory = memory->value();
  return out;
}

void add(Amounts& to, const Amounts& what) {
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  to.cpu = std::min(kMost, to.cpu + std::min(kMost, what.cpu));
  to.memory = std::min(kMost, to.memory + std::min(kMost, what.memory));
}

// The limits of the containers, or of the init containers where those reach higher; overhead only on top of a limit.
Amounts limits_of(const api::Json& spec) {
  Amounts sum, sidecars, highest;
  for (const api::Json& one : spec["containers"].items()) add(sum, amounts_of(one["resources"]["limits"]));
  for (const api::Json& one : spec["initContainers"].items()) {
    Amounts now = amounts_of(one["resources"]["limits"]);
    const bool sidecar = one["restartPolicy"].as_string() == "Always";
    if (sidecar) {
      add(sum, now);
      add(sidecars, now);
      now = sidecars;
    } else {
      add(now, sidecars);
    }
    highest = {std::max(highest.cpu, now.cpu), std::max(highest.memory, now.memory)};
  }
  Amounts out{std::max(sum.cpu, highest.cpu), std::max(sum.memory, highest.memory)};
  const Amounts of_pod = amounts_of(spec["resources"]["limits"]);
  if (of_pod.cpu != 0) out.cpu = of_pod.cpu;
  if (of_pod.memory != 0) out.memory = of_pod.memory;
  const Amounts overhead = amounts_of(spec["overhead"]);
  if (out.cpu != 0) add(out, {overhead.cpu, 0});
  if (out.memory != 0) add(out, {0, overhead.memory});
  return out;
}

bool asks_for(const api::Json& amount) {
  return !amount.is_null() && amount.as_string() != "0" && !(amount.is_int() && amount.as_int() == 0);
}

QosClass qos_of(const api::Json& pod) {
  const std::string_view given = pod["status"]["qosClass"].as_string();
  if (given == "Guaranteed") return QosClass::kGuaranteed;
  if (given == "Burstable") return QosClass::kBurstable;
  if (given == "BestEffort") return QosClass::kBestEffort;
  bool any = false, all_equal = true;
  for (const std::string_view list : {"containers", "initContainers"}) {
    for (const api::Json& one : pod["spec"][list].items()) {
      const api::Json& resources = one["resources"];
      if (resources["limits"].empty()) {  // most pods: nothing has to be computed
        any |= asks_for(resources["requests"]["cpu"]) || asks_for(resources["requests"]["memory"]);
        all_equal = false;
        continue;
      }
      const Amounts limits = amounts_of(resources["limits"]);
      Amounts requests = amounts_of(resources["requests"]);
      if (requests.cpu == 0) requests.cpu = limits.cpu;
      if (requests.memory == 0) requests.memory = limits.memory;
      any |= requests.cpu != 0 || requests.memory != 0;
      all_equal &=
          limits.cpu != 0 && limits.memory != 0 && requests.cpu == limits.cpu && requests.memory == limits.memory;
    }
  }
  if (!any) return QosClass::kBestEffort;
  return all_equal ? QosClass::kGuaranteed : QosClass::kBurstable;
}

// Wishes are kept for ever; a longer one counts as none.
std::string bounded(const api::Json& text) {
  constexpr std::size_t kLengthMax = 4096;
  return text.as_string().size() > kLengthMax ? std::string() : text.str();
}

template <class Value>
std::uint32_t intern(const Value& value, std::vector<Value>& list, std::map<Value, std::uint32_t>& ids) {
  if (value == list[0]) return 0;
  const auto [found, added] = ids.try_emplace(value, static_cast<std::uint32_t>(list.size()));
  if (added) list.push_back(value);
  return found->second;
}

}  // namespace

void PodDetails::set(TaskId task, const api::Json& pod) {
  if (task.index >= details_.size()) details_.resize(task.index + 1);
  Detail& detail = details_[task.index];
  const Amounts limits = limits_of(pod["spec"]);
  detail.limits = intern(PodLimits{limits.cpu, limits.memory, qos_of(pod)}, limits_, limits_ids_);
  detail.preference = 0;
  const api::Json& annotations = pod["metadata"]["annotations"];
  if (const api::Json* type = annotations.find("volcano.sh/resource-strategy-scoring-type")) {
    const ScoringPreference preference{bounded(*type), bounded(annotations["volcano.sh/resource-strategy-weight"])};
    detail.preference = intern(preference, preferences_, preference_ids_) & 0x7fffffffu;
  }
  detail.role_annotated = annotations.has("volcano.sh/task-spec");
  const auto started = base::parse_rfc3339(pod["status"]["startTime"].as_string());
  detail.started_ns = started ? started->ns : 0;
}

}  // namespace scheduler
