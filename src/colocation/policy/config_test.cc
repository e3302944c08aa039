// Defaults, overlays, and every rule by name.
#include "colocation/policy/config.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "colocation/policy/features.h"

namespace colocation {
namespace {

using api::Json;

Json labels(const char* key = nullptr) { return key ? Json::object({{key, "true"}}) : Json::object(); }

std::string refusal(const std::string& sections) {
  const auto read = config_for(base::format(R"({{"globalConfig":{{{}}}}})", sections), labels());
  return read.ok() ? "" : read.error().message;
}

TEST(Config, the_text_that_is_made_says_the_defaults) {
  const auto read = config_for(default_config_text(false), labels());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, Config());
  EXPECT_TRUE(config_for(default_config_text(true), labels())->cpu_qos);
}

TEST(Config, labels_alone_say_whether_a_node_takes_part) {
  const std::string text =
      R"({"globalConfig":{"nodeLabelConfig":{"nodeColocationEnable":true,"nodeOverSubscriptionEnable":true}}})";
  EXPECT_FALSE(config_for(text, labels())->colocation);
  EXPECT_TRUE(config_for(text, labels("volcano.sh/colocation"))->colocation);
  EXPECT_FALSE(config_for(text, labels("volcano.sh/colocation"))->oversubscription);
  EXPECT_TRUE(config_for(text, labels("volcano.sh/oversubscription"))->colocation);
  EXPECT_TRUE(config_for(text, labels("volcano.sh/oversubscription"))->oversubscription);
  // Without a globalConfig the built-in defaults are in force.
  EXPECT_TRUE(config_for("{}", labels())->colocation);
}

TEST(Config, the_last_entry_that_selects_the_node_lies_over_all) {
  const std::string text =
      R"({"globalConfig":{"cpuQosConfig":{"enable":true},"evictingConfig":{"evictingCPUHighWatermark":70}},
    "nodesConfig":[
     {"selector":{"matchLabels":{"a":"true"}},"evictingConfig":{"evictingCPUHighWatermark":60}},
     {"selector":{"matchLabels":{"a":"true"}},"cpuQosConfig":{"enable":false},"evictingConfig":{"evictingMemoryHighWatermark":50}},
     {"selector":{"matchLabels":{"b":"true"}},"evictingConfig":{"evictingCPUHighWatermark":40}},
     {"evictingConfig":{"evictingCPUHighWatermark":41}}]})";
  const Config one = *config_for(text, labels("a"));
  EXPECT_FALSE(one.cpu_qos);
  EXPECT_EQ(one.cpu_high, 70);
  EXPECT_EQ(one.memory_high, 50);
  EXPECT_EQ(config_for(text, labels())->cpu_high, 70);
  EXPECT_EQ(config_for(text, labels("b"))->cpu_high, 40);
}

TEST(Config, every_rule_is_named) {
  struct Row {
    const char* sections;
    const char* text;
  };
  constexpr const char* kThousand = " must be a positive number between 1 and 1000";
  for (const Row& row : {
           Row{R"("networkQosConfig":{"qosCheckInterval":0})", "qosCheckInterval must be a positive number"},
           {R"("evictingConfig":{"evictingCPULowWatermark":0})", "evictingCPULowWatermark must be a positive number"},
           {R"("evictingConfig":{"evictingMemoryLowWatermark":-5})",
            "evictingMemoryLowWatermark must be a positive number"},
           {R"("evictingConfig":{"evictingCPUHighWatermark":20})",
            "cpu evicting low watermark is higher than high watermark"},
           {R"("evictingConfig":{"evictingMemoryHighWatermark":20})",
            "memory evicting low watermark is higher than high watermark"},
           {R"("overSubscriptionConfig":{"overSubscriptionTypes":"cpu,disk"})",
            "overSubscriptionType(disk) is not supported, only supports cpu/memory"},
           {R"("cpuThrottlingConfig":{"cpuThrottlingThreshold":101})",
            "cpuThrottlingThreshold must be a positive number between 1 and 100"},
           {R"("cpuThrottlingConfig":{"cpuJitterLimitPercent":-1})",
            "cpuJitterLimitPercent must be a non-negative number between 1 and 100"},
           {R"("cpuThrottlingConfig":{"cpuRecoverLimitPercent":0})",
            "cpuRecoverLimitPercent must be a positive number"},
           {R"("cpuQosConfig":{"enable":1})", "globalConfig.cpuQosConfig.enable must be true or false, not 1"},
           {R"("cpuQosConfig":[])", "globalConfig.cpuQosConfig must be an object, not []"},
           {R"("evictingConfig":{"evictingCPUHighWatermark":"80"})",
            "globalConfig.evictingConfig.evictingCPUHighWatermark must be a whole number, not \"80\""},
           {R"("overSubscriptionConfig":{"overSubscriptionTypes":1})",
            "globalConfig.overSubscriptionConfig.overSubscriptionTypes must be a text, not 1"},
       })
    EXPECT_EQ(refusal(row.sections), row.text) << row.sections;
  EXPECT_EQ(refusal(R"("networkQosConfig":{"onlineBandwidthWatermarkPercent":0})"),
            std::string("onlineBandwidthWatermarkPercent") + kThousand);
  EXPECT_EQ(refusal(R"("networkQosConfig":{"offlineHighBandwidthPercent":1001})"),
            std::string("offlineHighBandwidthPercent") + kThousand);
  EXPECT_EQ(refusal(R"("networkQosConfig":{"offlineLowBandwidthPercent":50})"),
            "offlineHighBandwidthPercent cannot be less than offlineLowBandwidthPercent");
}

