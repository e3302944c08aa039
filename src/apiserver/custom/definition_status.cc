// Names that are accepted, and the conditions of a definition.
#include <algorithm>
#include <set>

#include "apiserver/custom/definition.h"
#include "base/format.h"

namespace apiserver {

using api::Json;

namespace {

Json strings(const std::vector<std::string>& values) {
  Json list = Json::array();
  for (const std::string& value : values) list.push_back(value);
  return list;
}

const Json& condition_of(const Json& object, std::string_view type) {
  static const Json kNone;
  for (const Json& one : object["status"]["conditions"].items())
    if (one["type"].as_string() == type) return one;
  return kNone;
}

struct ConditionState {
  bool holds = false;
  std::string_view reason;
  std::string message;
};

void set_condition(Json& object, std::string_view type, const ConditionState& state, base::Time now) {
  const Json& known = condition_of(object, type);
  const std::string_view status = state.holds ? "True" : "False";
  const bool same = known["status"].as_string() == status;
  Json condition =
      Json::object({{"type", type},
                    {"status", status},
                    {"lastTransitionTime", same ? known["lastTransitionTime"] : Json(base::format_rfc3339(now))},
                    {"reason", state.reason},
                    {"message", state.message}});
  Json list = Json::array();
  bool placed = false;
  for (const Json& one : object["status"]["conditions"].items()) {
    const bool is_it = one["type"].as_string() == type;
    list.push_back(is_it ? condition : one);
    placed = placed || is_it;
  }
  if (!placed) list.push_back(std::move(condition));
  object.edit("status").set("conditions", std::move(list));
}

// The names of others in the group.
struct Taken {
  std::set<std::string> resources, kinds;

  Taken(const std::string& name, const std::string& group, const std::vector<DefinitionPtr>& all) {
    for (const DefinitionPtr& one : all)
      if (one->group == group && one->name != name) add(one->accepted);
    for (const api::KindInfo& kind : api::all_kinds())
      if (kind.resource.group == group && kind.resource.plural + "." + group != name)
        add({kind.resource.plural, kind.singular, kind.kind, kind.list_kind(), kind.short_names});
  }

  void add(const KindNames& names) {
    resources.insert({names.plural, names.singular});
    resources.insert(names.short_names.begin(), names.short_names.end());
    kinds.insert({names.kind, names.list_kind});
  }
};

// A name that is taken is not accepted; what was accepted before stays.
ConditionState accept_names(const KindNames& wanted, const Taken& taken, KindNames& accepted) {
  ConditionState state{true, "NoConflicts", "no conflicts found"};
  const auto accept = [&](const std::string& name, const std::set<std::string>& others, std::string& into,
                          std::string_view reason) {
    if (name.empty() || !others.contains(name)) {
      into = name;
      return;
    }
    state = {false, reason, base::format("\"{}\" is already in use", name)};
  };
  accept(wanted.plural, taken.resources, accepted.plural, "PluralConflict");
  accept(wanted.singular, taken.resources, accepted.singular, "SingularConflict");
  const bool short_names_free =
      std::ranges::none_of(wanted.short_names, [&](const std::string& name) { return taken.resources.contains(name); });
  if (short_names_free) accepted.short_names = wanted.short_names;
  for (const std::string& name : wanted.short_names)
    if (taken.resources.contains(name))
      state = {false, "ShortNamesConflict", base::format("\"{}\" is already in use", name)};
  accept(wanted.kind, taken.kinds, accepted.kind, "KindConflict");
  accept(wanted.list_kind, taken.kinds, accepted.list_kind, "ListKindConflict");
  accepted.categories = wanted.categories;
  return state;
}

Json names_json(const KindNames& names) {
  Json json = Json::object({{"plural", names.plural}});
  if (!names.singular.empty()) json.set("singular", names.singular);
  if (!names.short_names.empty()) json.set("shortNames", strings(names.short_names));
  json.set("kind", names.kind);
  if (!names.list_kind.empty()) json.set("listKind", names.list_kind);
  if (!names.categories.empty()) json.set("categories", strings(names.categories));
  return json;
}

void set_approval(Json& object, base::Time now) {
  const std::string_view group = object["spec"]["group"].as_string();
  if (!group.ends_with(".k8s.io") && !group.ends_with(".kubernetes.io")) return;
  const std::string_view approval = api::annotation_of(object, "api-approved.kubernetes.io");
  const bool bypassed = approval.starts_with("unapproved");
  set_condition(object, "KubernetesAPIApprovalPolicyConformant",
                {!bypassed, bypassed ? "UnapprovedAnnotation" : "ApprovedAnnotation",
                 bypassed ? base::format("not approved: \"{}\"", approval) : base::format("approved in {}", approval)},
                now);
}

// Objects may be stored in each of these; an administrator takes out those that none is stored in any more.
void keep_stored_versions(Json& object) {
  std::string storage;
  for (const Json& version : object["spec"]["versions"].items())
    if (version["storage"].as_bool()) storage = version["name"].as_string();
  Json stored = Json::array();
  bool known = false;
  for (const Json& one : object["status"]["storedVersions"].items()) {
    known = known || one.as_string() == storage;
    stored.push_back(one);
  }
  if (!known && !storage.empty()) stored.push_back(storage);
  object.edit("status").set("storedVersions", std::move(stored));
}

}  // namespace

void set_definition_status(Json& object, const std::vector<DefinitionPtr>& all, base::Time now) {
  if (!object["status"].is_object()) object.set("status", Json::object());
  const std::string name(api::name_of(object));
  const std::string group = object["spec"]["group"].str();
  KindNames accepted = KindNames::read(object["status"]["acceptedNames"]);
  const ConditionState state =
      accept_names(KindNames::read(object["spec"]["names"]), Taken(name, group, all), accepted);
  object.edit("status").set("acceptedNames", names_json(accepted));
  set_approval(object, now);
  set_condition(object, "NamesAccepted", state, now);
  const bool was = condition_of(object, "Established")["status"].as_string() == "True";
  if (!was && state.holds)
    set_condition(object, "Established", {true, "InitialNamesAccepted", "the initial names have been accepted"}, now);
  else if (!was)
    set_condition(object, "Established", {false, "NotAccepted", "not all names are accepted"}, now);
  keep_stored_versions(object);
}

void begin_definition_deletion(Json& object, base::Time now) {
  const std::string_view group = object["spec"]["group"].as_string();
  const std::string_view plural = object["spec"]["names"]["plural"].as_string();
  if (std::ranges::any_of(api::all_kinds(), [&](const api::KindInfo& kind) {
        return kind.resource.group == group && kind.resource.plural == plural;
      }))
    return;
  Json finalizers = Json::array();
  for (const Json& one : object["metadata"]["finalizers"].items())
    if (one.as_string() != kDefinitionFinalizer) finalizers.push_back(one);
  finalizers.push_back(kDefinitionFinalizer);
  object.edit("metadata").set("finalizers", std::move(finalizers));
  if (!object["status"].is_object()) object.set("status", Json::object());
  set_condition(object, "Terminating", {true, "InstanceDeletionInProgress", "CustomResource deletion is in progress"},
                now);
}

}  // namespace apiserver
