// PriorityClasses, as a new pod meets them.
#include "apiserver/kinds/pods/pod_priority.h"

#include <cstdint>
#include <string>

#include "api/kinds.h"
#include "base/format.h"

namespace apiserver {

using api::Json;

namespace {

base::Error pod_forbidden(const Json& pod, std::string why) {
  base::Error error = base::make_error(base::Code::kForbidden,
                                       base::format("pods \"{}\" is forbidden: {}", api::name_of(pod), std::move(why)));
  error.kind = "pods";
  error.name = api::name_of(pod);
  return error;
}

// Null: there is none. The lowest of several, which came to be at once.
Json default_priority_class(const api::ObjectReader& objects) {
  static const api::TextField kGlobalDefault{api::resources::kPriorityClasses, {"globalDefault"}};
  Json lowest;
  for (const Json& one : objects.list_by(kGlobalDefault, "true", false))
    if (lowest.is_null() || one["value"].as_int() < lowest["value"].as_int()) lowest = one;
  return lowest;
}

}  // namespace

base::Status set_pod_priority(const api::ObjectReader& objects, Json& object) {
  Json& spec = object.edit("spec");
  for (const char* key : {"priorityClassName", "preemptionPolicy"})
    if (!spec[key].is_null() && !spec[key].is_string()) return {};
  if (!spec["priority"].is_null() && !spec["priority"].is_number()) return {};
  const std::string name = spec["priorityClassName"].str();
  std::int64_t value = 0;
  std::string policy = "PreemptLowerPriority";
  if (name == "system-node-critical" || name == "system-cluster-critical") {
    value = name == "system-node-critical" ? 2'000'001'000 : 2'000'000'000;
  } else if (!name.empty()) {
    const auto found = objects.find(api::resources::kPriorityClasses, "", name);
    if (!found) return pod_forbidden(object, base::format("no PriorityClass with name {} was found", name));
    value = (*found)["value"].as_int();
    if ((*found)["preemptionPolicy"].is_string()) policy = (*found)["preemptionPolicy"].as_string();
  } else {
    if (const Json chosen = default_priority_class(objects); !chosen.is_null()) {
      spec.set("priorityClassName", chosen["metadata"]["name"]);
      value = chosen["value"].as_int();
      if (chosen["preemptionPolicy"].is_string()) policy = chosen["preemptionPolicy"].as_string();
    }
  }
  if (const Json& given = spec["priority"]; !given.is_null() && given.as_int() != value)
    return pod_forbidden(object, base::format("the integer value of priority ({}) must not be provided in pod spec; "
                                              "priority admission controller computed {} from the given PriorityClass "
                                              "name",
                                              given.as_int(), value));
  if (const Json& given = spec["preemptionPolicy"]; !given.is_null() && given.as_string() != policy)
    return pod_forbidden(object, base::format("the string value of PreemptionPolicy ({}) must not be provided in pod "
                                              "spec; priority admission controller computed {} from the given "
                                              "PriorityClass name",
                                              given.as_string(), policy));
  spec.set("priority", value);
  spec.set("preemptionPolicy", policy);
  return {};
}

}  // namespace apiserver
