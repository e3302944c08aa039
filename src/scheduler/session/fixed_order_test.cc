// Do items come out in their order, also those that come after the first was taken?
#include "scheduler/session/fixed_order.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <set>

namespace scheduler {
namespace {

using Order = FixedOrder<int, std::less<int>>;

TEST(FixedOrder, the_least_comes_first_whenever_it_came) {
  std::mt19937 random(7);
  for (int run = 0; run < 200; ++run) {
    Order order{std::less<int>()};
    std::set<int> waiting;
    const auto push = [&] {
      const int item = static_cast<int>(random() % 1000);
      if (waiting.insert(item).second) order.push(item);
    };
    const auto early = random() % 20;
    for (unsigned i = 0; i < early; ++i) push();
    for (int step = 0; step < 60; ++step) {
      ASSERT_EQ(order.empty(), waiting.empty());
      if (waiting.empty() || random() % 3 == 0) {
        push();
        continue;
      }
      const int least = order.pop();
      ASSERT_EQ(least, *waiting.begin());
      waiting.erase(waiting.begin());
    }
  }
}

TEST(FixedOrder, what_comes_next_is_known_once_the_first_is_taken) {
  Order order{std::less<int>()};
  for (const int item : {30, 10, 20}) order.push(item);
  EXPECT_EQ(order.after(0), nullptr);
  EXPECT_EQ(order.pop(), 10);
  ASSERT_NE(order.after(1), nullptr);
  EXPECT_EQ(*order.after(0), 20);
  EXPECT_EQ(*order.after(1), 30);
  EXPECT_EQ(order.after(2), nullptr);
}

}  // namespace
}  // namespace scheduler
