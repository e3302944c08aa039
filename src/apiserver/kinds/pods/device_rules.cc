// Requests, constraints and settings of claims; devices of slices.
#include "apiserver/kinds/pods/device_rules.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "api/cel/expression.h"
#include "api/cel/patterns.h"
#include "api/meta/resource.h"
#include "api/pods/volume_sources.h"
#include "api/schema/names.h"
#include "api/schema/selector_rules.h"
#include "apiserver/kinds/cells.h"
#include "apiserver/kinds/context.h"
#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/rows.h"
#include "base/format.h"
#include "base/split.h"

namespace apiserver {

using api::at;
using api::FieldErrors;
using api::in;
using api::Json;
using api::under;
using api::cel::Patterns;

namespace {

constexpr std::size_t kItemsMax = 32, kAlternativesMax = 8, kParametersBytesMax = 10 * 1024;
constexpr std::size_t kExpressionBytesMax = 10 * 1024, kDevicesMax = 128, kTaintsMax = 16;
constexpr std::array<std::string_view, 3> kEffects = {"NoExecute", "NoSchedule", "None"};

// False, and a problem, where there are more than `items_max`.
bool check_count(const Json& list, const std::string& path, std::size_t items_max, FieldErrors& errors) {
  if (list.size() <= items_max) return true;
  errors.too_many(path, list.size(), items_max);
  return false;
}

// `patterns`: of the whole object. The first selector that is one too many is named, and those after it are not read.
void check_selectors(const Json& selectors, const std::string& path, Patterns& patterns, FieldErrors& errors) {
  if (!check_count(selectors, path, kItemsMax, errors)) return;
  for (std::size_t i = 0; i < selectors.size() && !patterns.is_full(); ++i) {
    const Json& cel = selectors[i]["cel"];
    const std::string where = in(at(path, i), "cel");
    if (!cel.is_object()) {
      errors.required(where);
      continue;
    }
    const std::string text = cel["expression"].str();
    if (text.size() > kExpressionBytesMax)
      errors.too_long(in(where, "expression"), kExpressionBytesMax);
    else if (const auto compiled = api::cel::Expression::compile(text, {"device"}, &patterns); !compiled.ok())
      errors.invalid(in(where, "expression"), text, "compilation failed: " + compiled.error().message);
    else if (const std::string type = compiled->type({}); !type.empty() && type != "bool" && type != "dyn")
      errors.invalid(in(where, "expression"), text, "must evaluate to bool or the unknown type, not " + type);
  }
}

void check_tolerations(const Json& tolerations, const std::string& path, FieldErrors& errors) {
  constexpr std::array<std::string_view, 2> kOperators = {"Equal", "Exists"};
  for (std::size_t i = 0; i < tolerations.size(); ++i) {
    const Json& one = tolerations[i];
    const std::string where = at(path, i), op = one["operator"].str(), key = one["key"].str();
    if (!key.empty()) errors.invalid(in(where, "key"), key, api::check_qualified_name(key));
    if (op.empty())
      errors.required(in(where, "operator"));
    else
      errors.one_of(in(where, "operator"), op, kOperators);
    if (op == "Exists" && !one["value"].as_string().empty())
      errors.invalid(in(where, "value"), one["value"], "must be empty for operator `Exists`");
    if (op == "Equal")
      errors.invalid(in(where, "value"), one["value"].str(), api::check_label_value(one["value"].as_string()));
    if (const std::string effect = one["effect"].str(); !effect.empty())
      errors.one_of(in(where, "effect"), effect, kEffects);
  }
}

// The shared part of a request and an alternative of one.
void check_request(const Json& asked, const std::string& path, Patterns& patterns, FieldErrors& errors) {
  constexpr std::array<std::string_view, 2> kModes = {"All", "ExactCount"};
  if (const std::string name = asked["deviceClassName"].str(); name.empty())
    errors.required(in(path, "deviceClassName"));
  else
    errors.invalid(in(path, "deviceClassName"), name, api::check_dns_subdomain(name));
  check_selectors(asked["selectors"], in(path, "selectors"), patterns, errors);
  const std::string mode = asked["allocationMode"].str();
  const Json& count = asked["count"];
  if (mode == "All" && count.as_int() != 0)
    errors.invalid(in(path, "count"), count, "must not be specified when allocationMode is 'All'");
  else if (mode == "ExactCount" && count.as_int() <= 0)
    errors.invalid(in(path, "count"), count, "must be greater than zero");
  else
    errors.one_of(in(path, "allocationMode"), mode, kModes);
  check_tolerations(asked["tolerations"], in(path, "tolerations"), errors);
}

void check_name(const Json& named, const std::string& path, std::set<std::string>& names, FieldErrors& errors) {
  const std::string name = named["name"].str();
  if (name.empty())
    errors.required(in(path, "name"));
  else if (const auto problems = api::check_dns_label(name); !problems.empty())
    errors.invalid(in(path, "name"), name, problems);
  else if (!names.insert(name).second)
    errors.duplicate(in(path, "name"), name);
}

// The names that constraints and settings can refer to: "one", and "any/big" for an alternative.
std::set<std::string> check_requests(const Json& requests, const std::string& path, FieldErrors& errors) {
  std::set<std::string> known, names;
  Patterns patterns;
  if (!check_count(requests, path, kItemsMax, errors)) return known;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Json& request = requests[i];
    const std::string where = at(path, i);
    check_name(request, where, names, errors);
    known.insert(request["name"].str());
    const Json& others = request["firstAvailable"];
    const bool exact = request["exactly"].is_object();
    if (exact == !others.empty()) {
      if (exact)
        errors.invalid(where, request, "exactly one of `exactly` or `firstAvailable` is required");
      else
        errors.required(where, "exactly one of `exactly` or `firstAvailable` is required");
    }
    if (exact) check_request(request["exactly"], in(where, "exactly"), patterns, errors);
    if (!check_count(others, in(where, "firstAvailable"), kAlternativesMax, errors)) continue;
    std::set<std::string> alternatives;
    for (std::size_t k = 0; k < others.size(); ++k) {
      const std::string place = at(in(where, "firstAvailable"), k);
      check_name(others[k], place, alternatives, errors);
      check_request(others[k], place, patterns, errors);
      known.insert(request["name"].str() + "/" + others[k]["name"].str());
    }
  }
  return known;
}

void check_names(const Json& names, const std::string& path, const std::set<std::string>& known, FieldErrors& errors) {
  std::set<std::string> seen;
  if (!check_count(names, path, kItemsMax, errors)) return;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string name = names[i].str();
    if (!seen.insert(name).second) errors.duplicate(at(path, i), name);
    if (!known.contains(name))
      errors.invalid(at(path, i), name,
                     "must be the name of a request in the claim or the name of a request and a subrequest separated "
                     "by '/'");
  }
}

