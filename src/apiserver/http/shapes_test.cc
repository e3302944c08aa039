// No shape of an object stops the server: every field of every kind, holding a value of every other type, is answered.
#include <gtest/gtest.h>

#include <map>

#include "apiserver/pipeline/api_for_tests.h"
#include "apiserver/pipeline/rights/reviews.h"
#include "base/format.h"

namespace apiserver {
namespace {

using api::Json;
using api::Schema;

constexpr std::size_t kDepthMax = 14;  // schemas of schemas have no end

struct Step {
  std::string name;  // of a member; empty: the first item of a list
  const Schema* schema = nullptr;
};
using Path = std::vector<Step>;

// Something of the schema's type.
Json sample(const Schema& schema, std::size_t depth) {
  switch (schema.kind) {
    case Schema::Kind::kObject: {
      Json object = Json::object();
      if (depth > 0)
        for (const api::SchemaField& field : schema.fields) object.set(field.name, sample(*field.schema, depth - 1));
      return object;
    }
    case Schema::Kind::kMap:
      return depth > 0 ? Json::object({{"k", sample(*schema.element, depth - 1)}}) : Json::object();
    case Schema::Kind::kList: return depth > 0 ? Json::array({sample(*schema.element, depth - 1)}) : Json::array();
    case Schema::Kind::kString:
      if (schema.format == "date-time") return "2026-01-01T00:00:00Z";
      if (schema.format == "micro-time") return "2026-01-01T00:00:00.000000Z";
      return "x";
    case Schema::Kind::kBoolean: return true;
    case Schema::Kind::kQuantity: return "1";
    default: return 1;
  }
}

// Every place in objects of the schema. A type that comes up often is looked into the first two times.
void collect(const Schema& schema, Path& path, std::vector<Path>& found, std::map<const Schema*, int>& seen) {
  if (path.size() >= kDepthMax || (!schema.name.empty() && ++seen[&schema] > 2)) return;
  const auto below = [&](std::string name, const Schema& next) {
    path.push_back({std::move(name), &next});
    found.push_back(path);
    collect(next, path, found, seen);
    path.pop_back();
  };
  if (schema.kind == Schema::Kind::kObject)
    for (const api::SchemaField& field : schema.fields) below(field.name, *field.schema);
  else if (schema.kind == Schema::Kind::kMap)
    below("k", *schema.element);
  else if (schema.kind == Schema::Kind::kList)
    below("", *schema.element);
}

std::string text_of(const Path& path) {
  std::string text;
  for (const Step& step : path) {
    if (step.name.empty())
      text += "[0]";
    else
      text += (text.empty() ? "" : ".") + step.name;
  }
  return text;
}

// `object` with `value` at `path`; what is on the way has its neighbours, `neighbours` levels deep.
Json with(const Json& object, const Path& path, const Json& value, std::size_t neighbours, std::size_t at = 0) {
  if (at == path.size()) return value;
  const Step& step = path[at];
  const Step* next = at + 1 < path.size() ? &path[at + 1] : nullptr;
  if (step.name.empty()) {
    Json list = Json::array();
    list.push_back(with(next ? sample(*step.schema, neighbours) : Json(), path, value, neighbours, at + 1));
    return list;
  }
  Json out = object.is_object() ? object : Json::object();
  Json inner = out[step.name];
  if (!inner.is_object() && next && !next->name.empty()) inner = sample(*step.schema, neighbours);
  out.set(step.name, with(inner, path, value, neighbours, at + 1));
  return out;
}

const Json& at(const Json& object, const Path& path) {
  const Json* here = &object;
  for (const Step& step : path) here = step.name.empty() ? &(*here)[std::size_t{0}] : &(*here)[step.name];
  return *here;
}

bool fits(const Schema& schema, const Json& value) {
  switch (schema.kind) {
    case Schema::Kind::kAny: return true;
    case Schema::Kind::kString: return value.is_string();
    case Schema::Kind::kInteger:
    case Schema::Kind::kNumber: return value.is_number();
    case Schema::Kind::kBoolean: return value.is_bool();
    case Schema::Kind::kIntOrString:
    case Schema::Kind::kQuantity: return value.is_number() || value.is_string();
    case Schema::Kind::kList: return value.is_array();
    case Schema::Kind::kObject:
    case Schema::Kind::kMap: return value.is_object();
  }
  return true;
}

struct Bench : ApiForTests {
  base::Result<Answer> call(Request r) {
    std::optional<base::Result<Answer>> answer;
    api.call(std::move(r), [&](base::Result<Answer> a) { answer.emplace(std::move(a)); });
    while (!answer) env.settle();
    return *std::move(answer);
  }
};

void fill_required(const Schema& schema, Json& object) {
  for (const api::SchemaField& field : schema.fields) {
    if (!field.required || field.name == "metadata") continue;
    Json value = object[field.name];
    if (value.is_null()) value = sample(*field.schema, 0);
    if (value.is_object()) fill_required(*field.schema, value);
    object.set(field.name, std::move(value));
  }
}

// The request is one of a key that is gone: openssl req -new -subj /O=flows/CN=jane
constexpr std::string_view kSigningRequest =
    R"({"spec":{"usages":["client auth"],"signerName":"example.com/s","request":")"
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIYU1JR0JBZ0VBTUI4eERqQU1CZ05WQkFvTUJXWnNiM2R6"
    "TVEwd0N3WURWUVFEREFScVlXNWxNRmt3RXdZSApLb1pJemowQ0FRWUlLb1pJemowREFRY0RRZ0FFc2kwNG8xWk12blVuMjY0"
    "N0ZJcTNLYUp6akNvQWV0TXJ5MmlWClZ3TE1zSkFtbWYwRGFvZTFCZC92Y1NZaGZ6MTYzU0g4c2ZjcmtiUDN0R1pDdWhxVUpx"
    "QUFNQW9HQ0NxR1NNNDkKQkFNQ0EwZ0FNRVVDSURVemxEMlh4R1JjaFpzUkNQRzk5cms3bTBmS0FoVGI2TmZzbmphY0xTUUJB"
    "aUVBa0dMSgpFVTZZdHhHUDNzMnRndTBxNnNxSHVnK3Z3QjZQNXpZcW8xSFE5dnc9Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJF"
    "UVVFU1QtLS0tLQo="
    R"("}})";

