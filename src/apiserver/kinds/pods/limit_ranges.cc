// Bounds of one container, of a pod as a whole, and of a claim.
#include "apiserver/kinds/pods/limit_ranges.h"

#include <algorithm>
#include <set>
#include <vector>

#include "api/json/limits.h"
#include "api/json/problems.h"
#include "api/meta/resource.h"
#include "api/pod_requests.h"
#include "api/pods/pod_spec.h"
#include "api/schema/field_errors.h"
#include "api/schema/names.h"
#include "apiserver/kinds/cause_limit.h"
#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/rows.h"
#include "base/format.h"

namespace apiserver {

using api::Json;
using api::Quantity;
using api::ResourceList;
using base::format;

namespace {

const api::ResourceId kLimitRanges{"", "v1", "limitranges"};
constexpr std::string_view kAnnotation = "kubernetes.io/limit-ranger";

struct Amounts {
  ResourceList requests;
  ResourceList limits;
};

const Quantity* amount_in(const ResourceList& list, std::string_view name) {
  const auto found = list.find(name);
  return found == list.end() ? nullptr : &found->second;
}

// The bounds of one item for one resource.
struct Bound {
  std::string_view type;  // Container, Pod, PersistentVolumeClaim
  std::string_view resource;
  Quantity amount;

  std::string message(std::string_view which, std::string_view rest) const {
    return format("{} {} usage per {} is {}{}", which, resource, type, amount.to_string(), rest);
  }
};

void check_min(const Bound& bound, const Amounts& of, std::vector<std::string>& problems) {
  const Quantity *request = amount_in(of.requests, bound.resource), *limit = amount_in(of.limits, bound.resource);
  if (!request)
    problems.push_back(bound.message("minimum", ". No request is specified"));
  else if (*request < bound.amount)
    problems.push_back(bound.message("minimum", ", but request is " + request->to_string()));
  else if (limit && *limit < bound.amount)
    problems.push_back(bound.message("minimum", ", but limit is " + limit->to_string()));
}

void check_max(const Bound& bound, const Amounts& of, std::vector<std::string>& problems) {
  const Quantity *request = amount_in(of.requests, bound.resource), *limit = amount_in(of.limits, bound.resource);
  const bool claim = bound.type == "PersistentVolumeClaim";  // these have no limits
  if (claim ? !request : !limit)
    problems.push_back(bound.message("maximum", claim ? ". No request is specified" : ". No limit is specified"));
  else if (!claim && *limit > bound.amount)
    problems.push_back(bound.message("maximum", ", but limit is " + limit->to_string()));
  else if (request && *request > bound.amount)
    problems.push_back(bound.message("maximum", ", but request is " + request->to_string()));
}

void check_ratio(const Bound& bound, const Amounts& of, std::vector<std::string>& problems) {
  const Quantity *request = amount_in(of.requests, bound.resource), *limit = amount_in(of.limits, bound.resource);
  const auto message = [&](const std::string& rest) {
    problems.push_back(format("{} max limit to request ratio per {} is {}, but {}", bound.resource, bound.type,
                              bound.amount.to_string(), rest));
  };
  if (!request || request->is_zero()) return message("no request is specified or request is 0");
  if (!limit || limit->is_zero()) return message("no limit is specified or limit is 0");
  const double ratio = limit->as_double() / request->as_double();
  // Doubles of equal ratios may differ in their last digit.
  if (ratio > bound.amount.as_double() * (1 + 1e-12)) message(format("provided ratio is {:.6f}", ratio));
}

// One item of a range. Its lists are read once, however many containers are held to them.
struct Bounds {
  explicit Bounds(const Json& item)
      : type(item["type"].as_string()),
        min(api::resource_list_from(item["min"])),
        max(api::resource_list_from(item["max"])),
        ratio(api::resource_list_from(item["maxLimitRequestRatio"])) {}

