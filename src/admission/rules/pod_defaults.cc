// Lists are merged by the name of their entries: an equal entry is left out, another one of that name is a conflict.
#include "admission/rules/pod_defaults.h"

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "admission/rules/names.h"
#include "api/kubeflow/v1alpha1/poddefault.h"
#include "api/schema/unwritten.h"
#include "api/selector.h"
#include "base/format.h"

namespace admission {

namespace {

constexpr std::string_view kPrefix = "poddefault.admission.kubeflow.org";
constexpr std::string_view kSidecarOfIstio = "istio-proxy";
constexpr std::string_view kMirror = "kubernetes.io/config.mirror";
constexpr std::size_t kConflictsMax = 10;
// Entries that PodDefaults put into one pod, counted for each container: a pod is merged while its request holds the
// API server's loop.
constexpr std::size_t kEntriesMax = 20'000;

// A list of the pod or of a container, and the entry of PodDefaults that goes into it.
struct ListRow {
  std::string_view of_default;
  std::string_view of_pod;
  std::string_view key;     // unique in the list; empty: entries are put at the end
  std::string_view schema;  // of an entry
};

// COMPAT(poddefault-tolerations): of one key there may be several tolerations.
const std::vector<ListRow>& rows_of_pod() {
  static const std::vector<ListRow> kRows = {
      {"volumes", "volumes", "name", "core.v1.Volume"},
      {"imagePullSecrets", "imagePullSecrets", "name", "core.v1.LocalObjectReference"},
      {"initContainers", "initContainers", "name", "core.v1.Container"},
      {"sidecars", "containers", "name", "core.v1.Container"}};
  return kRows;
}
const std::vector<ListRow>& rows_of_container() {
  static const std::vector<ListRow> kRows = {{"env", "env", "name", "core.v1.EnvVar"},
                                             {"volumeMounts", "volumeMounts", "mountPath", "core.v1.VolumeMount"},
                                             {"envFrom", "envFrom", "", "core.v1.EnvFromSource"}};
  return kRows;
}

class Merge {
 public:
  Merge(Json pod, std::vector<Json> defaults) : pod_(std::move(pod)), defaults_(std::move(defaults)) {}

  void run() {
    Json spec = pod_["spec"];
    const std::size_t own = spec["containers"].size();
    for (const Json& one : defaults_) {
      for (const ListRow& row : rows_of_pod()) merge_list(spec, row, one, "the pod");
      merge_tolerations(spec, one);
      for (const char* map : {"labels", "annotations"}) merge_map(map, one);
      for (const char* field : {"serviceAccountName", "automountServiceAccountToken"}) take_field(spec, field, one);
    }
    // Sidecars are as their PodDefault says; the pod's own containers get the rest.
    Json containers = Json::array();
    for (std::size_t i = 0; i < spec["containers"].size(); ++i) {
      Json container = spec["containers"][i];
      if (i < own) complete(container);
      containers.push_back(std::move(container));
    }
    spec.set("containers", std::move(containers));
    pod_.set("spec", std::move(spec));
    for (const Json& one : defaults_)
      pod_.edit_path({"metadata", "annotations"})
          .set(base::format("{}/poddefault-{}", kPrefix, api::name_of(one)), api::resource_version_of(one));
  }
  Json pod() && { return std::move(pod_); }
  const std::vector<std::string>& conflicts() const { return conflicts_; }

 private:
  void conflict(std::string_view what, std::string_view name, const Json& one, std::string_view place) {
    if (conflicts_.size() >= kConflictsMax) return;
    conflicts_.push_back(
        base::format("{} {} of {} has another value in {}", what, quoted(name), api::name_of(one), place));
  }

  void merge_list(Json& into, const ListRow& row, const Json& one, std::string_view place) {
    const Json& wanted = one["spec"][row.of_default];
    if (wanted.empty()) return;
    Json list = into[row.of_pod].is_array() ? into[row.of_pod] : Json::array();
    std::map<std::string, std::size_t> places;  // in the list, by key
    const auto add = [&](const Json& entry, std::size_t at) {
      if (!row.key.empty()) places.emplace(entry[row.key].str(), at);
    };
    for (std::size_t i = 0; i < list.size(); ++i) add(list[i], i);
    for (const Json& entry : wanted.items()) {
      const auto there = row.key.empty() ? places.end() : places.find(entry[row.key].str());
      if (there == places.end()) {
        add(entry, list.size());
        list.push_back(entry);
      } else if (!api::same_as_written(api::core_schema(row.schema), list[there->second], entry)) {
        conflict(row.of_default, entry[row.key].as_string(), one, place);
      }
    }
    into.set(row.of_pod, std::move(list));
  }