constexpr std::string_view kWorkload = R"({"spec":{"selector":{"matchLabels":{"a":"b"}},"template":
    {"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"x"}]}}}})";

// The name of an APIService follows from its group.
std::string name_of(const api::KindInfo& kind, std::string_view letter) {
  return base::format("{}{}", kind.kind == "APIService" ? "v1." : "", letter);
}

// An object of the kind that the server takes.
Json valid(const api::KindInfo& kind, std::string_view letter = "a") {
  static const std::map<std::string, std::string_view> specs = {
      {"Pod", R"({"spec":{"containers":[{"name":"c","image":"x"}]}})"},
      {"PersistentVolumeClaim",
       R"({"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}})"},
      {"PersistentVolume",
       R"({"spec":{"accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"},"hostPath":{"path":"/nowhere"}}})"},
      {"Ingress", R"({"spec":{"defaultBackend":{"service":{"name":"s","port":{"number":80}}}}})"},
      {"APIService", R"({"spec":{"version":"v1","groupPriorityMinimum":1,"versionPriority":1}})"},
      {"IngressClass", R"({"spec":{"controller":"example.com/c"}})"},
      {"PodGroup", R"({"spec":{"schedulingPolicy":{"basic":{}}}})"},
      {"ResourceSlice",
       R"({"spec":{"driver":"example.com","nodeName":"n","pool":{"name":"n","generation":1,"resourceSliceCount":1}}})"},
      {"RoleBinding", R"({"roleRef":{"kind":"Role","name":"r"}})"},
      {"ClusterRoleBinding", R"({"roleRef":{"kind":"ClusterRole","name":"r"}})"},
      {"PriorityClass", R"({"value":7})"},
      {"HorizontalPodAutoscaler",
       R"({"spec":{"maxReplicas":1,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}}})"},
      {"ControllerRevision", R"({"data":{},"revision":1})"},
      {"StorageClass", R"({"provisioner":"example.com/p"})"},
      {"CertificateSigningRequest", kSigningRequest},
      {"Service", R"({"spec":{"clusterIP":"None"}})"},
      {"EndpointSlice", R"({"addressType":"IPv4"})"},
      {"ValidatingAdmissionPolicy",
       R"({"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["*"],
          "resources":["pods"]}]},"validations":[{"expression":"true"}]}})"},
      {"MutatingAdmissionPolicy",
       R"({"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],
          "resources":["pods"]}]},"reinvocationPolicy":"Never","mutations":[{"patchType":"JSONPatch","jsonPatch":
          {"expression":"[]"}}]}})"},
      {"ValidatingAdmissionPolicyBinding", R"({"spec":{"policyName":"b","validationActions":["Deny"]}})"},
      {"MutatingAdmissionPolicyBinding", R"({"spec":{"policyName":"b"}})"},
      {"Notebook", R"({"spec":{"template":{"spec":{"containers":[{"name":"c","image":"x"}]}}}})"},
      {"PVCViewer", R"({"spec":{"pvc":"c"}})"},
      {"ReplicationController", R"({"spec":{"selector":{"a":"b"},"template":
          {"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"x"}]}}}})"},
      {"Deployment", kWorkload},
      {"ReplicaSet", kWorkload},
      {"StatefulSet", kWorkload},
      {"DaemonSet", kWorkload},
      {"batch/Job",
       R"({"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"x"}]}}}})"},
      {"batch/CronJob", R"({"spec":{"schedule":"@hourly","jobTemplate":{"spec":{"template":{"spec":
          {"restartPolicy":"Never","containers":[{"name":"c","image":"x"}]}}}}}})"}};
  const auto found = specs.find(kind.resource.group == "batch" ? "batch/" + kind.kind : kind.kind);
  Json object = found == specs.end() ? Json::object() : *api::parse_json(found->second);
  fill_required(*kind.schema, object);
  if (kind.kind == "APIService") object.edit("spec").set("group", letter);
  object.edit("metadata").set("name", name_of(kind, letter));
  return object;
}