void check_opaque(const Json& config, const std::string& path, FieldErrors& errors) {
  const Json& opaque = config["opaque"];
  const std::string where = in(path, "opaque");
  if (!opaque.is_object()) return errors.required(where);
  api::check_csi_driver(opaque["driver"], in(where, "driver"), errors);
  const Json& parameters = opaque["parameters"];
  if (parameters.is_null())
    errors.required(in(where, "parameters"));
  else if (!parameters.is_object())
    errors.invalid(in(where, "parameters"), "<value omitted>", "must be a valid JSON object");
  else if (parameters.dump().size() > kParametersBytesMax)
    errors.too_long(in(where, "parameters"), kParametersBytesMax);
}

bool is_identifier(std::string_view text) {
  return !text.empty() && !(text.front() >= '0' && text.front() <= '9') && text.size() <= 32 &&
         std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
         });
}

// "memory", or "example.com/memory". Domains are of either case.
void check_key(std::string_view key, const std::string& path, FieldErrors& errors) {
  const std::size_t slash = key.find('/');
  if (key.empty()) return errors.required(path, "name required");
  if (slash != std::string_view::npos) {
    std::string domain(key.substr(0, slash));
    for (char& c : domain)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    errors.invalid(path, key, api::check_dns_subdomain(domain));
  }
  if (const auto name = slash == std::string_view::npos ? key : key.substr(slash + 1); !is_identifier(name))
    errors.invalid(path, name,
                   "a valid C identifier must start with alphabetic character or '_', followed by a string of "
                   "alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for "
                   "validation is '[A-Za-z_][A-Za-z0-9_]*')");
}

// "gpu.example.com/numa".
void check_attribute_name(const Json& name, const std::string& path, FieldErrors& errors) {
  const std::string text = name.str();
  if (text.empty()) return errors.required(path);
  if (text.find('/') == std::string::npos)
    return errors.invalid(path, text, "a fully qualified name must be a domain and a name separated by a slash");
  check_key(text, path, errors);
}

