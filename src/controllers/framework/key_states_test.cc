// Keys that nobody looks at again do not stay for ever; those that still wait or fail do.
#include "controllers/framework/key_states.h"

#include <gtest/gtest.h>

namespace controllers {
namespace {

constexpr base::Time kStart{1'774'000'000'000'000'000};

TEST(KeyStates, of_keys_that_are_looked_at_once_go_in_time) {
  KeyStates states;
  std::size_t most = 0;
  for (int i = 0; i < 100'000; ++i) {
    const base::Duration uptime = base::milliseconds(10) * i;
    KeyState& state = states.of("ns/pod-" + std::to_string(i), kStart + uptime, uptime);
    state.rest_until = uptime + base::milliseconds(1);
    state.awaited = {{Written::Change::kCreated, {}, "ns/group", "", ""}};
    state.awaited_since = kStart + uptime;
    most = std::max(most, states.size());
  }
  // 12,000 came within the two minutes in which what they wrote may be late.
  EXPECT_LE(most, 2u * 12'000 + 1);
}

TEST(KeyStates, of_keys_that_fail_rest_or_wait_stay) {
  KeyStates states;
  states.of("fails", kStart, {}).failures = 3;
  states.of("rests", kStart, {}).rest_until = base::minutes(10);
  KeyState& waits = states.of("waits", kStart, {});
  waits.awaited = {{Written::Change::kCreated, {}, "ns/group", "", ""}};
  waits.awaited_since = kStart + base::minutes(4);
  states.of("is over", kStart, {}).error = "x";
  const base::Duration later = base::minutes(5);
  for (int i = 0; i < 2'000; ++i) states.of(std::to_string(i), kStart + later, later);
  EXPECT_EQ(states.of("fails", kStart + later, later).failures, 3);
  EXPECT_EQ(states.of("rests", kStart + later, later).rest_until, base::minutes(10));
  EXPECT_EQ(states.of("waits", kStart + later, later).awaited.size(), 1u);
  EXPECT_EQ(states.of("is over", kStart + later, later).error, "");
}

}  // namespace
}  // namespace controllers