  std::string_view type;
  ResourceList min, max, ratio;
};

// The limit of problems reported for one object; more is not looked for, as each of a thousand containers may miss a
// thousand resources.
bool is_enough(const std::vector<std::string>& problems) { return problems.size() >= api::kProblemsMax; }

void check_item(const Bounds& bounds, const Amounts& of, std::vector<std::string>& problems) {
  const auto check = [&](const ResourceList& list, auto check_one) {
    for (auto row = list.begin(); row != list.end() && !is_enough(problems); ++row)
      check_one({bounds.type, row->first, row->second}, of, problems);
  };
  check(bounds.min, check_min);
  check(bounds.max, check_max);
  check(bounds.ratio, check_ratio);
}

void check_pod_by(const Bounds& bounds, const Json& spec, std::vector<std::string>& problems) {
  if (bounds.type == "Pod")
    return check_item(bounds, {api::pod_total(spec, "requests"), api::pod_total(spec, "limits")}, problems);
  if (bounds.type != "Container") return;
  for (const char* list : {"containers", "initContainers"})
    for (const Json& container : spec[list].items()) {
      if (is_enough(problems)) return;
      const Json& resources = container["resources"];
      check_item(bounds, {api::resource_list_from(resources["requests"]), api::resource_list_from(resources["limits"])},
                 problems);
    }
}

// The defaults of one item.
struct Defaults {
  ResourceList requests, limits;
};

// The names that were missing: "cpu, memory".
std::string fill(Json& resources, std::string_view side, const ResourceList& defaults, std::size_t& room) {
  std::string filled;
  for (const auto& [name, amount] : defaults) {
    if (!resources[side].is_null() && (!resources[side].is_object() || resources[side].has(name))) continue;
    if (room == 0) break;
    room -= std::min(room, name.size());
    resources.edit(side).set(name, amount.to_json());
    filled += (filled.empty() ? "" : ", ") + name;
  }
  return filled;
}

void fill_container(const Defaults& defaults, Json& container, std::vector<std::string>& defaults_set, bool init,
                    std::size_t& room) {
  if (!container["resources"].is_null() && !container["resources"].is_object()) return;
  Json& resources = container.edit("resources");
  const std::string name = (init ? "init container " : "container ") + container["name"].str();
  const std::string requests = fill(resources, "requests", defaults.requests, room);
  const std::string limits = fill(resources, "limits", defaults.limits, room);
  if (!requests.empty()) defaults_set.push_back(format("{} request for {}", requests, name));
  if (!limits.empty()) defaults_set.push_back(format("{} limit for {}", limits, name));
}

// The first of two amounts of one resource must not be larger.
struct Order {
  const char *low, *low_words, *high, *high_words;
};
constexpr Order kOrders[] = {{"min", "min", "max", "max"},
                             {"min", "min", "default", "default"},
                             {"min", "min", "defaultRequest", "default request"},
                             {"defaultRequest", "default request", "max", "max"},
                             {"defaultRequest", "default request", "default", "default limit"},
                             {"default", "default", "max", "max"}};

void check_orders(const Json& item, const std::string& path, api::FieldErrors& errors) {
  for (const Order& order : kOrders)
    for (const Json::Member& row : item[order.low].members()) {
      if (errors.is_full()) return;
      const auto low = Quantity::from_json(row.value), high = Quantity::from_json(item[order.high][row.name()]);
      if (low && high && *low > *high)
        errors.invalid(format("{}.{}[{}]", path, order.low, row.name()), row.value,
                       format("{} value {} is greater than {} value {}", order.low_words, low->to_string(),
                              order.high_words, high->to_string()));
    }
  for (const Json::Member& row : item["maxLimitRequestRatio"].members()) {
    if (errors.is_full()) return;
    if (const auto ratio = Quantity::from_json(row.value); ratio && *ratio < Quantity::from_int(1))
      errors.invalid(format("{}.maxLimitRequestRatio[{}]", path, row.name()), row.value,
                     format("ratio {} is less than 1", ratio->to_string()));
  }
}

// Amounts of containers and pods are of what these can ask for.
void check_names(const Json& item, const std::string& path, api::FieldErrors& errors) {
  const std::string_view type = item["type"].as_string();
  const bool of_containers = type == "Container" || type == "Pod";
  for (const char* part : {"max", "min", "default", "defaultRequest", "maxLimitRequestRatio"})
    for (const Json::Member& row : item[part].members()) {
      const std::string where = format("{}.{}[{}]", path, part, row.name());
      if (of_containers)
        api::check_container_resource_name(row.name(), where, errors);
      else
        api::check_resource_name(row.name(), where, errors);
    }
}

}  // namespace

void default_limit_range(Json& object) {
  if (!object["spec"].is_object()) return;
  set_if_absent(object.edit("spec"), "limits", Json::array());  // a range without limits limits nothing
  if (!object["spec"]["limits"].is_array()) return;
  for (std::size_t i = 0; i < object["spec"]["limits"].size(); ++i) {
    if (object["spec"]["limits"][i]["type"].as_string() != "Container") continue;
    Json& item = object.edit("spec").edit("limits").edit(i);
    for (const auto& [target, source] :
         {std::pair{"default", "max"}, {"defaultRequest", "default"}, {"defaultRequest", "min"}}) {
      const Json from = item[source];
      if (!item[target].is_null() && !item[target].is_object()) continue;
      for (const Json::Member& row : from.members())
        if (!item[target].has(row.name())) item.edit(target).set(row.name(), row.value);
    }
  }
}

void check_limit_range(const Json& object, api::FieldErrors& errors) {
  std::set<std::string, std::less<>> types;
  std::size_t at = 0;
  for (const Json& item : object["spec"]["limits"].items()) {
    if (errors.is_full()) break;
    const std::string path = format("spec.limits[{}]", at++);
    const std::string_view type = item["type"].as_string();
    if (type.empty()) {
      errors.add({"FieldValueRequired", "Required value", path + ".type"});
      continue;
    }
    errors.invalid(path + ".type", item["type"], api::check_qualified_name(type));
    if (type != "Container" && type != "Pod" && type != "PersistentVolumeClaim" &&
        type.find('/') == std::string_view::npos)
      errors.invalid(path + ".type", item["type"], "must be a standard limit type or fully qualified");
    check_names(item, path, errors);
    if (!types.emplace(type).second)
      errors.add({"FieldValueDuplicate", format("Duplicate value: {}", api::shown(item["type"])), path + ".type"});
    for (const char* part : {"default", "defaultRequest"})
      if (type == "Pod" && !item[part].empty())
        errors.add({"FieldValueForbidden", "Forbidden: may not be specified when `type` is 'Pod'",
                    format("{}.{}", path, part)});
    if (type == "PersistentVolumeClaim" && item["min"]["storage"].is_null() && item["max"]["storage"].is_null())
      errors.add({"FieldValueRequired",
                  "Required value: either minimum or maximum storage value is required, but neither was provided",
                  path});
    check_orders(item, path, errors);
  }
}

std::vector<Json> limit_ranges_of(const api::ObjectReader& objects, const std::string& ns) {
  static const api::TextField kNamespace{kLimitRanges, {"metadata", "namespace"}};
  return ns.empty() ? std::vector<Json>() : objects.list_by(kNamespace, ns, false);
}

bool has_limits(const api::KindInfo& kind) {
  return kind.resource == api::resources::kPods || kind.resource == api::resources::kPersistentVolumeClaims;
}

std::string apply_limit_ranges(const std::vector<Json>& ranges, Json& pod) {
  std::vector<std::string> defaults_set;
  // A few thousand defaults in each of a few thousand containers are more than there is memory. Without room the pod
  // is too large, and is refused for that.
  std::size_t room = api::kObjectBytesMax;
  for (const Json& range : ranges)
    for (const Json& item : range["spec"]["limits"].items()) {
      if (item["type"].as_string() != "Container" || !pod["spec"].is_object()) continue;
      if (item["default"].empty() && item["defaultRequest"].empty()) continue;
      const Defaults defaults{api::resource_list_from(item["defaultRequest"]),
                              api::resource_list_from(item["default"])};
      for (const char* list : {"containers", "initContainers"})
        for (std::size_t i = 0; i < pod["spec"][list].items().size() && room > 0; ++i)
          if (pod["spec"][list][i].is_object())
            fill_container(defaults, pod.edit("spec").edit(list).edit(i), defaults_set,
                           std::string_view(list) != "containers", room);
    }
  std::string text;
  for (const std::string& default_set : defaults_set)
    text += (text.empty() ? "LimitRanger plugin set: " : "; ") + default_set;
  return text;
}

void annotate_limit_ranges(const std::string& words, Json& pod) {
  const Json& annotations = pod["metadata"]["annotations"];
  if (!words.empty() && (annotations.is_null() || annotations.is_object()))
    pod.edit_path({"metadata", "annotations"}).set(kAnnotation, words);
}

base::Status check_limits(const std::vector<Json>& ranges, const api::KindInfo& kind, const Json& object) {
  for (const Json& range : ranges) {
    std::vector<std::string> problems;
    for (const Json& item : range["spec"]["limits"].items()) {
      const Bounds bounds(item);
      if (kind.resource == api::resources::kPods)
        check_pod_by(bounds, object["spec"], problems);
      else if (bounds.type == "PersistentVolumeClaim")
        check_item(bounds, {api::resource_list_from(object["spec"]["resources"]["requests"]), {}}, problems);
    }
    if (problems.empty()) continue;
    std::string all;
    for (const std::string& one : problems) all += (all.empty() ? "" : ", ") + one;
    if (problems.size() > 1) all = "[" + all + "]";
    base::Error error =
        base::make_error(base::Code::kForbidden,
                         format("{} \"{}\" is forbidden: {}", api::qualified_plural(kind), api::name_of(object), all));
    error.group = kind.resource.group;
    error.kind = kind.resource.plural;
    error.name = api::name_of(object);
    return error;
  }
  return {};
}

namespace {

std::vector<Json> limit_range_cells(const Json& range, base::Time) { return {range["metadata"]["creationTimestamp"]}; }
constexpr api::Column kColumnsOfLimitRange[] = {{"Created At", ""}};

}  // namespace

const KindRules kLimitRange = {.kind = "LimitRange",
                               .defaults = default_limit_range,
                               .check_create = check_limit_range,
                               .check_update = [](const Json&, const Json& object,
                                                  api::FieldErrors& errors) { check_limit_range(object, errors); },
                               .table = {kColumnsOfLimitRange, limit_range_cells}};

}  // namespace apiserver