// "1.2.3-beta+5": three numbers, and words of letters, digits and hyphens behind them.
bool is_version(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_letter = [&](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  };
  const auto is_number = [&](std::string_view part) {
    return !part.empty() && std::ranges::all_of(part, is_digit) && (part.size() == 1 || part.front() != '0');
  };
  const auto are_words = [&](std::string_view words, bool numbers_as_such) {
    return std::ranges::all_of(base::split(words, '.'), [&](std::string_view word) {
      if (word.empty() || !std::ranges::all_of(word, is_letter)) return false;
      return !numbers_as_such || !std::ranges::all_of(word, is_digit) || is_number(word);
    });
  };
  if (const std::size_t plus = text.find('+'); plus != std::string_view::npos) {
    if (!are_words(text.substr(plus + 1), false)) return false;
    text = text.substr(0, plus);
  }
  if (const std::size_t hyphen = text.find('-'); hyphen != std::string_view::npos) {
    if (!are_words(text.substr(hyphen + 1), true)) return false;
    text = text.substr(0, hyphen);
  }
  const auto parts = base::split(text, '.');
  return parts.size() == 3 && std::ranges::all_of(parts, is_number);
}

void check_devices_spec(const Json& spec, const std::string& path, FieldErrors& errors) {
  const Json& devices = spec["devices"];
  const std::string where = in(path, "devices");
  const std::set<std::string> known = check_requests(devices["requests"], in(where, "requests"), errors);
  const Json& constraints = devices["constraints"];
  if (check_count(constraints, in(where, "constraints"), kItemsMax, errors))
    for (std::size_t i = 0; i < constraints.size(); ++i) {
      const std::string place = at(in(where, "constraints"), i);
      check_names(constraints[i]["requests"], in(place, "requests"), known, errors);
      const bool distinct = !constraints[i]["distinctAttribute"].is_null();
      if (!constraints[i]["matchAttribute"].is_null() && distinct)
        errors.invalid(place, constraints[i], "exactly one of matchAttribute or distinctAttribute is required");
      const char* field = distinct ? "distinctAttribute" : "matchAttribute";
      check_attribute_name(constraints[i][field], in(place, field), errors);
    }
  const Json& config = devices["config"];
  if (check_count(config, in(where, "config"), kItemsMax, errors))
    for (std::size_t i = 0; i < config.size(); ++i) {
      const std::string place = at(in(where, "config"), i);
      check_names(config[i]["requests"], in(place, "requests"), known, errors);
      check_opaque(config[i], place, errors);
    }
}

void check_attribute(const Json& attribute, const std::string& path, FieldErrors& errors) {
  constexpr std::size_t kTextMax = 64;
  std::size_t given = 0;
  for (const char* type : {"bool", "int", "string", "version", "bools", "ints", "strings", "versions"})
    given += attribute[type].is_null() ? 0 : 1;
  if (given == 0) errors.required(path, "exactly one value must be specified");
  if (given > 1) errors.invalid(path, attribute, "exactly one value must be specified");
  for (const char* type : {"string", "version"})
    if (attribute[type].as_string().size() > kTextMax) errors.too_long(in(path, type), kTextMax);
  if (const Json& version = attribute["version"]; version.is_string() && !is_version(version.as_string()))
    errors.invalid(in(path, "version"), version, "must be a string compatible with semver.org spec 2.0.0");
}

void check_device(const Json& device, const std::string& path, std::set<std::string>& names, FieldErrors& errors) {
  check_name(device, path, names, errors);
  if (device["attributes"].size() + device["capacity"].size() > kItemsMax)
    errors.invalid(path, static_cast<std::int64_t>(device["attributes"].size() + device["capacity"].size()),
                   base::format("the total number of attributes and capacities must not exceed {}", kItemsMax));
  for (const Json::Member& member : device["attributes"].members()) {
    const std::string where = under(in(path, "attributes"), member.name());
    check_key(member.name(), where, errors);
    check_attribute(member.value, where, errors);
  }
  for (const Json::Member& member : device["capacity"].members())
    check_key(member.name(), under(in(path, "capacity"), member.name()), errors);
  const Json& taints = device["taints"];
  if (!check_count(taints, in(path, "taints"), kTaintsMax, errors)) return;
  for (std::size_t i = 0; i < taints.size(); ++i) {
    const std::string where = at(in(path, "taints"), i);
    errors.invalid(in(where, "key"), taints[i]["key"].str(), api::check_qualified_name(taints[i]["key"].as_string()));
    if (const std::string value = taints[i]["value"].str(); !value.empty())
      errors.invalid(in(where, "value"), value, api::check_label_value(value));
    if (taints[i]["effect"].as_string().empty())
      errors.required(in(where, "effect"));
    else
      errors.one_of(in(where, "effect"), taints[i]["effect"].as_string(), kEffects);
  }
}