  static void merge_tolerations(Json& spec, const Json& one) {
    const Json& wanted = one["spec"]["tolerations"];
    if (wanted.empty()) return;
    Json list = spec["tolerations"].is_array() ? spec["tolerations"] : Json::array();
    std::set<std::string> present;
    for (const Json& other : list.items()) present.insert(other.dump());
    for (const Json& entry : wanted.items())
      if (present.insert(entry.dump()).second) list.push_back(entry);
    spec.set("tolerations", std::move(list));
  }

  void merge_map(const char* map, const Json& one) {
    for (const Json::Member& member : one["spec"][map].members()) {
      const Json* there = pod_["metadata"][map].find(member.name());
      if (there == nullptr)
        pod_.edit_path({"metadata", map}).set(member.name(), member.value);
      else if (*there != member.value)
        conflict(map, member.name(), one, "the pod");
    }
  }

  // The last PodDefault by name decides, as in Kubeflow.
  static void take_field(Json& spec, const char* field, const Json& one) {
    const Json& value = one["spec"][field];
    if (value.is_null() || (value.is_string() && value.as_string().empty())) return;
    spec.set(field, value);
    if (std::string_view(field) == "serviceAccountName") spec.erase("serviceAccount");
  }

  void complete(Json& container) {
    const std::string place = base::format("container {}", container["name"].as_string());
    for (const Json& one : defaults_) {
      for (const ListRow& row : rows_of_container()) merge_list(container, row, one, place);
      if (container["name"].as_string() == kSidecarOfIstio) continue;
      for (const char* field : {"command", "args"})
        if (container[field].empty() && !one["spec"][field].empty()) container.set(field, one["spec"][field]);
    }
  }

  Json pod_;
  std::vector<Json> defaults_;
  std::vector<std::string> conflicts_;
};

// The entries that a pod would get, for each of its containers where they are of containers.
std::size_t entries_for(const Json& pod, const std::vector<Json>& defaults) {
  std::size_t out = 0;
  for (const Json& one : defaults) {
    const Json& spec = one["spec"];
    for (const ListRow& row : rows_of_container())
      out += spec[row.of_default].size() * pod["spec"]["containers"].size();
    for (const ListRow& row : rows_of_pod()) out += spec[row.of_default].size();
    for (const char* more : {"tolerations", "labels", "annotations"}) out += spec[more].size();
  }
  return out;
}

// A pod of another shape is refused by validation, which names the field.
bool can_be_merged(const Json& pod) {
  for (const char* map : {"labels", "annotations"})
    if (const Json& value = pod["metadata"][map]; !value.is_null() && !value.is_object()) return false;
  for (const Json& container : pod["spec"]["containers"].items())
    if (!container.is_object()) return false;
  return pod["metadata"].is_object() && pod["spec"].is_object();
}

}  // namespace

AdmissionAnswer apply_pod_defaults(const AdmissionRequest& request, const ObjectReader& objects) {
  const api::TextField in_namespace{api::resources::kPodDefaults, {"metadata", "namespace"}};
  const Json& annotations = request.object["metadata"]["annotations"];
  if (!request.subresource.empty() || request.ns.empty() || annotations.has(kMirror) ||
      annotations[base::format("{}/exclude", kPrefix)].as_string() == "true")
    return {};
  std::vector<Json> defaults;
  std::string names;
  for (Json& one : objects.list_by(in_namespace, request.ns)) {
    const auto selector = api::label_selector_from(one["spec"]["selector"]);
    if (!selector.ok() || !selector->matches(request.object["metadata"]["labels"])) continue;
    names += (names.empty() ? "" : ",") + std::string(api::name_of(one));
    defaults.push_back(std::move(one));
  }
  if (defaults.empty() || !can_be_merged(request.object)) return {};
  if (const std::size_t entries = entries_for(request.object, defaults); entries > kEntriesMax)
    return refuse(base::format("PodDefaults {} have {} entries for the containers of this pod, and {} are allowed",
                               names, entries, kEntriesMax));
  Merge merge(request.object, std::move(defaults));
  merge.run();
  if (merge.conflicts().empty()) return changed(std::move(merge).pod());
  const std::string_view name =
      request.name.empty() ? request.object["metadata"]["generateName"].as_string() : std::string_view(request.name);
  return refuse(base::format("conflict occurred while applying poddefaults: {} on pod: {} err: {}", names, name,
                             join(merge.conflicts(), "; ")));
}

}  // namespace admission
