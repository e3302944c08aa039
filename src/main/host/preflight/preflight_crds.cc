// Do a cluster's definitions of our kinds, and the objects that are stored under them, fit ours?
#include <algorithm>
#include <set>

#include "api/cel/structural_rules.h"
#include "api/crd.h"
#include "api/schema/structural/structural.h"
#include "api/schema_differences.h"
#include "base/format.h"
#include "main/host/preflight/preflight.h"

namespace volcano_main {
namespace {

using api::Json;
using base::Code;
using Level = Finding::Level;

// The paths of all fields of a schema: "spec.tasks[].name".
void add_fields(const Json& schema, const std::string& path, std::set<std::string>& out) {
  for (const Json::Member& member : schema["properties"].members()) {
    const std::string inner = path.empty() ? std::string(member.name()) : base::format("{}.{}", path, member.name());
    out.insert(inner);
    add_fields(member.value, inner, out);
  }
  if (schema["items"].is_object()) add_fields(schema["items"], path + "[]", out);
  if (schema["additionalProperties"].is_object()) add_fields(schema["additionalProperties"], path + "{}", out);
}

const Json& version_named(const Json& crd, std::string_view name) {
  static const Json kNone;
  const Json& versions = crd["spec"]["versions"];
  for (std::size_t i = 0; i < versions.size(); ++i)
    if (versions[i]["name"].as_string() == name) return versions[i];
  return kNone;
}

void compare_crd(const std::string& name, const Json& there, const Json& ours, std::string_view version,
                 Findings& out) {
  const auto problem = [&](std::string text) { out.push_back({Level::kProblem, base::format("{} {}", name, text)}); };
  for (const char* field : {"scope"})
    if (there["spec"][field].as_string() != ours["spec"][field].as_string())
      problem(base::format("has {} {} instead of {}; that cannot be changed", field, there["spec"][field].as_string(),
                           ours["spec"][field].as_string()));
  if (there["spec"]["names"]["kind"].as_string() != ours["spec"]["names"]["kind"].as_string())
    problem(base::format("is of kind {}", there["spec"]["names"]["kind"].as_string()));
  const Json& served = version_named(there, version);
  if (served.is_null() || !served["served"].as_bool()) problem(base::format("does not serve {}", version));
  const Json& stored = there["status"]["storedVersions"];
  for (std::size_t i = 0; i < stored.size(); ++i)
    if (stored[i].as_string() != version)
      problem(base::format("has objects that are stored as {}; they have to be written anew as {} first",
                           stored[i].as_string(), version));
  std::set<std::string> before, after, lost, won;
  add_fields(served["schema"]["openAPIV3Schema"], "", before);
  add_fields(version_named(ours, version)["schema"]["openAPIV3Schema"], "", after);
  std::ranges::set_difference(before, after, std::inserter(lost, lost.end()));
  std::ranges::set_difference(after, before, std::inserter(won, won.end()));
  if (!lost.empty())
    out.push_back(
        {Level::kChange, base::format("{} loses {} fields that are not known here, and objects lose them when "
                                      "they are written: {}",
                                      name, lost.size(), some_of(lost))});
  if (!won.empty())
    out.push_back({Level::kChange, base::format("{} gets {} more fields: {}", name, won.size(), some_of(won))});
  if (lost.empty() && won.empty()) out.push_back({Level::kGood, base::format("{} has the same fields", name)});
  const std::vector<std::string> narrower = api::narrower_places(
      served["schema"]["openAPIV3Schema"], version_named(ours, version)["schema"]["openAPIV3Schema"]);
  if (!narrower.empty())
    out.push_back({Level::kChange,
                   base::format("{} accepts less than before: {}", name, some_of({narrower.begin(), narrower.end()}))});
}

// A server's answer to an object that is written anew under our definition.
class StoredObjects {
 public:
  explicit StoredObjects(const Json& schema)
      : root_(api::read_structural(schema, "", ignored_)), rules_(root_, "", patterns_, ignored_) {}

