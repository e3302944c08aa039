// Pods: resource groups of the pod-mutation configuration, and the disruption annotations (webhooks.md 9).
#include <algorithm>
#include <charconv>

#include "admission/rules/names.h"
#include "admission/rules/rules.h"
#include "admission/rules/vocabulary.h"
#include "api/json/yaml.h"
#include "api/meta/resource.h"
#include "base/format.h"

namespace admission {

namespace {

constexpr std::string_view kGate = "scheduling.volcano.sh/queue-allocation-gate";

// The configuration holds text only: what YAML reads as a number or a truth value counts as it was written.
std::string text_of(const Json& value) { return value.is_bool() || value.is_number() ? value.dump() : value.str(); }

bool has_annotation_of(const Json& pod, const std::vector<std::string>& pairs) {
  for (const std::string& pair : pairs) {
    const auto parsed = api::parse_yaml(pair);
    if (!parsed.ok()) continue;
    for (const Json::Member& member : (*parsed).members()) {
      const Json* value = pod["metadata"]["annotations"].find(member.name());
      if (value && value->is_string() && value->as_string() == text_of(member.value)) return true;
    }
  }
  return false;
}

bool matches(const PodGroupRule& rule, const AdmissionRequest& request) {
  const Json& pod = request.object;
  if (rule.key == "namespace") {
    std::string ns(api::namespace_of(pod));
    if (ns.empty()) ns = request.ns;
    return std::find(rule.values.begin(), rule.values.end(), ns) != rule.values.end();
  }
  if (rule.key == "annotation") return has_annotation_of(pod, rule.values);
  if (!rule.key.empty()) return false;
  return has_annotation_of(pod, rule.values) || api::annotation_of(pod, "volcano.sh/resource-group") == rule.name;
}

void apply(const PodGroupRule& rule, Json& pod) {
  Json& spec = pod.edit("spec");
  if (!rule.labels.empty()) {
    Json selector = spec["nodeSelector"].is_object() ? spec["nodeSelector"] : Json::object();
    for (const Json::Member& label : rule.labels.members()) selector.set(label.name(), label.value);
    spec.set("nodeSelector", std::move(selector));
  }
  if (!rule.affinity.empty() && !spec["affinity"].is_object())
    if (auto affinity = api::parse_json(rule.affinity); affinity.ok() && affinity->is_object())
      spec.set("affinity", *affinity);
  if (!rule.tolerations.empty()) {
    Json tolerations = spec["tolerations"].is_array() ? spec["tolerations"] : Json::array();
    for (const Json& toleration : rule.tolerations.items()) tolerations.push_back(toleration);
    spec.set("tolerations", std::move(tolerations));
  }
  if (!rule.scheduler_name.empty()) spec.set("schedulerName", rule.scheduler_name);
}

bool wants_gate(const Json& pod) {
  const Json& gates = pod["spec"]["schedulingGates"];
  if (api::annotation_of(pod, kGate) != "true" || !(gates.is_null() || gates.is_array())) return false;
  for (const Json& gate : pod["spec"]["schedulingGates"].items())
    if (gate["name"].as_string() == kGate) return false;
  return true;
}

// The fault of a number, in Go's words; empty if nothing is.
std::string_view parse_int(std::string_view text, std::int64_t& value) {
  if (text.starts_with("+") && !text.starts_with("+-")) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error == std::errc::invalid_argument || end != text.data() + text.size()) return "invalid syntax";
  return error == std::errc::result_out_of_range ? "value out of range" : "";
}

std::string check_budget(std::string_view value, std::string_view key) {
  std::int64_t number = 0;
  if (parse_int(value, number).empty()) {
    if (number > 0) return {};
    return base::format("invalid value <{}> for {}, it must be a positive integer", quoted(value), key);
  }
  std::string digits(value);
  std::erase(digits, '%');
  if (const std::string_view problem = parse_int(digits, number); !problem.empty())
    return base::format("invalid value strconv.Atoi: parsing {}: {} for {}", quoted(digits), problem, key);
  if (number >= 1 && number <= 99) return {};
  return base::format("invalid value <{}> for {}, it must be a valid percentage which between 1% ~ 99%", quoted(value),
                      key);
}

Json read_toleration(const Json& given) {
  Json toleration = Json::object();
  for (const char* field : {"key", "operator", "value", "effect"})
    if (const std::string text = text_of(given[field]); !text.empty()) toleration.set(field, text);
  for (const char* field : {"tolerationseconds", "tolerationSeconds"})
    if (given[field].is_number()) toleration.set("tolerationSeconds", given[field]);
  return toleration;
}

// Fields that are there must have the right shape; what is not there is no rule.
base::Status check_shape(const Json& document) {
  const auto wrong = [](const std::string& path, std::string_view wanted, const Json& value) {
    return base::make_error(base::Code::kInvalid, base::format("{} must be {}, not {}", path, wanted, value.dump()));
  };
  const Json& groups = document["resourceGroups"];
  if (!document.is_null() && !document.is_object()) return wrong("the file", "a map", document);
  if (!groups.is_null() && !groups.is_array()) return wrong("resourceGroups", "a list", groups);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Json& group = groups.items()[i];
    const std::string at = base::format("resourceGroups[{}]", i);
    if (!group.is_object()) return wrong(at, "a map", group);
    for (const char* field : {"object", "labels"})
      if (!group[field].is_null() && !group[field].is_object()) return wrong(at + "." + field, "a map", group[field]);
    if (!group["tolerations"].is_null() && !group["tolerations"].is_array())
      return wrong(at + ".tolerations", "a list", group["tolerations"]);
    const Json& value = group["object"]["value"];
    if (!value.is_null() && !value.is_array()) return wrong(at + ".object.value", "a list", value);
    if (!group["affinity"].is_null() && !group["affinity"].is_string())
      return wrong(at + ".affinity", "a text", group["affinity"]);
  }
  return {};
}

}  // namespace

