// The configuration that gives nodes to schedulers.
#include "controllers/sharding/config.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "api/json/yaml.h"
#include "api/schema/names.h"
#include "base/format.h"
#include "base/number.h"
#include "base/split.h"

namespace controllers::sharding {

using api::Json;
using base::Result;
using base::Status;

namespace {

constexpr std::string_view kRate = "allocation-rate", kWarmup = "warmup", kLimit = "node-limit";
constexpr std::size_t kSchedulersMax = 1000, kPoliciesMax = 100;

base::Error wrong(std::string message) { return base::make_error(base::Code::kInvalid, std::move(message)); }

std::string shown(const Json& value) {
  const std::string text = value.dump();
  return text.size() <= 100 ? text : text.substr(0, 100) + "...";
}

// Reads members of one map; the first thing that does not fit is remembered.
class Reader {
 public:
  Reader(const Json& map, std::string where) : map_(map), where_(std::move(where)) {
    if (!map.is_null() && !map.is_object()) problem(where_.empty() ? "the configuration" : where_, map, "a map");
  }

  bool has(std::string_view key) const { return !map_[key].is_null(); }
  double number(std::string_view key, double fallback) {
    const Json& value = map_[key];
    if (value.is_null()) return fallback;
    const double out = value.as_double(std::nan(""));
    if (!value.is_number() || !std::isfinite(out)) problem(at(key), value, "a number");
    return value.is_number() ? out : fallback;
  }
  std::int64_t count(std::string_view key) {
    const Json& value = map_[key];
    if (value.is_null()) return 0;
    if (!value.is_int()) problem(at(key), value, "an integer");
    if (value.is_int() && value.as_int() < 0) problem(at(key), value, "zero or more");
    return value.as_int();
  }
  std::string text(std::string_view key, std::string_view fallback = {}) {
    const Json& value = map_[key];
    if (value.is_null()) return std::string(fallback);
    if (!value.is_string()) problem(at(key), value, "a string");
    return value.str();
  }
  bool flag(std::string_view key, bool fallback) {
    const Json& value = map_[key];
    if (value.is_null()) return fallback;
    if (!value.is_bool()) problem(at(key), value, "a boolean");
    return value.as_bool();
  }
  std::span<const Json> list(std::string_view key) {
    const Json& value = map_[key];
    if (!value.is_null() && !value.is_array()) problem(at(key), value, "a list");
    return value.items();
  }
  std::string at(std::string_view key) const {
    return where_.empty() ? std::string(key) : base::format("{}.{}", where_, key);
  }
  void problem(const std::string& field, const Json& value, std::string_view wanted) {
    if (problem_.empty()) problem_ = base::format("{}: {} is not {}", field, shown(value), wanted);
  }
  Status finish() const { return problem_.empty() ? Status() : Status(wrong(problem_)); }