// The place of the devices: exactly one of four ways to say it.
void check_place(const Json& spec, FieldErrors& errors) {
  const bool named = spec["nodeName"].is_string(), selected = spec["nodeSelector"].is_object();
  const int given = (named ? 1 : 0) + (selected ? 1 : 0) + (spec["allNodes"].as_bool() ? 1 : 0) +
                    (spec["perDeviceNodeSelection"].as_bool() ? 1 : 0);
  constexpr std::string_view kWhy =
      "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
  if (given == 0) errors.required("spec", kWhy);
  if (given > 1) errors.invalid("spec", "", kWhy);
  if (named && spec["nodeName"].as_string().empty())
    errors.invalid("spec.nodeName", "", "must be either unset or set to a non-empty string");
  else if (named)
    errors.invalid("spec.nodeName", spec["nodeName"], api::check_dns_subdomain(spec["nodeName"].as_string()));
  if (selected) {
    api::check_node_selector(spec["nodeSelector"], "spec.nodeSelector", errors);
    if (spec["nodeSelector"]["nodeSelectorTerms"].size() != 1)
      errors.invalid("spec.nodeSelector.nodeSelectorTerms", spec["nodeSelector"]["nodeSelectorTerms"],
                     "must have exactly one node selector term");
  }
}

}  // namespace

void check_device_class(const Json& object, FieldErrors& errors) {
  const Json& spec = object["spec"];
  Patterns patterns;
  check_selectors(spec["selectors"], "spec.selectors", patterns, errors);
  if (const Json& name = spec["extendedResourceName"]; name.is_string())
    if (const std::string_view text = name.as_string(); text.find('/') == std::string_view::npos ||
                                                        text.find("kubernetes.io/") != std::string_view::npos ||
                                                        text.starts_with("requests.") || !api::is_qualified_name(text))
      errors.invalid("spec.extendedResourceName", name, "must be a valid extended resource name");
  if (!check_count(spec["config"], "spec.config", kItemsMax, errors)) return;
  for (std::size_t i = 0; i < spec["config"].size(); ++i) check_opaque(spec["config"][i], at("spec.config", i), errors);
}

void check_resource_claim(const Json& object, FieldErrors& errors) {
  check_devices_spec(object["spec"], "spec", errors);
}

void check_claim_template(const Json& object, FieldErrors& errors) {
  api::check_labels(object["spec"]["metadata"]["labels"], "spec.metadata.labels", errors);
  api::check_annotations(object["spec"]["metadata"]["annotations"], "spec.metadata.annotations", errors);
  check_devices_spec(object["spec"]["spec"], "spec.spec", errors);
}

void check_resource_slice(const Json& object, FieldErrors& errors) {
  const Json& spec = object["spec"];
  api::check_csi_driver(spec["driver"], "spec.driver", errors);
  const Json& pool = spec["pool"];
  if (const std::string name = pool["name"].str(); name.empty())
    errors.required("spec.pool.name");
  else if (name.size() > 253)
    errors.too_long("spec.pool.name", 253);
  else
    for (std::size_t start = 0; start <= name.size();) {
      const std::size_t end = std::min(name.find('/', start), name.size());
      errors.invalid("spec.pool.name", name, api::check_dns_subdomain(name.substr(start, end - start)));
      start = end + 1;
    }
  if (pool["resourceSliceCount"].as_int() <= 0)
    errors.invalid("spec.pool.resourceSliceCount", pool["resourceSliceCount"], "must be greater than zero");
  if (pool["generation"].as_int() < 0)
    errors.invalid("spec.pool.generation", pool["generation"], "must be greater than or equal to zero");
  check_place(spec, errors);
  if (!check_count(spec["devices"], "spec.devices", kDevicesMax, errors)) return;
  std::set<std::string> names;
  for (std::size_t i = 0; i < spec["devices"].size(); ++i)
    check_device(spec["devices"][i], at("spec.devices", i), names, errors);
}

