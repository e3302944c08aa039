// The sentences of Kubernetes' namespace controller.
#include "controllers/cluster/namespace_content.h"

#include "base/format.h"

namespace controllers::cluster {

using api::Json;

namespace {

// Finalizers are names that users choose: what they say together has to fit into a message.
constexpr std::size_t kNamesMax = 20;

std::string listed(const std::map<std::string, std::int64_t>& counts, std::string_view form) {
  std::string text;
  std::size_t reported = 0;
  for (const auto& [name, count] : counts) {
    if (reported++ == kNamesMax) return text + base::format(", and {} more", counts.size() - kNamesMax);
    text += base::format("{}{}{}{} resource instances", text.empty() ? "" : ", ", name, form, count);
  }
  return text;
}

Json condition(std::string_view type, bool holds, std::string_view reason, std::string_view message) {
  return Json::object({{"type", type}, {"status", holds ? "True" : "False"}, {"reason", reason}, {"message", message}});
}

bool is_same(const Json& one, const Json& other) {
  for (const char* field : {"type", "status", "reason", "message"})
    if (one[field] != other[field]) return false;
  return true;
}

}  // namespace

void NamespaceContent::add(const api::ResourceId& resource, const std::vector<const Json*>& objects) {
  if (objects.empty()) return;
  objects_[resource.plural + "." + resource.group] += static_cast<std::int64_t>(objects.size());
  for (const Json* object : objects)
    for (const Json& finalizer : (*object)["metadata"]["finalizers"].items()) ++finalizers_[finalizer.str()];
}

std::optional<Json> NamespaceContent::conditions(const Json& space, base::Time now) const {
  Json list = Json::array(
      {condition("NamespaceDeletionDiscoveryFailure", false, "ResourcesDiscovered",
                 "All resources successfully discovered"),
       condition("NamespaceDeletionGroupVersionParsingFailure", false, "ParsedGroupVersions",
                 "All legacy kube types successfully parsed"),
       condition("NamespaceDeletionContentFailure", false, "ContentDeleted",
                 "All content successfully deleted, may be waiting on finalization"),
       objects_.empty()
           ? condition("NamespaceContentRemaining", false, "ContentRemoved", "All content successfully removed")
           : condition("NamespaceContentRemaining", true, "SomeResourcesRemain",
                       "Some resources are remaining: " + listed(objects_, " has ")),
       finalizers_.empty()
           ? condition("NamespaceFinalizersRemaining", false, "ContentHasNoFinalizers",
                       "All content-preserving finalizers finished")
           : condition("NamespaceFinalizersRemaining", true, "SomeFinalizersRemain",
                       "Some content in the namespace has finalizers remaining: " + listed(finalizers_, " in "))});
  bool any_new = false;
  Json out = Json::array();
  for (const Json& one : list.items()) {
    Json reported = one;
    const Json* before = nullptr;
    for (const Json& old : space["status"]["conditions"].items())
      if (is_same(one, old)) before = &old;
    any_new = any_new || before == nullptr;
    reported.set("lastTransitionTime", before ? (*before)["lastTransitionTime"] : Json(base::format_rfc3339(now)));
    out.push_back(std::move(reported));
  }
  if (!any_new) return std::nullopt;
  return out;
}

}  // namespace controllers::cluster
