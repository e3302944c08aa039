// The lists of volcano.sh/allowed-namespaces, -users and -groups, and where objects name their queue.
//
// COMPAT(queue-access)
#include "admission/rules/queue_access.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "admission/rules/names.h"
#include "admission/rules/vocabulary.h"
#include "api/kubeflow/v1/notebook.h"
#include "api/kubeflow/v1/run_policy.h"
#include "api/meta/resource.h"
#include "base/format.h"
#include "base/split.h"
#include "base/trim.h"

namespace admission {

using api::AdmissionRequest;
using api::Json;

namespace {

// The words between commas, without the spaces around them. Nothing: the queue has no such list.
std::optional<std::vector<std::string_view>> list_of(const Json& queue, std::string_view annotation) {
  const Json* text = queue["metadata"]["annotations"].find(annotation);
  if (!text) return std::nullopt;
  std::vector<std::string_view> words = base::split(text->as_string(), ',');
  for (std::string_view& word : words) word = base::trim(word);
  return words;
}

std::string problem_of(std::string_view annotation, std::string_view word) {
  if (word.empty()) return "must be a comma-separated list of names, none of which is empty";
  if (annotation == kAllowedNamespaces) {
    const auto problems = check_dns_label(word);
    return problems.empty() ? "" : problems.front();
  }
  const bool has_control = std::ranges::any_of(word, [](const char c) { return static_cast<unsigned char>(c) < ' '; });
  return has_control ? "must hold no control characters" : "";
}

bool is_in(const std::optional<std::vector<std::string_view>>& list, std::string_view name) {
  return list && std::ranges::find(*list, name) != list->end();
}

// Programs that write for others, at whose objects those were asked: components of the system, and ServiceAccounts of
// other namespaces. Administrators may use every queue.
bool is_trusted(const AdmissionRequest& request) {
  if (std::ranges::find(request.groups, "system:masters") != request.groups.end()) return true;
  const std::string own = base::format("system:serviceaccount:{}:", request.ns);
  return request.user.starts_with("system:") && request.user != "system:anonymous" && !request.user.starts_with(own);
}

struct Place {
  api::ResourceId resource;
  std::vector<std::string_view> path;
};

const std::vector<Place>& places() {
  namespace r = api::resources;
  static const std::vector<Place> kPlaces = [] {
    const std::vector<std::string_view> annotation = {"metadata", "annotations", kNamespaceQueue};
    std::vector<Place> all = {{r::kJobs, {"spec", "queue"}},
                              {r::kJobTemplates, {"spec", "queue"}},
                              {r::kCronJobs, {"spec", "jobTemplate", "spec", "queue"}},
                              {r::kPodGroups, {"spec", "queue"}},
                              {r::kPods, annotation},
                              {r::kNotebooks, annotation},
                              {r::kSshMpiJobs, annotation}};
    for (const api::ResourceId& training :
         {r::kPyTorchJobs, r::kTfJobs, r::kMpiJobs, r::kXgboostJobs, r::kPaddleJobs, r::kJaxJobs, r::kSshMpiJobs})
      all.push_back({training, {"spec", "runPolicy", "schedulingPolicy", "queue"}});
    return all;
  }();
  return kPlaces;
}

std::string_view text_at(const Json& object, const std::vector<std::string_view>& path) {
  const Json* at = &object;
  for (const std::string_view member : path) at = &(*at)[member];
  return at->as_string();
}

}  // namespace

std::vector<std::string> check_access_lists(const Json& queue) {
  std::vector<std::string> problems;
  for (const std::string_view annotation : {kAllowedNamespaces, kAllowedUsers, kAllowedGroups}) {
    const auto words = list_of(queue, annotation);
    if (!words) continue;
    for (const std::string_view word : *words)
      if (const std::string problem = problem_of(annotation, word); !problem.empty()) {
        problems.push_back(base::format("requestBody.metadata.annotations[{}]: Invalid value: {}: {}", annotation,
                                        quoted(api::annotation_of(queue, annotation)), problem));
        break;
      }
  }
  return problems;
}

std::string check_queue_access(const AdmissionRequest& request, const api::ObjectReader& objects) {
  if (!request.subresource.empty()) return {};
  for (const Place& place : places()) {
    if (place.resource != request.resource) continue;
    const std::string_view name = text_at(request.object, place.path);
    if (name.empty() || name == text_at(request.old_object, place.path)) continue;
    const auto queue = objects.find(api::resources::kQueues, "", name);
    if (!queue) continue;
    if (const auto namespaces = list_of(*queue, kAllowedNamespaces); namespaces && !is_in(namespaces, request.ns))
      return base::format("queue `{}` is not for namespace `{}` ({})", name, request.ns, kAllowedNamespaces);
    const auto users = list_of(*queue, kAllowedUsers);
    const auto groups = list_of(*queue, kAllowedGroups);
    if ((!users && !groups) || is_trusted(request) || is_in(users, request.user) ||
        std::ranges::any_of(request.groups, [&](const std::string& group) { return is_in(groups, group); }))
      continue;
    return base::format("queue `{}` is not for user `{}` ({}, {})", name, request.user, kAllowedUsers, kAllowedGroups);
  }
  return {};
}

}  // namespace admission