  void look_at(Json object) {
    ++looked_at_;
    api::prune(root_, object, nullptr);
    api::apply_defaults(root_, object);
    std::vector<base::Cause> causes;
    api::validate(root_, object, Json(), causes);
    if (causes.empty()) rules_.check(object, Json(), api::cel::kRulesCostMax, causes);
    if (causes.empty()) return;
    // A value of another type, or one that is missing, is not what our programs read; one beyond a limit is.
    const auto is_of_shape = [](const base::Cause& one) {
      return one.reason == "FieldValueTypeInvalid" || one.reason == "FieldValueRequired";
    };
    const auto worst = std::ranges::find_if(causes, is_of_shape);
    const base::Cause& reported = worst == causes.end() ? causes.front() : *worst;
    (worst == causes.end() ? beyond_ : misshapen_)
        .insert(base::format("{}: {}: {}", api::key_of(object), reported.field, reported.message));
  }
  void report(const std::string& name, Findings& out) const {
    if (!misshapen_.empty())
      out.push_back(
          {Level::kProblem, base::format("{}: {} of {} stored objects have not the form that is asked for here, "
                                         "and would be left out; correct or delete them: {}",
                                         name, misshapen_.size(), looked_at_, some_of(misshapen_))});
    if (!beyond_.empty())
      out.push_back({Level::kChange, base::format("{}: {} of {} stored objects have values that could not be written "
                                                  "anew: {}",
                                                  name, beyond_.size(), looked_at_, some_of(beyond_))});
  }

 private:
  std::vector<base::Cause> ignored_;  // of a definition of ours
  api::cel::Patterns patterns_;
  api::Structural root_;
  api::cel::StructuralRules rules_;
  std::size_t looked_at_ = 0;
  std::set<std::string> misshapen_, beyond_;
};

using AsStored = std::function<base::Result<Json>(const client::Request&)>;

void check_objects(const AsStored& as_stored, const std::string& name, const api::KindInfo& kind, const Json& ours,
                   Findings& out) {
  constexpr int kPage = 500, kPagesMax = 20'000;
  StoredObjects objects(version_named(ours, kind.resource.version)["schema"]["openAPIV3Schema"]);
  client::Request request{.verb = client::Verb::kList, .resource = kind.resource};
  request.limit = kPage;
  for (int page = 0; page < kPagesMax; ++page) {
    const auto list = as_stored(request);
    if (!list.ok()) {
      out.push_back(
          {Level::kChange, base::format("{}: whether stored objects have the form that is asked for here cannot "
                                        "be seen: {}",
                                        name, list.error().message)});
      break;
    }
    for (const Json& object : (*list)["items"].items()) objects.look_at(object);
    request.continue_token = (*list)["metadata"]["continue"].str();
    if (request.continue_token.empty()) break;
  }
  objects.report(name, out);
}

}  // namespace

void check_crds(cli::Api& api, const AsStored& as_stored, Findings& out) {
  const api::ResourceId crds{"apiextensions.k8s.io", "v1", "customresourcedefinitions"};
  std::set<std::string> missing;
  for (const api::KindInfo& kind : api::all_kinds()) {
    if (!kind.custom || !kind.resource.group.ends_with("volcano.sh")) continue;
    const std::string name = api::qualified_plural(kind);
    const auto there = get_object(api, crds, "", name);
    if (there.ok()) {
      const Json ours = api::make_crd(kind);
      compare_crd(name, *there, ours, kind.resource.version, out);
      if (version_named(*there, kind.resource.version)["served"].as_bool())
        check_objects(as_stored, name, kind, ours, out);
    } else if (there.error().code == Code::kNotFound) {
      missing.insert(name);
    } else {
      return out.push_back({Level::kProblem, base::format("CRDs cannot be read: {}", there.error().message)});
    }
  }
  if (!missing.empty())
    out.push_back(
        {Level::kChange, base::format("{} CRDs are not there, and come with the chart or `volcano crd | kubectl "
                                      "apply --server-side -f -`: {}",
                                      missing.size(), some_of(missing))});
}

}  // namespace volcano_main