namespace {

void default_device_requests(Json& claim) {
  for (std::size_t i = 0; i < claim["devices"]["requests"].items().size(); ++i) {
    const auto fill = [](Json& asked) {
      if (asked["allocationMode"] == Json("")) asked.erase("allocationMode");
      set_if_absent(asked, "allocationMode", "ExactCount");
      if (asked["allocationMode"].as_string() == "ExactCount") set_if_absent(asked, "count", 1);
    };
    const Json& request = claim["devices"]["requests"][i];
    const std::size_t others = request["firstAvailable"].items().size();
    if (request["exactly"].is_object()) fill(claim.edit("devices").edit("requests").edit(i).edit("exactly"));
    for (std::size_t k = 0; k < others; ++k)
      if (claim["devices"]["requests"][i]["firstAvailable"][k].is_object())
        fill(claim.edit("devices").edit("requests").edit(i).edit("firstAvailable").edit(k));
  }
}

// A part that is not there is empty, or zero.
void default_resource_claim(Json& object) {
  set_if_absent(object, "spec", Json::object());
  if (object["spec"].is_object()) default_device_requests(object.edit("spec"));
}

void default_claim_template(Json& object) {
  set_if_absent(object, "spec", Json::object());
  if (!object["spec"].is_object()) return;
  set_if_absent(object.edit("spec"), "spec", Json::object());
  if (object["spec"]["spec"].is_object()) default_device_requests(object.edit("spec").edit("spec"));
}

void default_device_class(Json& object) { set_if_absent(object, "spec", Json::object()); }

void default_resource_slice(Json& object) {
  if (!object["spec"].is_object()) return;
  if (object["spec"]["pool"].is_object()) set_if_absent(object.edit("spec").edit("pool"), "generation", 0);
  for (std::size_t i = 0; i < object["spec"]["devices"].items().size(); ++i) {
    const Json amounts = object["spec"]["devices"][i]["capacity"];
    for (const Json::Member& member : amounts.members())
      if (member.value.is_object() && member.value["value"].is_null())
        object.edit("spec").edit("devices").edit(i).edit("capacity").edit(member.name()).set("value", "0");
  }
}

// Administrators see devices that others have; whose namespace may, its label says.
void check_admin_access(const Context& context, const Json& object, const Json& spec, const std::string& path,
                        api::FieldErrors& errors) {
  const auto space = context.objects.find(api::resources::kNamespaces, "", api::namespace_of(object));
  if (space && api::label_of(*space, "resource.kubernetes.io/admin-access") == "true") return;
  const Json& requests = spec["devices"]["requests"];
  for (std::size_t i = 0; i < requests.items().size(); ++i)
    if (requests[i]["exactly"]["adminAccess"].as_bool())
      errors.forbidden(base::format("{}.devices.requests[{}].exactly.adminAccess", path, i),
                       "admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the "
                       "containing namespace");
}

base::Status prepare_resource_claim(const Context& context, Json& object, api::FieldErrors& errors) {
  check_admin_access(context, object, object["spec"], "spec", errors);
  return {};
}

base::Status prepare_claim_template(const Context& context, Json& object, api::FieldErrors& errors) {
  check_admin_access(context, object, object["spec"]["spec"], "spec.spec", errors);
  return {};
}

constexpr FixedField kFixedSpec[] = {{"spec", "field is immutable"}};
constexpr FixedField kFixedOfSlice[] = {{"spec.driver", "field is immutable"},
                                        {"spec.nodeName", "field is immutable"},
                                        {"spec.pool.name", "field is immutable"}};

std::string_view device_claim_state(const Json& claim) {
  if (api::is_deleting(claim))
    return claim["status"]["allocation"].is_null() ? "deleted" : "deleted,allocated,reserved";
  if (claim["status"]["allocation"].is_null()) return "pending";
  return claim["status"]["reservedFor"].empty() ? "allocated" : "allocated,reserved";
}

std::vector<Json> device_claim_cells(const Json& claim, base::Time now) {
  return {Json(device_claim_state(claim)), age_of(claim, now)};
}
constexpr api::Column kColumnsOfDeviceClaim[] = {{"State", ""}, {"Age", ""}};
constexpr std::string_view kSelectableOfSlice[] = {"spec.nodeName", "spec.driver"};

}  // namespace

const KindRules kDeviceClass = {
    .kind = "DeviceClass",
    .defaults = default_device_class,
    .check = [](const Json&, const Json& object, api::FieldErrors& errors) { check_device_class(object, errors); }};

const KindRules kResourceClaim = {
    .kind = "ResourceClaim",
    .defaults = default_resource_claim,
    .prepare = prepare_resource_claim,
    .check = [](const Json&, const Json& object, api::FieldErrors& errors) { check_resource_claim(object, errors); },
    .fixed = kFixedSpec,
    .table = {kColumnsOfDeviceClaim, device_claim_cells}};

const KindRules kResourceClaimTemplate = {
    .kind = "ResourceClaimTemplate",
    .defaults = default_claim_template,
    .prepare = prepare_claim_template,
    .check = [](const Json&, const Json& object, api::FieldErrors& errors) { check_claim_template(object, errors); },
    .fixed = kFixedSpec};

const KindRules kResourceSlice = {
    .kind = "ResourceSlice",
    .defaults = default_resource_slice,
    .check = [](const Json&, const Json& object, api::FieldErrors& errors) { check_resource_slice(object, errors); },
    .fixed = kFixedOfSlice,
    .selectable = kSelectableOfSlice};

}  // namespace apiserver
