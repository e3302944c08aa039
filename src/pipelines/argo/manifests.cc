// Resource templates: an object of any kind, made and watched until its conditions hold.
#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "api/json/json_path.h"
#include "api/json/yaml.h"
#include "api/meta/resource.h"
#include "base/format.h"
#include "base/split.h"
#include "base/trim.h"
#include "pipelines/argo/operation.h"

namespace pipelines::argo {

using api::Json;
using base::Code;

namespace {

constexpr base::Duration kLook = base::seconds(1);  // between two looks at an object whose condition does not hold yet

std::optional<ManifestAction::Verb> verb_of(std::string_view action) {
  using Verb = ManifestAction::Verb;
  if (action == "create") return Verb::kCreate;
  if (action == "apply" || action == "replace") return Verb::kApply;
  if (action == "patch") return Verb::kPatch;
  if (action == "delete") return Verb::kDelete;
  if (action == "get") return Verb::kGet;
  return std::nullopt;
}

std::string value_at(const Json& object, std::string_view path) {
  const auto parsed = api::JsonPath::parse(base::format(".{}", path));
  if (!parsed.ok()) return {};
  const std::vector<const Json*> found = parsed->find(object);
  return found.empty() ? std::string() : text_of(*found.front());
}

std::optional<double> number_in(std::string_view text) {
  double out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

// Splits at commas outside of parentheses.
std::vector<std::string_view> requirements(std::string_view text) {
  std::vector<std::string_view> out;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at < text.size() && text[at] == '(') ++depth;
    if (at < text.size() && text[at] == ')') --depth;
    if (at < text.size() && (text[at] != ',' || depth > 0)) continue;
    out.push_back(base::trim(text.substr(begin, at - begin), base::kAllBlanks));
    begin = at + 1;
  }
  return out;
}

base::Result<bool> meets_one(std::string_view text, const Json& object) {
  if (const std::size_t open = text.find('('); open != std::string_view::npos && text.ends_with(')')) {
    const std::string_view head = base::trim(text.substr(0, open), base::kAllBlanks);
    const bool is_not = head.ends_with(" notin"), is_in = head.ends_with(" in");
    if (is_not || is_in) {
      const std::string_view path = base::trim(head.substr(0, head.rfind(' ')), base::kAllBlanks);
      const std::string value = value_at(object, path);
      bool found = false;
      for (const std::string_view one : base::split(text.substr(open + 1, text.size() - open - 2), ','))
        found = found || base::trim(one, base::kAllBlanks) == value;
      return found != is_not;
    }
  }
  for (const std::string_view sign : {"!=", "==", ">=", "<=", "=", ">", "<"}) {
    const std::size_t at = text.find(sign);
    if (at == std::string_view::npos) continue;
    const std::string value = value_at(object, base::trim(text.substr(0, at), base::kAllBlanks));
    const std::string_view wanted = base::trim(text.substr(at + sign.size()), base::kAllBlanks);
    if (sign == "=" || sign == "==") return value == wanted;
    if (sign == "!=") return value != wanted;
    const auto a = number_in(value), b = number_in(wanted);
    if (!a || !b) return false;
    return sign == ">" ? *a > *b : sign == "<" ? *a < *b : sign == ">=" ? *a >= *b : *a <= *b;
  }
  return base::make_error(Code::kInvalid,
                          base::format("{:?} is not a condition such as FIELD = VALUE", text.substr(0, 80)));
}

// The manifest with what tells it apart; an error names the field.
base::Result<Json> read_manifest(const Json& resource, std::string_view ns, const std::string& node,
                                 const Json& owner) {
  TRY(Json manifest, api::parse_yaml(resource["manifest"].as_string()));
  if (!manifest.is_object() || manifest["kind"].as_string().empty() || manifest["apiVersion"].as_string().empty())
    return base::make_error(Code::kInvalid, "resource.manifest: it has no apiVersion or kind");
  Json metadata = manifest["metadata"].is_object() ? manifest["metadata"] : Json::object();
  // A name that the server makes would be another one after an end of the controller.
  if (metadata["name"].as_string().empty() && !metadata["generateName"].as_string().empty()) {
    metadata.set("name", metadata["generateName"].str() + node.substr(node.rfind('-') + 1));
    metadata.erase("generateName");
  }
  if (metadata["name"].as_string().empty())
    return base::make_error(Code::kInvalid, "resource.manifest: metadata.name is missing");
  if (metadata["namespace"].as_string().empty()) metadata.set("namespace", ns);
  Json annotations = metadata["annotations"].is_object() ? metadata["annotations"] : Json::object();
  annotations.set(kNodeAnnotation, node);
  metadata.set("annotations", std::move(annotations));
  if (resource["setOwnerReference"].as_bool()) metadata.set("ownerReferences", Json::array({owner}));
  manifest.set("metadata", std::move(metadata));
  return manifest;
}

}  // namespace