TEST(Config, several_broken_rules_are_told_together) {
  EXPECT_EQ(
      refusal(R"("networkQosConfig":{"qosCheckInterval":-1},"cpuThrottlingConfig":{"cpuRecoverLimitPercent":-3})"),
      "[qosCheckInterval must be a positive number, cpuRecoverLimitPercent must be a positive number]");
  EXPECT_FALSE(config_for("{", labels()).ok());
  EXPECT_FALSE(config_for("[]", labels()).ok());
  EXPECT_FALSE(config_for(R"({"globalConfig":3})", labels()).ok());
  EXPECT_FALSE(
      config_for(
          R"({"globalConfig":{},"nodesConfig":[{"selector":{"matchExpressions":[{"key":"a","operator":"x"}]}}]})",
          labels())
          .ok());
}

TEST(Config, missing_sections_are_added) {
  EXPECT_EQ(*completed_config_text(default_config_text(false)), "");
  const auto added = completed_config_text(R"({"globalConfig":{}})");
  ASSERT_TRUE(added.ok());
  EXPECT_EQ(*config_for(*added, labels()), Config());
  EXPECT_FALSE(completed_config_text("{}").ok());
  EXPECT_FALSE(completed_config_text("").ok());
}

TEST(Features, the_first_entry_that_names_one_decides) {
  const auto has = [](std::vector<std::string> entries, Feature feature) {
    return SupportedFeatures(entries).has(feature);
  };
  EXPECT_TRUE(has({"Eviction"}, Feature::kEviction));
  EXPECT_FALSE(has({"Eviction"}, Feature::kCpuQos));
  EXPECT_TRUE(has({"*"}, Feature::kNetworkQos));
  EXPECT_FALSE(has({"*", "-NetworkQoS"}, Feature::kNetworkQos));
  EXPECT_TRUE(has({"CPUQoS", "-CPUQoS"}, Feature::kCpuQos));
  EXPECT_FALSE(has({"-CPUQoS", "CPUQoS", "*"}, Feature::kCpuQos));
  EXPECT_FALSE(has({}, Feature::kEviction));
  EXPECT_EQ(SupportedFeatures({"*", "-CPUQoS", "CpuQos"}).unknown(), std::vector<std::string>{"CpuQos"});
}

TEST(Features, a_feature_is_on_where_labels_and_configuration_say_so) {
  const SupportedFeatures all({"*"});
  Config config;
  for (bool Config::*flag : {&Config::cpu_qos, &Config::cpu_burst, &Config::memory_qos, &Config::memory_qos_v2,
                             &Config::network_qos, &Config::throttle})
    config.*flag = true;
  const auto on = [&](Feature feature) { return is_active(feature, all, config); };
  for (const Feature feature : {Feature::kCpuQos, Feature::kOversubscription, Feature::kCpuThrottle})
    EXPECT_FALSE(on(feature));
  config.colocation = true;
  EXPECT_TRUE(on(Feature::kCpuQos));
  EXPECT_TRUE(on(Feature::kMemoryQosV2));
  EXPECT_FALSE(on(Feature::kOversubscription));
  config.oversubscription = true;
  EXPECT_TRUE(on(Feature::kOversubscription));
  EXPECT_TRUE(on(Feature::kCpuThrottle));
  config.sells = false;
  EXPECT_FALSE(on(Feature::kOversubscription));
  EXPECT_TRUE(on(Feature::kEviction));
}

}  // namespace
}  // namespace colocation
