// Callbacks of the agent's parts and its calls for pods, at the end of the agent and of a pod.
#include "node/agent/core/pod_work.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "node/agent/agent_world_for_tests.h"

namespace node {
namespace {

struct Parts {
  client::testing::FakeEnv env;
  made_up::Machine machine;
  std::shared_ptr<int> agent = std::make_shared<int>();
  AgentLoop loop{env, std::make_shared<made_up::FakeRuntime>(machine)};
  std::vector<std::string> seen;
  PodWork work{loop,
               4,
               "",
               {.erased = [this](const std::string& uid) { seen.push_back("erased " + uid); },
                .ended = [this] { seen.emplace_back("ended"); }}};

  Parts() {
    machine.env = &env;
    loop.guard().belong_to(agent);
  }
  void start(const std::string& uid) {
    work.run<int>(
        uid,
        [this](Runtime&) {
          machine.log.emplace_back("start");
          return 0;
        },
        [this](int) { seen.emplace_back("started"); });
  }
};

TEST(PodWork, a_folder_goes_after_the_calls_that_are_under_way) {
  Parts parts;
  parts.start("u");
  parts.work.erase("u");
  EXPECT_TRUE(parts.work.has("u"));
  parts.env.run_for(base::seconds(1));
  EXPECT_EQ(parts.machine.log, (std::vector<std::string>{"start", "erase"}));
  EXPECT_EQ(parts.seen, (std::vector<std::string>{"started", "ended", "erased u", "ended"}));
  EXPECT_TRUE(parts.work.is_idle());
}

TEST(PodWork, a_pod_without_calls_is_erased_at_once) {
  Parts parts;
  parts.work.erase("u");
  parts.work.erase("u");
  parts.env.run_for(base::seconds(1));
  EXPECT_EQ(parts.machine.log, (std::vector<std::string>{"erase", "erase"}))
      << "the second came while one was under way";
}

TEST(AgentLoop, no_callback_runs_once_the_agent_is_gone) {
  Parts parts;
  parts.start("u");
  parts.loop.after(base::seconds(1), [&parts] { parts.seen.emplace_back("timer"); });
  parts.loop.post([&parts] { parts.seen.emplace_back("posted"); });
  parts.agent.reset();
  parts.env.run_for(base::seconds(2));
  EXPECT_EQ(parts.machine.log, std::vector<std::string>{"start"}) << "work off the loop may outlive the agent";
  EXPECT_TRUE(parts.seen.empty());
}

TEST(AgentLoop, a_callback_keeps_the_agent_alive_while_it_runs) {
  Parts parts;
  const std::weak_ptr<int> agent = parts.agent;
  bool lived = false;
  parts.loop.post([&] {
    parts.agent.reset();
    lived = !agent.expired();
  });
  parts.env.run_for({});
  EXPECT_TRUE(lived);
  EXPECT_TRUE(agent.expired());
}

}  // namespace
}  // namespace node