 private:
  const Json& map_;
  std::string where_;
  std::string problem_;
};

Status check_utilization(const std::string& where, double min, double max) {
  if (min >= 0 && max <= 1 && min <= max) return {};
  return wrong(base::format("{}: a utilization of {} to {} is not within 0 to 1", where, min, max));
}

Status check_nodes(const std::string& where, std::int64_t min, std::int64_t max) {
  if (min >= 0 && max >= 0 && (max == 0 || min <= max)) return {};
  return wrong(base::format("{}: minNodes {} and maxNodes {} are not a range", where, min, max));
}

// COMPAT(sharding-defaults): without arguments every node is in the range, not only idle ones.
Status read_rate(const std::string& where, Reader& arguments, std::string_view min, std::string_view max, Policy& out) {
  out.utilization_min = arguments.number(min, 0);
  out.utilization_max = arguments.number(max, 1);
  TRY_VOID(arguments.finish());
  return check_utilization(where, out.utilization_min, out.utilization_max);
}

Result<Policy> read_policy(const Json& entry, const std::string& where) {
  Policy out;
  Reader reader(entry, where);
  out.name = reader.text("name");
  out.weight = reader.number("weight", 1);
  TRY_VOID(reader.finish());
  if (out.name.empty()) return wrong(base::format("{}.name: a policy needs a name", where));
  if (out.weight < 0) return wrong(base::format("{}.weight: {} is below zero", where, out.weight));
  if (out.weight == 0) out.weight = 1;
  const std::string inside = reader.at("arguments");
  Reader arguments(entry["arguments"], inside);
  if (out.name != kLimit && (arguments.has("minNodes") || arguments.has("maxNodes")))
    return wrong(base::format("{}: minNodes and maxNodes are arguments of {}, not of {}", inside, kLimit, out.name));
  if (out.name == kRate) {
    TRY_VOID(read_rate(inside, arguments, "minCPUUtil", "maxCPUUtil", out));
  } else if (out.name == kWarmup) {
    out.label = arguments.text("warmupLabel", out.label);
    out.label_value = arguments.text("warmupLabelValue", out.label_value);
  } else if (out.name == kLimit) {
    out.nodes_min = arguments.count("minNodes");
    out.nodes_max = arguments.count("maxNodes");
  } else {
    return wrong(base::format("{}.name: \"{}\" is none of {}, {}, {}", where, out.name, kRate, kWarmup, kLimit));
  }
  TRY_VOID(arguments.finish());
  TRY_VOID(check_nodes(inside, out.nodes_min, out.nodes_max));
  return out;
}

// From the scalars of entries without policies. They were there before policies, and count where those are missing.
Status read_scalars(Reader& reader, const Json& entry, SchedulerShare& out) {
  Policy rate{.name = std::string(kRate)};
  TRY_VOID(read_rate(reader.at("cpuUtilizationMin"), reader, "cpuUtilizationMin", "cpuUtilizationMax", rate));
  const std::string inside = reader.at("arguments");
  Reader arguments(entry["arguments"], inside);
  if (arguments.has("minCPUUtil") || arguments.has("maxCPUUtil"))
    TRY_VOID(read_rate(inside, arguments, "minCPUUtil", "maxCPUUtil", rate));
  TRY_VOID(arguments.finish());
  out.policies.push_back(std::move(rate));
  if (reader.flag("preferWarmupNodes", false)) out.policies.push_back({.name = std::string(kWarmup)});
  return reader.finish();
}

Result<SchedulerShare> read_scheduler(const Json& entry, const std::string& where) {
  SchedulerShare out;
  Reader reader(entry, where);
  out.name = reader.text("name");
  out.type = reader.text("type");
  const Policy limit{
      .name = std::string(kLimit), .nodes_min = reader.count("minNodes"), .nodes_max = reader.count("maxNodes")};
  const auto policies = reader.list("policies");
  TRY_VOID(reader.finish());
  if (out.name.empty()) return wrong(base::format("{}.name: a scheduler needs a name", where));
  if (!api::is_dns_subdomain(out.name))
    return wrong(base::format("{}.name: \"{}\" is not a name of a NodeShard", where, out.name));
  TRY_VOID(check_nodes(where, limit.nodes_min, limit.nodes_max));
  if (policies.size() > kPoliciesMax) return wrong(base::format("{}.policies: more than {}", where, kPoliciesMax));
  for (std::size_t i = 0; i < policies.size(); ++i) {
    TRY(Policy policy, read_policy(policies[i], base::format("{}.policies[{}]", where, i)));
    out.policies.push_back(std::move(policy));
  }
  // The deprecated scalars are checked even where policies count instead of them.
  SchedulerShare old;
  TRY_VOID(read_scalars(reader, entry, old));
  if (policies.empty()) out.policies = std::move(old.policies);
  const bool is_limited =
      std::any_of(out.policies.begin(), out.policies.end(), [](const Policy& one) { return one.name == kLimit; });
  if (!is_limited && (limit.nodes_min > 0 || limit.nodes_max > 0)) out.policies.push_back(limit);
  return out;
}

Status check_names(const std::vector<SchedulerShare>& schedulers, std::string_view where) {
  std::set<std::string_view> names;
  for (const SchedulerShare& one : schedulers) {
    if (!names.insert(one.name).second) return wrong(base::format("{}: {} is there twice", where, one.name));
  }
  return {};
}

bool read_share_of_cpu(const std::string& text, double& out) {
  if (text == "inf" || text == "-inf") return out = text == "inf" ? 1 : 0, true;
  char* end = nullptr;
  out = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == 0 && std::isfinite(out);
}

bool read_count(const std::string& text, std::int64_t& out) {
  const auto count = base::parse_number<std::int64_t>(text);
  out = count.value_or(0);
  return count.has_value();
}

Result<SchedulerShare> read_flag(const std::string& entry) {
  constexpr std::string_view kForm = "name:type:minUtil:maxUtil:preferWarmup:minNodes:maxNodes";
  const std::string where = base::format("--scheduler-configs: \"{}\"", entry);
  const std::vector<std::string_view> pieces = base::split(entry, ':');
  const std::vector<std::string> parts(pieces.begin(), pieces.end());
  if (parts.size() != 7) return wrong(base::format("{} is not {}", where, kForm));
  SchedulerShare out{.name = parts[0], .type = parts[1], .policies = {}};
  if (!api::is_dns_subdomain(out.name))
    return wrong(base::format("{}: \"{}\" is not a name of a NodeShard", where, out.name));
  Policy rate{.name = std::string(kRate)}, limit{.name = std::string(kLimit)};
  if (!read_share_of_cpu(parts[2], rate.utilization_min) || !read_share_of_cpu(parts[3], rate.utilization_max))
    return wrong(base::format("{}: {} to {} are not numbers", where, parts[2], parts[3]));
  TRY_VOID(check_utilization(where, rate.utilization_min, rate.utilization_max));
  if (parts[4] != "true" && parts[4] != "false") return wrong(base::format("{}: {} is not a boolean", where, parts[4]));
  if (!read_count(parts[5], limit.nodes_min) || !read_count(parts[6], limit.nodes_max))
    return wrong(base::format("{}: {} to {} are not numbers of nodes", where, parts[5], parts[6]));
  TRY_VOID(check_nodes(where, limit.nodes_min, limit.nodes_max));
  out.policies.push_back(std::move(rate));
  // COMPAT(sharding-warmup): Volcano writes a line into its log instead.
  if (parts[4] == "true") out.policies.push_back({.name = std::string(kWarmup)});
  out.policies.push_back(std::move(limit));
  return out;
}

}  // namespace

base::Duration sound_period(base::Duration period) { return period.ns > 0 ? period : base::minutes(2); }

Result<Config> parse_config(std::string_view text, const Config& defaults) {
  TRY(const Json document, api::parse_yaml(text));
  Config out = defaults;
  out.schedulers.clear();
  Reader reader(document, "");
  TRY_VOID(reader.finish());
  const auto entries = reader.list("schedulerConfigs");
  const std::string period = reader.text("shardSyncPeriod");
  out.follows_nodes = reader.flag("enableNodeEventTrigger", defaults.follows_nodes);
  TRY_VOID(reader.finish());
  if (!period.empty()) {
    const auto parsed = base::parse_go_duration(period);
    if (!parsed) return wrong(base::format("shardSyncPeriod: \"{}\" is not a duration", period));
    out.sync_period = sound_period(*parsed);
  }
  if (entries.empty()) return wrong("schedulerConfigs: the list is empty");
  if (entries.size() > kSchedulersMax) return wrong(base::format("schedulerConfigs: more than {}", kSchedulersMax));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    TRY(SchedulerShare one, read_scheduler(entries[i], base::format("schedulerConfigs[{}]", i)));
    out.schedulers.push_back(std::move(one));
  }
  TRY_VOID(check_names(out.schedulers, "schedulerConfigs"));
  return out;
}

Result<std::vector<SchedulerShare>> parse_scheduler_flags(const std::vector<std::string>& entries) {
  std::vector<SchedulerShare> out;
  for (const std::string& entry : entries) {
    TRY(SchedulerShare one, read_flag(entry));
    out.push_back(std::move(one));
  }
  TRY_VOID(check_names(out, "--scheduler-configs"));
  return out;
}

const std::vector<std::string>& default_scheduler_flags() {
  static const std::vector<std::string> kEntries = {"volcano:volcano:0.0:0.6:false:2:100",
                                                    "agent-scheduler:agent:0.7:1.0:true:2:100"};
  return kEntries;
}

}  // namespace controllers::sharding
