// The table of percentages, base rates, and the turn between the two rates.
#include "colocation/policy/network_rate.h"

#include <gtest/gtest.h>

#include <limits>

#include "colocation/made_up_machine_for_tests.h"

namespace colocation {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

Config percents(std::int64_t watermark, std::int64_t low, std::int64_t high) {
  Config config;
  config.online_bandwidth_percent = watermark;
  config.offline_low_percent = low;
  config.offline_high_percent = high;
  return config;
}

TEST(NetworkRate, percentages_of_the_base_rate_are_bytes_per_second) {
  struct Row {
    std::int64_t mbps;
    Config config;
    NetworkRates rates;
  };
  for (const Row& row : {Row{1000, Config(), {100'000'000, 12'500'000, 50'000'000}},
                         Row{1000, percents(50, 5, 25), {62'500'000, 6'250'000, 31'250'000}},
                         Row{1, percents(1, 1, 1), {1250, 1250, 1250}},
                         Row{10, percents(1000, 1, 1000), {12'500'000, 12'500, 12'500'000}},
                         Row{400'000, Config(), {40'000'000'000, 5'000'000'000, 20'000'000'000}},
                         Row{kMax, percents(1000, 1, 1000), {kMax, kMax, kMax}}})
    EXPECT_EQ(network_rates(row.config, row.mbps), row.rates) << row.mbps;
}

TEST(NetworkRate, the_base_rate_is_the_annotation_or_the_uplinks_speed) {
  const auto of = [](const std::string& annotations, const Uplink& uplink) {
    const auto mbps = base_network_mbps(
        made_up::object(base::format("{{metadata: {{name: n1, annotations: {{{}}}}}}}", annotations)), uplink);
    return mbps.ok() ? std::to_string(*mbps) : mbps.error().message;
  };
  EXPECT_EQ(of(R"(volcano.sh/network-bandwidth-rate: "2500")", {"eth0", 1000}), "2500");
  EXPECT_EQ(of("", {"eth0", 1000}), "1000");
  EXPECT_EQ(of("", {"eth0", {}}),
            "failed to get bandwidth configs: failed to get flavor quota min rate, err: node n1 network bandwidth rate "
            "not exists, annotation volcano.sh/network-bandwidth-rate; the interface eth0 states no speed");
  EXPECT_TRUE(of("", {}).ends_with("; the machine has no default route"));
  for (const char* wrong : {"0", "-5", "1G", "", "1.5", "9223372036854775808"})
    EXPECT_EQ(of(base::format(R"(volcano.sh/network-bandwidth-rate: "{}")", wrong), {"eth0", 1000}),
              base::format("annotation volcano.sh/network-bandwidth-rate of node n1 must be a positive number of Mbps, "
                           "not \"{}\"",
                           wrong));
}

TEST(NetworkRate, what_was_sent_is_the_growth_of_counters_that_both_readings_have) {
  EXPECT_EQ(sent_between({}, {{"a", 5}}), 0);
  EXPECT_EQ(sent_between({{"a", 5}, {"gone", 7}}, {{"a", 25}, {"new", 1000}}), 20);
  EXPECT_EQ(sent_between({{"a", 50}, {"b", 1}}, {{"a", 3}, {"b", 4}}), 3);  // a was made anew
  EXPECT_EQ(sent_between({{"a", 0}, {"b", 0}}, {{"a", kMax}, {"b", kMax}}), kMax);
}

TEST(NetworkRate, the_low_rate_comes_at_once_and_goes_after_a_second_well_below_the_watermark) {
  const NetworkRates rates{.online_watermark = 1000, .offline_low = 100, .offline_high = 400};
  struct Step {
    std::int64_t bytes;  // in 100 ms
    bool is_low;
  };
  RateState state;
  for (const Step& step : {Step{100, false}, Step{101, true}, Step{100, true}, Step{95, true}})
    EXPECT_EQ((state = next_rate_state(state, rates, step.bytes, base::milliseconds(100))).is_low, step.is_low)
        << step.bytes;
  const auto calm_steps = [&](int count) {
    for (int at = 0; at < count; ++at) state = next_rate_state(state, rates, 90, base::milliseconds(100));
    return state.is_low;
  };
  EXPECT_TRUE(calm_steps(9));
  state = next_rate_state(state, rates, 95, base::milliseconds(100));  // near the watermark: calm begins anew
  EXPECT_TRUE(calm_steps(9));
  EXPECT_FALSE(calm_steps(1));
  EXPECT_EQ(state.online_rate, 900);
}

TEST(NetworkRate, a_load_that_swings_around_the_watermark_turns_once) {
  const NetworkRates rates{.online_watermark = 1000, .offline_low = 100, .offline_high = 400};
  RateState state;
  int turns = 0;
  for (int at = 0; at < 1000; ++at) {
    const RateState next = next_rate_state(state, rates, at % 2 == 0 ? 110 : 50, base::milliseconds(100));
    turns += next.is_low != state.is_low ? 1 : 0;
    state = next;
  }
  EXPECT_EQ(turns, 1);
}

TEST(NetworkRate, spans_that_make_no_sense_change_nothing) {
  const NetworkRates rates{.online_watermark = 1000, .offline_low = 100, .offline_high = 400};
  const RateState low{.is_low = true, .calm = base::milliseconds(300), .online_rate = 5};
  EXPECT_EQ(next_rate_state(low, rates, 0, {}), low);
  EXPECT_EQ(next_rate_state(low, rates, 0, base::Duration{-5}), low);
  EXPECT_TRUE(next_rate_state({}, rates, kMax, base::Duration{1}).is_low);
}

TEST(NetworkRate, the_interval_is_the_configured_one_within_bounds) {
  Config config;
  EXPECT_EQ(network_check_interval(config), base::milliseconds(100));
  config.network_check_interval_ns = 2'000'000'000;
  EXPECT_EQ(network_check_interval(config), base::seconds(2));
  config.network_check_interval_ns = kMax;
  EXPECT_EQ(network_check_interval(config), base::seconds(10));
}

}  // namespace
}  // namespace colocation