base::Result<bool> meets(std::string_view condition, const Json& object) {
  bool all = true;
  for (const std::string_view one : requirements(condition)) {
    TRY(const bool met, meets_one(one, object));
    all = all && met;
  }
  return all;
}

base::Result<Json> manifest_outputs(const Json& spec, const Json& object) {
  Json parameters = Json::array();
  for (const Json& one : spec["outputs"]["parameters"].items()) {
    const Json& from = one["valueFrom"];
    const std::string name = one["name"].str();
    std::string value;
    if (from["jsonPath"].is_string()) {
      std::string_view path = base::trim(from["jsonPath"].as_string(), base::kAllBlanks);
      if (path.starts_with('{') && path.ends_with('}')) path = path.substr(1, path.size() - 2);
      if (path.empty()) {
        parameters.push_back(Json::object({{"name", name}, {"value", object.dump()}}));
        continue;
      }
      const auto parsed = api::JsonPath::parse(path);
      if (!parsed.ok())
        return base::make_error(Code::kInvalid,
                                base::format("outputs.parameters.{}: {}", name, parsed.error().message));
      const std::vector<const Json*> found = parsed->find(object);
      if (!found.empty()) value = text_of(*found.front());
      if (found.empty()) value = text_of(from["default"].is_null() ? Json("") : from["default"]);
    } else if (from["jqFilter"].is_string()) {
      return base::make_error(Code::kInvalid,
                              base::format("outputs.parameters.{}: jqFilter is not supported here", name));
    }
    parameters.push_back(Json::object({{"name", name}, {"value", value}}));
  }
  if (parameters.empty()) return Json();
  return Json::object({{"parameters", std::move(parameters)}});
}

const Node* Operation::manifest(const Call& call, const Json& spec, const Inputs& inputs) {
  using Verb = ManifestAction::Verb;
  auto filled = fill_all(spec, inputs.variables);
  if (!filled.ok()) return nodes_.fail(call, filled.error().message);
  const Json& resource = (*filled)["resource"];
  const auto verb = verb_of(resource["action"].as_string());
  if (!verb) return nodes_.fail(call, base::format("resource.action: {:?} is none", resource["action"].as_string()));
  const std::string id = node_id(workflow_, call.name);
  auto object = read_manifest(resource, ns_, id, owner_of(look_.workflow));
  if (!object.ok()) return nodes_.fail(call, object.error().message);
  const std::string account = account_of(look_.workflow, *filled);
  Node* node = nodes_.find(call.name);
  if (node == nullptr) {
    if (!may_start()) return nullptr;
    node = &nodes_.begin(call, "Resource", Phase::kPending);
    node->inputs = inputs.values;
  }
  const ManifestState state = look_.manifest(id);
  if (!state.refusal.empty()) return nodes_.end(*node, Phase::kError, state.refusal);
  if (node->phase == Phase::kPending && *verb != Verb::kGet) {
    out_.manifests.push_back({*verb, id, account, *std::move(object)});
    node->phase = Phase::kRunning;
    if (*verb == Verb::kDelete) return nodes_.end(*node, Phase::kSucceeded);
    look_within({});
    return node;
  }
  node->phase = Phase::kRunning;
  out_.manifests.push_back({Verb::kGet, id, account, *object});
  if (!state.is_known) {
    look_within({});  // at the answer
    return node;
  }
  if (state.object.is_null()) return nodes_.end(*node, Phase::kError, "the object of the resource is not there");
  if (*verb == Verb::kCreate && api::annotation_of(state.object, kNodeAnnotation) != id)
    return nodes_.end(*node, Phase::kError,
                      base::format("{} {:?} was there before", (*object)["kind"].as_string(), api::name_of(*object)));
  for (const auto& [field, phase] :
       {std::pair{"failureCondition", Phase::kFailed}, {"successCondition", Phase::kSucceeded}}) {
    const std::string condition = resource[std::string_view(field)].str();
    if (condition.empty() && phase == Phase::kFailed) continue;
    const auto met = condition.empty() ? base::Result<bool>(true) : meets(condition, state.object);
    if (!met.ok()) return nodes_.end(*node, Phase::kError, base::format("resource.{}: {}", field, met.error().message));
    if (!*met) continue;
    out_.manifests.pop_back();
    if (phase == Phase::kFailed) return nodes_.end(*node, phase, base::format("{} holds", condition));
    auto outputs = manifest_outputs(spec, state.object);
    if (!outputs.ok()) return nodes_.end(*node, Phase::kError, outputs.error().message);
    node->outputs = *std::move(outputs);
    return nodes_.end(*node, phase);
  }
  look_within(kLook);
  return node;
}

}  // namespace pipelines::argo