Request request_for(const api::KindInfo& kind, Verb verb, std::string name, Json body) {
  Request r;
  r.verb = verb;
  r.kind = &kind;
  r.resource = static_cast<std::uint32_t>(&kind - api::all_kinds().data());
  if (kind.namespaced) r.ns = "default";
  r.name = std::move(name);
  r.body = std::move(body);
  r.default_manager = "test";
  r.field_manager = "test";
  r.user = {"admin", {"system:masters"}};
  r.dry_run = true;
  r.force = true;
  return r;
}

Json pointer_patch(const Json& before, const Path& path, const Json& value) {
  // One "add" of the topmost part: what is below does not exist yet.
  const Json whole = with(before, path, value, 0);
  return Json::array(
      {Json::object({{"op", "add"}, {"path", "/" + path.front().name}, {"value", whole[path.front().name]}})});
}

// Either it is refused by name, or what is answered does not hold the value.
void expect_handled(const base::Result<Answer>& answer, const Path& path, const Json& value, const std::string& how) {
  if (value.is_null()) return;  // as good as absent
  const std::string place = text_of(path);
  if (answer.ok()) {
    EXPECT_NE(at(object_of(*answer), path), value) << how << " stores " << place << " = " << value.dump();
    return;
  }
  bool named = answer.error().message.find(place) != std::string::npos;
  for (const base::Cause& cause : answer.error().causes) named = named || cause.field.find(place) != std::string::npos;
  EXPECT_TRUE(named) << how << " " << place << " = " << value.dump() << ": " << answer.error().message;
}

bool is_pruned(const api::KindInfo& kind, Json object, const Path& path, const Json& value) {
  api::prune(*kind.schema, object, {.custom_resource = kind.custom}, nullptr);
  return at(object, path) != value;
}

