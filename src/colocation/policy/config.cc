// Reading, overlaying and judging the configuration.
#include "colocation/policy/config.h"

#include <limits>
#include <utility>
#include <variant>

#include "api/selector.h"
#include "base/format.h"
#include "base/split.h"
#include "colocation/policy/words.h"

namespace colocation {

using api::Json;

namespace {

using Target = std::variant<bool Config::*, std::int64_t Config::*, std::string Config::*>;

struct Field {
  std::string_view section, name;
  Target target;
};

constexpr std::string_view kNetwork = "networkQosConfig", kSelling = "overSubscriptionConfig",
                           kEvicting = "evictingConfig", kThrottling = "cpuThrottlingConfig";

// nodeLabelConfig is not among them: labels alone decide (agent.md 3.3).
const Field kFields[] = {
    {"cpuQosConfig", "enable", &Config::cpu_qos},
    {"cpuBurstConfig", "enable", &Config::cpu_burst},
    {"memoryQosConfig", "enable", &Config::memory_qos},
    {"memoryQosV2Config", "enable", &Config::memory_qos_v2},
    {kNetwork, "enable", &Config::network_qos},
    {kNetwork, "onlineBandwidthWatermarkPercent", &Config::online_bandwidth_percent},
    {kNetwork, "offlineLowBandwidthPercent", &Config::offline_low_percent},
    {kNetwork, "offlineHighBandwidthPercent", &Config::offline_high_percent},
    {kNetwork, "qosCheckInterval", &Config::network_check_interval_ns},
    {kSelling, "enable", &Config::sells},
    {kSelling, "overSubscriptionTypes", &Config::types},
    {kEvicting, "evictingCPUHighWatermark", &Config::cpu_high},
    {kEvicting, "evictingMemoryHighWatermark", &Config::memory_high},
    {kEvicting, "evictingCPULowWatermark", &Config::cpu_low},
    {kEvicting, "evictingMemoryLowWatermark", &Config::memory_low},
    {kThrottling, "enable", &Config::throttle},
    {kThrottling, "cpuThrottlingThreshold", &Config::throttle_threshold},
    {kThrottling, "cpuJitterLimitPercent", &Config::throttle_jitter},
    {kThrottling, "cpuRecoverLimitPercent", &Config::throttle_recover},
};

base::Error invalid(std::string text) { return base::make_error(base::Code::kInvalid, std::move(text)); }

base::Status all_or_ok(const std::vector<std::string>& problems) {
  if (problems.empty()) return {};
  if (problems.size() == 1) return invalid(problems.front());
  return invalid(base::format("[{}]", base::join(problems, ", ")));
}

Json value_of(const Config& config, const Target& target) {
  return std::visit([&config](auto member) { return Json(config.*member); }, target);
}

// Sets one field; a text names what is wrong with the value.
std::string set_field(Config& config, const Target& target, const Json& value) {
  if (const auto* flag = std::get_if<bool Config::*>(&target)) {
    if (!value.is_bool()) return base::format("must be true or false, not {}", value.dump());
    config.*(*flag) = value.as_bool();
  } else if (const auto* number = std::get_if<std::int64_t Config::*>(&target)) {
    if (!value.is_int()) return base::format("must be a whole number, not {}", value.dump());
    config.*(*number) = value.as_int();
  } else {
    if (!value.is_string()) return base::format("must be a text, not {}", value.dump());
    config.*std::get<std::string Config::*>(target) = value.str();
  }
  return {};
}

void overlay(Config& config, const Json& sections, const std::string& where, std::vector<std::string>& problems) {
  if (sections.is_null()) return;
  if (!sections.is_object()) {
    problems.push_back(base::format("{} must be an object, not {}", where, sections.dump()));
    return;
  }
  std::string_view wrong_section;
  for (const Field& field : kFields) {
    const Json& section = sections[field.section];
    if (section.is_null()) continue;
    if (!section.is_object()) {
      if (wrong_section != field.section)
        problems.push_back(base::format("{}.{} must be an object, not {}", where, field.section, section.dump()));
      wrong_section = field.section;
      continue;
    }
    const Json& value = section[field.name];
    if (value.is_null()) continue;
    if (const std::string wrong = set_field(config, field.target, value); !wrong.empty())
      problems.push_back(base::format("{}.{}.{} {}", where, field.section, field.name, wrong));
  }
}

void set_by_labels(Config& config, const Json& labels) {
  config.oversubscription = is_true(labels[kOversubscriptionLabel].as_string());
  config.colocation = config.oversubscription || is_true(labels[kColocationLabel].as_string());
}

base::Result<Json> read_sections(std::string_view text) {
  auto read = api::parse_json(text);
  if (!read.ok()) return invalid(base::format("{} is no JSON: {}", kConfigKey, read.error().message));
  if (!read->is_object()) return invalid(base::format("{} must be an object", kConfigKey));
  return read;
}

void check_range(std::vector<std::string>& problems, std::int64_t value, std::int64_t max, std::string_view name,
                 std::string_view rule) {
  if (value <= 0 || value > max) problems.push_back(base::format("{} {}", name, rule));
}

}  // namespace

std::string default_config_text(bool for_one_machine) {
  Config config;
  if (for_one_machine) {
    config.cpu_qos = config.cpu_burst = config.memory_qos_v2 = true;
    config.cpu_high = 100'000;
    config.memory_high = 90;
    config.memory_low = 80;
  }
  Json sections = Json::object();
  sections.set("nodeLabelConfig",
               Json::object({{"nodeColocationEnable", true}, {"nodeOverSubscriptionEnable", false}}));
  for (const Field& field : kFields) {
    const bool unused = field.section == kThrottling && field.name != "enable";
    if (!unused) sections.edit(field.section).set(field.name, value_of(config, field.target));
  }
  return Json::object({{"globalConfig", std::move(sections)}}).dump();
}

base::Result<std::string> completed_config_text(std::string_view text) {
  TRY(Json all, read_sections(text));
  if (!all["globalConfig"].is_object()) return invalid(base::format("{} has no globalConfig", kConfigKey));
  const Config defaults;
  bool changed = false;
  for (const std::string_view section : {kSelling, kEvicting}) {
    if (!all["globalConfig"][section].is_null()) continue;
    changed = true;
    for (const Field& field : kFields)
      if (field.section == section)
        all.edit("globalConfig").edit(section).set(field.name, value_of(defaults, field.target));
  }
  return changed ? all.dump() : std::string();
}

Config default_config_for(const Json& node_labels) {
  Config config;
  set_by_labels(config, node_labels);
  return config;
}

base::Result<Config> config_for(std::string_view text, const Json& node_labels) {
  TRY(const Json all, read_sections(text));
  Config config;
  config.colocation = true;
  if (all["globalConfig"].is_null()) return config;
  std::vector<std::string> problems;
  overlay(config, all["globalConfig"], "globalConfig", problems);
  const Json* last = nullptr;
  std::size_t last_index = 0, index = 0;
  for (const Json& entry : all["nodesConfig"].items()) {
    const auto selector = api::label_selector_from(entry["selector"]);
    if (!selector.ok())
      problems.push_back(base::format("nodesConfig[{}].selector: {}", index, selector.error().message));
    else if (entry["selector"].is_object() && selector->matches(node_labels))
      last = &entry, last_index = index;
    ++index;
  }
  if (!all["nodesConfig"].is_null() && !all["nodesConfig"].is_array()) problems.push_back("nodesConfig must be a list");
  if (last != nullptr) overlay(config, *last, base::format("nodesConfig[{}]", last_index), problems);
  TRY_VOID(all_or_ok(problems));
  set_by_labels(config, node_labels);
  TRY_VOID(check_config(config));
  return config;
}

base::Status check_config(const Config& config) {
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
  std::vector<std::string> problems;
  if (config.network_check_interval_ns <= 0) problems.push_back("qosCheckInterval must be a positive number");
  const std::string thousand = "must be a positive number between 1 and 1000";
  check_range(problems, config.online_bandwidth_percent, 1000, "onlineBandwidthWatermarkPercent", thousand);
  check_range(problems, config.offline_high_percent, 1000, "offlineHighBandwidthPercent", thousand);
  check_range(problems, config.offline_low_percent, 1000, "offlineLowBandwidthPercent", thousand);
  if (config.offline_high_percent < config.offline_low_percent)
    problems.push_back("offlineHighBandwidthPercent cannot be less than offlineLowBandwidthPercent");
  const std::pair<std::int64_t, std::string_view> kWatermarks[] = {{config.cpu_high, "evictingCPUHighWatermark"},
                                                                   {config.memory_high, "evictingMemoryHighWatermark"},
                                                                   {config.cpu_low, "evictingCPULowWatermark"},
                                                                   {config.memory_low, "evictingMemoryLowWatermark"}};
  for (const auto& [value, name] : kWatermarks) check_range(problems, value, kAny, name, "must be a positive number");
  if (config.cpu_low > config.cpu_high) problems.push_back("cpu evicting low watermark is higher than high watermark");
  if (config.memory_low > config.memory_high)
    problems.push_back("memory evicting low watermark is higher than high watermark");
  for (const std::string_view type : base::split(config.types, ','))
    if (type != "cpu" && type != "memory" && !config.types.empty())
      problems.push_back(base::format("overSubscriptionType({}) is not supported, only supports cpu/memory", type));
  check_range(problems, config.throttle_threshold, 100, "cpuThrottlingThreshold",
              "must be a positive number between 1 and 100");
  if (config.throttle_jitter < 0)
    problems.push_back("cpuJitterLimitPercent must be a non-negative number between 1 and 100");
  if (config.throttle_recover <= 0) problems.push_back("cpuRecoverLimitPercent must be a positive number");
  return all_or_ok(problems);
}

bool sells_type(std::string_view types, std::string_view resource) {
  for (const std::string_view type : base::split_words(types, ','))
    if (type == resource) return true;
  return false;
}

}  // namespace colocation
