// The difference between what was found and what is there.
#include "controllers/hypernode/step.h"

#include <algorithm>
#include <set>

#include "api/meta/resource.h"
#include "api/schema/pattern.h"
#include "api/selector.h"

namespace controllers::hypernode {

using api::Json;
namespace resources = api::resources;

namespace {

// The object with the spec and the labels of `wanted`; its other labels and annotations stay.
Json merged(const Json& object, const Json& wanted) {
  Json out = object;
  out.set("apiVersion", wanted["apiVersion"]);
  out.set("kind", wanted["kind"]);
  out.set("spec", wanted["spec"]);
  for (const Json::Member& label : wanted["metadata"]["labels"].members())
    out.edit("metadata").edit("labels").set(std::string(label.name()), label.value);
  return out;
}

bool is_as_wanted(const Json& object, const Json& wanted) {
  if (object["spec"] != wanted["spec"]) return false;
  const auto labels = wanted["metadata"]["labels"].members();
  return std::all_of(labels.begin(), labels.end(), [&](const Json::Member& label) {
    return object["metadata"]["labels"][label.name()] == label.value;
  });
}

}  // namespace

std::vector<std::string> reconcile(const std::vector<Found>& found, std::string_view source,
                                   const std::vector<const Json*>& all, Plan& plan) {
  std::map<std::string_view, const Json*> there;
  for (const Json* one : all) there.emplace(api::name_of(*one), one);
  std::set<std::string_view> kept;
  std::vector<std::string> taken;
  for (const Found& one : found) {
    kept.insert(one.name);
    const Json wanted = to_object(one, source);
    const auto object = there.find(one.name);
    if (object == there.end()) {
      plan.create(resources::kHyperNodes, wanted).stops_nothing = true;
    } else if (api::label_of(*object->second, kSourceLabel) != source) {
      taken.push_back(one.name);
    } else if (!api::is_deleting(*object->second) && !is_as_wanted(*object->second, wanted)) {
      plan.update(resources::kHyperNodes, merged(*object->second, wanted)).stops_nothing = true;
    }
  }
  for (const Json* one : all)
    if (api::label_of(*one, kSourceLabel) == source && !kept.contains(api::name_of(*one)) && !api::is_deleting(*one))
      plan.remove(resources::kHyperNodes, *one).stops_nothing = true;
  return taken;
}

std::int64_t count_members(const Json& hyper_node, const std::vector<const Json*>& nodes) {
  std::set<std::string_view> names;
  for (const Json& member : hyper_node["spec"]["members"].items()) {
    const Json& selector = member["selector"];
    if (const std::string_view name = selector["exactMatch"]["name"].as_string(); !name.empty()) names.insert(name);
    if (selector["regexMatch"].is_object()) {
      const api::Pattern pattern = api::Pattern::small(selector["regexMatch"]["pattern"].as_string());
      for (const Json* node : nodes)
        if (pattern.matches(api::name_of(*node))) names.insert(api::name_of(*node));
    }
    // An empty selector matches nothing.
    if (const Json& labels = selector["labelMatch"]; labels.is_object() && !labels.empty()) {
      const auto parsed = api::label_selector_from(labels);
      for (const Json* node : nodes)
        if (parsed.ok() && parsed->matches((*node)["metadata"]["labels"])) names.insert(api::name_of(*node));
    }
  }
  return static_cast<std::int64_t>(names.size());
}

}  // namespace controllers::hypernode
