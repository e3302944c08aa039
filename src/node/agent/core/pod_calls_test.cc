// Which calls for pods run while others hang.
#include "node/agent/core/pod_calls.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <vector>

#include "client/fake_env_for_tests.h"

namespace node {
namespace {

// Each piece of work ends when it is told to.
struct HangingEnv : client::testing::FakeEnv {
  std::vector<rt::Task> under_way;
  void offload(rt::Task work, rt::Task done) override {
    work();
    under_way.push_back(std::move(done));
  }
};

struct Calls {
  HangingEnv env;
  std::string begun;
  int ended = 0;

  void run(PodCalls& calls, const std::string& uid, PodCalls::Part part = PodCalls::Part::kGoesOn) {
    calls.run(
        uid, [this, uid] { begun += uid + " "; }, [this] { ++ended; }, part);
  }
  void end(std::size_t index) {
    std::exchange(env.under_way[index], [] {})();
  }
};

// Eight starts that hung held up every other pod of the node for a minute and more.
TEST(PodCalls, those_that_hang_do_not_hold_up_other_pods) {
  Calls test;
  PodCalls calls(test.env, 12);
  for (int i = 0; i < 9; ++i) test.run(calls, std::string(1, static_cast<char>('a' + i)));
  EXPECT_EQ(test.begun, "a b c d e f g h ");
  test.env.run_for(base::seconds(4));
  EXPECT_EQ(test.begun, "a b c d e f g h ");
  test.env.run_for(base::seconds(2));
  EXPECT_EQ(test.begun, "a b c d e f g h i ");
  // Their pods come after others, whoever asked first.
  for (const char* uid : {"j", "k", "l"}) test.run(calls, uid);
  EXPECT_EQ(test.begun, "a b c d e f g h i j k l ") << "there are threads for twelve";
  for (const char* uid : {"a", "b", "m"}) test.run(calls, uid);
  test.end(0);
  test.end(1);
  EXPECT_EQ(test.begun, "a b c d e f g h i j k l m a ");
  test.end(8);
  EXPECT_EQ(test.begun, "a b c d e f g h i j k l m a b ");
  EXPECT_EQ(test.ended, 3);
}

TEST(PodCalls, pods_take_turns) {
  Calls test;
  PodCalls calls(test.env, 100);
  for (int i = 0; i < 20; ++i) test.run(calls, "many");
  test.run(calls, "one");
  for (std::size_t i = 0; i < 3; ++i) test.end(i);
  EXPECT_EQ(test.begun, "many many many many many many many many many one many ");
}

// A hundred pods that came together were all made ready before the first of them started.
TEST(PodCalls, pods_that_have_begun_come_before_those_that_begin) {
  Calls test;
  PodCalls calls(test.env, 100);
  for (int i = 0; i < 12; ++i) test.run(calls, std::string(1, static_cast<char>('a' + i)), PodCalls::Part::kBegins);
  EXPECT_EQ(test.begun, "a b c d e f g h ");
  for (std::size_t i = 0; i < 5; ++i) test.run(calls, std::string(1, static_cast<char>('A' + i)));
  for (std::size_t i = 0; i < 8; ++i) test.end(i);
  EXPECT_EQ(test.begun, "a b c d e f g h A B C i D E j k ")
      << "every fourth turn is that of the one that waits longest";
}

TEST(PodCalls, those_under_way_may_outlive_it) {
  Calls test;
  {
    PodCalls calls(test.env, 100);
    test.run(calls, "a");
  }
  test.env.run_for(base::seconds(10));
  test.end(0);
  EXPECT_EQ(test.ended, 1);
}

}  // namespace
}  // namespace node
