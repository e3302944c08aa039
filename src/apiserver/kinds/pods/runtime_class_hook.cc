// Joining a pod with its class.
#include "apiserver/kinds/pods/runtime_class_hook.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/json/json_bulk.h"
#include "api/schema/quantity.h"
#include "base/format.h"

namespace apiserver {

using api::Json;

namespace {

const api::ResourceId kRuntimeClasses{"node.k8s.io", "v1", "runtimeclasses"};

// Whether `wide` tolerates all that `one` does.
bool covers(const Json& wide, const Json& one) {
  if (wide == one) return true;
  const auto word = [](const Json& of, const char* field) { return of[field].as_string(); };
  const bool every_key = word(wide, "key").empty() && word(wide, "operator") == "Exists";
  if (word(wide, "key") != word(one, "key") && !every_key) return false;
  if (!word(wide, "effect").empty() && word(wide, "effect") != word(one, "effect")) return false;
  const Json& seconds = wide["tolerationSeconds"];
  if (word(wide, "effect") == "NoExecute" && seconds.is_number())
    if (!one["tolerationSeconds"].is_number() || one["tolerationSeconds"].as_int() > seconds.as_int()) return false;
  if (word(wide, "operator") == "Exists") return true;
  const bool equal = word(one, "operator").empty() || word(one, "operator") == "Equal";
  return equal && word(wide, "operator") != "Lt" && word(wide, "operator") != "Gt" &&
         word(wide, "value") == word(one, "value");
}

// Each of so many is compared with each other; of more only equal ones are left out.
constexpr std::size_t kComparedMax = 1000;

std::vector<const Json*> without_equal(const std::vector<const Json*>& all) {
  std::set<std::string> seen;
  std::vector<const Json*> kept;
  for (const Json* one : all)
    if (seen.insert(api::identity_of(*one)).second) kept.push_back(one);
  return kept;
}

std::vector<const Json*> without_covered(const std::vector<const Json*>& all) {
  std::vector<const Json*> kept;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Json& one = *all[i];
    const bool covered = std::ranges::any_of(kept, [&](const Json* wide) { return covers(*wide, one); }) ||
                         std::any_of(all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end(),
                                     [&](const Json* wide) { return *wide != one && covers(*wide, one); });
    if (!covered) kept.push_back(&one);
  }
  return kept;
}

// The pod's first, then the class's; what another one covers is left out, and of equal ones the later.
Json merged_tolerations(const Json& pods, const Json& classes) {
  std::vector<const Json*> all;
  for (const Json* list : {&pods, &classes})
    for (const Json& one : list->items()) all.push_back(&one);
  Json out = Json::array();
  for (const Json* one : all.size() > kComparedMax ? without_equal(all) : without_covered(all)) out.push_back(*one);
  return out;
}

api::AdmissionAnswer refused(std::string message) {
  api::AdmissionAnswer answer;
  answer.allowed = false;
  answer.message = std::move(message);
  return answer;
}

// The contradiction to the class; empty: nothing.
std::string add_scheduling(const Json& scheduling, Json& spec) {
  const Json &selector = spec["nodeSelector"], &tolerations = spec["tolerations"];
  // A value of a wrong type is left for validation to name.
  if ((!selector.is_null() && !selector.is_object()) || (!tolerations.is_null() && !tolerations.is_array())) return {};
  const Json& wanted = scheduling["nodeSelector"];
  for (const Json::Member& member : wanted.members()) {
    const Json* own = spec["nodeSelector"].find(member.name());
    if (own != nullptr && own->as_string() != member.value.as_string())
      return base::format("conflict: runtimeClass.scheduling.nodeSelector[{0}] = {1}; pod.spec.nodeSelector[{0}] = {2}",
                          member.name(), member.value.as_string(), own->as_string());
  }
  for (const Json::Member& member : wanted.members()) spec.edit("nodeSelector").set(member.name(), member.value);
  if (!scheduling["tolerations"].empty())
    spec.set("tolerations", merged_tolerations(spec["tolerations"], scheduling["tolerations"]));
  return {};
}

api::AdmissionAnswer review(const api::AdmissionRequest& request, const api::ObjectReader& objects) {
  Json pod = request.object;
  if (!request.subresource.empty() || !pod["spec"].is_object()) return {};
  const std::string name = pod["spec"]["runtimeClassName"].str();
  std::optional<Json> found;
  if (!name.empty()) {
    found = objects.find(kRuntimeClasses, "", name);
    if (!found) return refused(base::format("pod rejected: RuntimeClass \"{}\" not found", name));
  }
  const Json overhead = found ? (*found)["overhead"]["podFixed"] : Json();
  const Json& own = pod["spec"]["overhead"];
  if (overhead.empty() && !own.empty())
    return refused("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
  if (!own.empty() && api::resource_list_from(own) != api::resource_list_from(overhead))
    return refused("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
  if (!found) return {};
  Json& spec = pod.edit("spec");
  if (!overhead.empty()) spec.set("overhead", overhead);
  if (std::string why = add_scheduling((*found)["scheduling"], spec); !why.empty()) return refused(std::move(why));
  api::AdmissionAnswer answer;
  answer.object = std::move(pod);
  return answer;
}

}  // namespace

api::AdmissionHook runtime_class_hook() {
  return {.path = {},
          .mutating = true,
          .resource = api::resources::kPods,
          .kind = "Pod",
          .operations = {api::Operation::kCreate},
          .review = review};
}

}  // namespace apiserver