void try_everything(Bench& bench, const api::KindInfo& kind) {
  const std::string name = name_of(kind, "a");
  const auto made = bench.call(request_for(kind, Verb::kCreate, "", valid(kind)));
  ASSERT_TRUE(made.ok()) << kind.kind << ": " << made.error().message;
  Request first = request_for(kind, Verb::kCreate, "", valid(kind));
  first.dry_run = false;
  ASSERT_TRUE(bench.call(std::move(first)).ok());
  auto stored = bench.call(request_for(kind, Verb::kGet, name, {}));
  ASSERT_TRUE(stored.ok()) << kind.kind;
  const Json live = object_of(*std::move(stored));

  std::vector<Path> paths;
  Path path;
  std::map<const Schema*, int> seen;
  collect(*kind.schema, path, paths, seen);
  const std::vector<Json> values = {"x", 7, true, Json::array({Json("x")}), Json::object({{"x", 7}}), Json()};
  for (const Path& place : paths) {
    if (place.front().name == "apiVersion" || place.front().name == "kind") continue;
    for (const Json& value : values) {
      if (fits(*place.back().schema, value)) continue;
      // Metadata of a new object has a name and nothing else.
      const Json fresh = valid(kind, "b");
      const std::size_t near = place.front().name == "metadata" ? 0 : 2;
      const Json made_with = with(fresh, place, value, near);
      const Json live_with = with(live, place, value, 0);
      const auto create = bench.call(request_for(kind, Verb::kCreate, "", made_with));
      const auto update = bench.call(request_for(kind, Verb::kUpdate, name, live_with));
      if (!is_pruned(kind, made_with, place, value)) expect_handled(create, place, value, kind.kind + " create");
      if (!is_pruned(kind, live_with, place, value)) expect_handled(update, place, value, kind.kind + " update");
      for (const PatchType type : {PatchType::kMerge, PatchType::kStrategic, PatchType::kApply, PatchType::kJson}) {
        if (type == PatchType::kStrategic && kind.custom) continue;
        Json body = with(Json::object(), place, value, 0);
        if (type == PatchType::kJson) body = pointer_patch(live, place, value);
        if (type == PatchType::kApply) {
          body.set("apiVersion", kind.resource.api_version());
          body.set("kind", kind.kind);
        }
        Request patch = request_for(kind, Verb::kPatch, name, std::move(body));
        patch.patch_type = type;
        const auto answer = bench.call(std::move(patch));
        if (answer.ok())
          expect_handled(answer, place, value, base::format("{} patch {}", kind.kind, static_cast<int>(type)));
      }
    }
  }
}

TEST(Api, answers_objects_of_any_shape) {
  Bench bench;
  for (const api::KindInfo& kind : api::all_kinds())
    // Definitions have a test of their own (custom/definition_test.cc).
    if (!is_review(kind) && kind.kind != "CustomResourceDefinition") try_everything(bench, kind);
}

// Reviews are answered or refused, whatever stands where: nothing of them is stored.
TEST(Api, answers_reviews_of_any_shape) {
  Bench bench;
  for (const api::KindInfo& kind : api::all_kinds()) {
    if (!is_review(kind)) continue;
    std::vector<Path> paths;
    Path path;
    std::map<const Schema*, int> seen;
    collect(*kind.schema, path, paths, seen);
    for (const Path& place : paths)
      for (const Json& value :
           {Json("x"), Json(7), Json(true), Json::array({Json("x")}), Json::object({{"x", 7}}), Json()}) {
        const auto answer = bench.call(request_for(kind, Verb::kCreate, "", with(valid(kind), place, value, 2)));
        EXPECT_TRUE(answer.ok() || answer.error().code == base::Code::kBadRequest) << kind.kind << text_of(place);
      }
    EXPECT_FALSE(bench.call(request_for(kind, Verb::kGet, "a", {})).ok());
  }
}

}  // namespace
}  // namespace apiserver