AdmissionAnswer default_pod(const AdmissionRequest& request, const Options& options) {
  if (request.operation != api::Operation::kCreate) return refuse("expect operation to be 'CREATE' ");
  // The schema refuses fields of the wrong shape.
  if (!options.pod_rules || !request.object["spec"].is_object()) return {};
  Json pod = request.object;
  bool touched = false;
  if (options.scheduling_gates_queue_admission && wants_gate(pod)) {
    pod.edit("spec").edit("schedulingGates").push_back(Json::object({{"name", kGate}}));
    touched = true;
  }
  for (const PodGroupRule& rule : *options.pod_rules) {
    if (!matches(rule, request)) continue;
    apply(rule, pod);
    touched = true;
    break;
  }
  return touched ? changed(std::move(pod)) : AdmissionAnswer{};
}

AdmissionAnswer check_pod(const AdmissionRequest& request, const Options& options) {
  if (request.operation == api::Operation::kUpdate) return {};
  if (request.operation != api::Operation::kCreate) return refuse("expect operation to be 'CREATE'");
  const Json& pod = request.object;
  const auto& names = options.scheduler_names;
  if (std::find(names.begin(), names.end(), pod["spec"]["schedulerName"].str()) == names.end()) return {};
  int given = 0;
  for (const std::string_view key : {kMinAvailable, kMaxUnavailable}) {
    const Json* value = pod["metadata"]["annotations"].find(key);
    if (!value) continue;
    ++given;
    if (std::string problem = check_budget(value->as_string(), key); !problem.empty())
      return refuse(std::move(problem));
  }
  if (given < 2) return {};
  return refuse(
      base::format("not allow configure multiple annotations <[{} {}]> at same time", kMinAvailable, kMaxUnavailable));
}

base::Result<std::vector<PodGroupRule>> parse_pod_rules(std::string_view yaml) {
  TRY(const Json document, api::parse_yaml(yaml));
  TRY_VOID(check_shape(document));
  std::vector<PodGroupRule> rules;
  for (const Json& given : document["resourceGroups"].items()) {
    PodGroupRule rule{.name = text_of(given["resourceGroup"]),
                      .key = text_of(given["object"]["key"]),
                      .values = {},
                      .scheduler_name = text_of(given["schedulerName"]),
                      .labels = Json::object(),
                      .affinity = given["affinity"].str(),
                      .tolerations = Json::array()};
    for (const Json& value : given["object"]["value"].items()) rule.values.push_back(text_of(value));
    for (const Json::Member& label : given["labels"].members()) rule.labels.set(label.name(), text_of(label.value));
    for (const Json& toleration : given["tolerations"].items()) rule.tolerations.push_back(read_toleration(toleration));
    rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace admission
