// PriorityClasses, as a new pod or group meets them.
#include "apiserver/kinds/pods/pod_priority.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "api/kinds.h"
#include "base/format.h"

namespace apiserver {

using api::Json;

namespace {

base::Error forbidden(std::string_view resource, const Json& object, std::string why) {
  base::Error error = base::make_error(base::Code::kForbidden, base::format("{} \"{}\" is forbidden: {}", resource,
                                                                            api::name_of(object), std::move(why)));
  error.kind = resource.substr(0, resource.find('.'));
  error.name = api::name_of(object);
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

// The consequences of a class; without a name those of the default class.
struct Priority {
  std::string class_name;
  std::int64_t value = 0;
  std::string policy = "PreemptLowerPriority";
};

Priority priority_of(const Json& priority_class) {
  Priority out{priority_class["metadata"]["name"].str(), priority_class["value"].as_int()};
  if (priority_class["preemptionPolicy"].is_string()) out.policy = priority_class["preemptionPolicy"].str();
  return out;
}

// Nothing: there is no class of that name.
std::optional<Priority> find_priority(const api::ObjectReader& objects, const std::string& name) {
  if (name == "system-node-critical") return Priority{name, 2'000'001'000};
  if (name == "system-cluster-critical") return Priority{name, 2'000'000'000};
  if (name.empty()) {
    const Json chosen = default_priority_class(objects);
    return chosen.is_null() ? Priority() : priority_of(chosen);
  }
  const auto found = objects.find(api::resources::kPriorityClasses, "", name);
  return found ? std::optional(priority_of(*found)) : std::nullopt;
}

// Fields of other types are for validation to name.
bool is_readable(const Json& spec) {
  for (const char* key : {"priorityClassName", "preemptionPolicy"})
    if (!spec[key].is_null() && !spec[key].is_string()) return false;
  return spec["priority"].is_null() || spec["priority"].is_number();
}

void write(const Priority& priority, Json& spec) {
  if (!priority.class_name.empty()) spec.set("priorityClassName", priority.class_name);
  spec.set("priority", priority.value);
  spec.set("preemptionPolicy", priority.policy);
}

}  // namespace

base::Status set_pod_priority(const api::ObjectReader& objects, Json& object) {
  Json& spec = object.edit("spec");
  if (!is_readable(spec)) return {};
  const std::string name = spec["priorityClassName"].str();
  const std::optional<Priority> found = find_priority(objects, name);
  if (!found) return forbidden("pods", object, base::format("no PriorityClass with name {} was found", name));
  if (const Json& given = spec["priority"]; !given.is_null() && given.as_int() != found->value)
    return forbidden("pods", object,
                     base::format("the integer value of priority ({}) must not be provided in pod spec; "
                                  "priority admission controller computed {} from the given PriorityClass name",
                                  given.as_int(), found->value));
  if (const Json& given = spec["preemptionPolicy"]; !given.is_null() && given.as_string() != found->policy)
    return forbidden("pods", object,
                     base::format("the string value of PreemptionPolicy ({}) must not be provided in pod spec; "
                                  "priority admission controller computed {} from the given PriorityClass name",
                                  given.as_string(), found->policy));
  write(*found, spec);
  return {};
}

base::Status set_group_priority(const api::ObjectReader& objects, Json& object) {
  constexpr std::string_view kResource = "podgroups.scheduling.k8s.io";
  Json& spec = object.edit("spec");
  if (!is_readable(spec)) return {};
  const std::string name = spec["priorityClassName"].str();
  const std::optional<Priority> found = find_priority(objects, name);
  if (!found) return forbidden(kResource, object, base::format("no PriorityClass with name {} was found", name));
  if (const Json& given = spec["priority"]; !given.is_null() && given.as_int() != found->value)
    return forbidden(kResource, object,
                     base::format("priority set in the pod group ({}) must match the priority computed ({}) based on "
                                  "the priority class set in the spec",
                                  given.as_int(), found->value));
  if (const Json& given = spec["preemptionPolicy"]; !given.is_null() && given.as_string() != found->policy)
    return forbidden(kResource, object,
                     base::format("the string value of PreemptionPolicy ({}) must not be provided in pod group spec; "
                                  "priority admission controller computed {} from the given PriorityClass name",
                                  given.as_string(), found->policy));
  write(*found, spec);
  return {};
}

}  // namespace apiserver
