// Queues: defaults (webhooks.md 6) and the rules of one queue by itself (7.1, step A and C; 7.2).
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <set>

#include "admission/rules/names.h"
#include "admission/rules/queue_access.h"
#include "admission/rules/queue_tree.h"
#include "admission/rules/rules.h"
#include "admission/rules/vocabulary.h"
#include "api/kinds.h"
#include "api/meta/resource.h"
#include "api/schema/quantity.h"
#include "base/format.h"
#include "base/split.h"

namespace admission {

namespace {

constexpr std::string_view kDeserved = "requestBody.spec.deserved";

std::string unexpected(api::Operation operation, std::string_view expected) {
  return base::format("invalid operation `{}`, expect operation to be {}", word(operation), expected);
}

bool is_whole_only(std::string_view name) {
  for (const std::string_view one : kCountedResources)
    if (name == one) return true;
  return name.find('/') != std::string_view::npos && name.find("kubernetes.io/") == std::string_view::npos &&
         !name.starts_with("requests.");
}

void check_amounts(const Json& list, std::string_view field, std::vector<std::string>& problems) {
  for (const Json::Member& member : list.members()) {
    const auto quantity = api::Quantity::from_json(member.value);
    if (!quantity) continue;  // the schema has refused it
    const std::string path = base::format("requestBody.spec.{}.{}", field, member.name());
    if (quantity->sign() < 0)
      problems.push_back(
          base::format("{}: Invalid value: \"{}\": must be greater than or equal to 0", path, quantity->to_string()));
    if (is_whole_only(member.name()) && quantity->milli_value() % 1000 != 0)
      problems.push_back(base::format("{}: Invalid value: \"{}\": must be an integer", path, quantity->to_string()));
  }
}

void check_order(const Json& spec, std::vector<std::string>& problems) {
  const auto capability = api::resource_list_from(spec["capability"]);
  const auto deserved = api::resource_list_from(spec["deserved"]);
  for (const auto& [name, least] : api::resource_list_from(spec["guarantee"]["resource"])) {
    const auto found = deserved.find(name);
    if (found == deserved.end())
      problems.push_back(base::format("{0}.{1}: Invalid value: \"<nil>\": deserved[{1}] must be >= guarantee[{1}]={2}",
                                      kDeserved, name, least.to_string()));
    else if (found->second < least)
      problems.push_back(
          base::format("{0}.{1}: Invalid value: \"{2}\": deserved[{1}]={2} must be >= guarantee[{1}]={3}", kDeserved,
                       name, found->second.to_string(), least.to_string()));
  }
  for (const auto& [name, share] : deserved)
    if (const auto most = capability.find(name); most != capability.end() && share > most->second)
      problems.push_back(
          base::format("{0}.{1}: Invalid value: \"{2}\": deserved[{1}]={2} must be <= capability[{1}]={3}", kDeserved,
                       name, share.to_string(), most->second.to_string()));
}

// C reads "0x10"; Go wants an exponent, and so the weight would be another one there.
bool is_bare_hexadecimal(std::string_view number) {
  return number.find_first_of("xX") != std::string_view::npos && number.find_first_of("pP") == std::string_view::npos;
}

// Go lets a number's digits be separated; empty: not as Go does.
std::string without_separators(std::string_view number) {
  std::string out;
  for (std::size_t i = 0; i < number.size(); ++i) {
    if (number[i] != '_') {
      out += number[i];
      continue;
    }
    const auto is_digit = [&](std::size_t at) {
      return at < number.size() && std::isxdigit(static_cast<unsigned char>(number[at]));
    };
    if (i == 0 || !is_digit(i - 1) || !is_digit(i + 1)) return {};
  }
  return out;
}

// The first problem of the hierarchy annotations, or empty.
std::string check_hierarchy(const Json& queue, const ObjectReader& objects) {
  const std::string hierarchy(api::annotation_of(queue, kHierarchy));
  const std::string weights(api::annotation_of(queue, kWeights));
  if (hierarchy.empty() && weights.empty()) return {};
  const auto problem = [](const std::string& value, const std::string& why) {
    return base::format("requestBody.metadata.annotations: Invalid value: {}: {}", quoted(value), why);
  };
  const std::vector<std::string_view> parts = base::split(weights, '/');
  if (base::split(hierarchy, '/').size() != parts.size())
    return problem(hierarchy, base::format("{} must have the same length with {}", kHierarchy, kWeights));
  for (const std::string_view piece : parts) {
    const std::string part(piece);
    const std::string digits = without_separators(part);
    char* end = nullptr;
    errno = 0;
    const double weight = std::strtod(digits.c_str(), &end);
    const bool is_number = !digits.empty() && *end == '\0' &&
                           !std::isspace(static_cast<unsigned char>(digits.front())) && !is_bare_hexadecimal(digits);
    if (!is_number || (errno == ERANGE && std::isinf(weight)))
      return problem(weights, base::format("{} in the {} is invalid number: strconv.ParseFloat: parsing {}: {}", part,
                                           weights, quoted(part), is_number ? "value out of range" : "invalid syntax"));
    if (!(weight > 0)) return problem(weights, base::format("{} in the {} must be larger than 0", part, weights));
  }
  static const api::TextField kHierarchyField{api::resources::kQueues,
                                              {"metadata", "annotations", std::string(kHierarchy)}};
  if (hierarchy.empty()) return {};
  for (const Json& other : objects.list_by(kHierarchyField, hierarchy + "/", true))
    if (api::name_of(other) != api::name_of(queue))
      return problem(hierarchy, base::format("{} is not allowed to be in the sub path of {} of queue {}", hierarchy,
                                             api::annotation_of(other, kHierarchy), api::name_of(other)));
  return {};
}

std::string check_fields(const Json& queue, const Json& old_queue, const ObjectReader& objects) {
  const Json& spec = queue["spec"];
  std::vector<std::string> problems;
  check_amounts(spec["capability"], "capability", problems);
  check_amounts(spec["deserved"], "deserved", problems);
  check_amounts(spec["guarantee"]["resource"], "guarantee.resource", problems);
  check_order(spec, problems);
  // COMPAT(queue-state-on-update): the server puts the stored state back before it asks; that one was not the user's.
  if (const std::string state = queue["status"]["state"].str();
      !state.empty() && state != "Open" && state != "Closed" && state != old_queue["status"]["state"].as_string())
    problems.push_back(
        base::format("requestBody.spec.state: Invalid value: {}: queue state must be in [Open Closed]", quoted(state)));
  if (std::string problem = check_hierarchy(queue, objects); !problem.empty()) problems.push_back(std::move(problem));
  for (std::string& problem : check_access_lists(queue)) problems.push_back(std::move(problem));
  std::set<std::string_view> seen;
  std::vector<std::string> unique;
  for (const std::string& one : problems)
    if (seen.insert(one).second) unique.push_back(one);
  if (unique.size() <= 1) return unique.empty() ? std::string() : unique.front();
  return base::format("[{}]", join(unique, ", "));
}

std::string check_delete(const AdmissionRequest& request, const ObjectReader& objects, const Options& options) {
  // The deletion of a collection names none.
  const std::string name = request.name.empty() ? std::string(api::name_of(request.old_object)) : request.name;
  if (name == "default") return "`default` queue can not be deleted";
  if (name == "root") return "`root` queue can not be deleted";
  const auto queue = objects.find(api::resources::kQueues, "", name);
  if (!queue) return queue_not_found(name);
  if (const std::int64_t pods = allocated_pods(*queue); options.queue_allocated_pods_check && pods != 0)
    return base::format("queue {} cannot be deleted because it has allocated Pods: {}", name, pods);
  std::vector<std::string> children;
  for (const Json& other : objects.list_by(parent_field(), name)) children.emplace_back(api::name_of(other));
  if (children.empty()) return {};
  return base::format("queue {} can not be deleted because it has {} child queues: {}", name, children.size(),
                      join(children, ", "));
}

std::string check_queue_text(const AdmissionRequest& request, const ObjectReader& objects, const Options& options) {
  const bool is_update = request.operation == api::Operation::kUpdate;
  if (request.operation == api::Operation::kDelete) return check_delete(request, objects, options);
  if (request.operation != api::Operation::kCreate && !is_update)
    return unexpected(request.operation, "`CREATE`, `UPDATE` or `DELETE`");
  const Json& queue = request.object;
  if (std::string text = check_fields(queue, request.old_object, objects); !text.empty()) return text;
  const Json& spec = queue["spec"];
  const Json& old_spec = request.old_object["spec"];
  const bool moved = !is_update || spec["parent"].as_string() != old_spec["parent"].as_string();
  if (moved)
    if (std::string text = check_parent(queue, objects, options.queue_depth_max); !text.empty()) return text;
  bool resized = false;
  const api::Schema& schema = *api::find_kind(api::resources::kQueues)->schema->field("spec")->schema;
  for (const char* field : {"capability", "deserved", "guarantee"})
    resized = resized || !semantically_equal(*schema.field(field)->schema, spec[field], old_spec[field]);
  const bool is_root = api::name_of(queue) == "root";
  if (is_update && is_root && options.root_queue_protection && resized) return std::string(kFrozenRoot);
  if (!is_root && (moved || resized)) return check_tree_resources(queue, objects);
  return {};
}

}  // namespace

AdmissionAnswer default_queue(const AdmissionRequest& request) {
  if (request.operation != api::Operation::kCreate) return refuse(unexpected(request.operation, "`CREATE`"));
  Json queue = request.object;
  if (!queue.is_object()) return {};
  const std::string hierarchy(api::annotation_of(queue, kHierarchy));
  const std::string weights(api::annotation_of(queue, kWeights));
  if (!hierarchy.empty() && !weights.empty() && !hierarchy.starts_with("root")) {
    Json& annotations = queue.edit_path({"metadata", "annotations"});
    annotations.set(kHierarchy, "root/" + hierarchy);
    annotations.set(kWeights, "1/" + weights);
  }
  if (queue["spec"].is_null()) queue.set("spec", Json::object());
  if (!queue["spec"].is_object()) return {};
  Json& spec = queue.edit("spec");
  if (spec["reclaimable"].is_null()) spec.set("reclaimable", true);
  if (is_unset_number(spec["weight"])) spec.set("weight", 1);
  return changed(std::move(queue));
}

AdmissionAnswer check_queue(const AdmissionRequest& request, const ObjectReader& objects, const Options& options) {
  std::string message = check_queue_text(request, objects, options);
  return message.empty() ? AdmissionAnswer{} : refuse(std::move(message));
}

}  // namespace admission
