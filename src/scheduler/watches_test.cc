// Which resources does the scheduler ask for, as flags and gates say?
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "client/fake_client_for_tests.h"
#include "client/fake_env_for_tests.h"
#include "scheduler/scheduler.h"

namespace scheduler {
namespace {

std::set<std::string> asked_for(const std::vector<std::string>& flags, Options options) {
  client::testing::FakeEnv env;
  client::testing::FakeClient server(env);
  EXPECT_TRUE(parse_options(flags, options).ok());
  Scheduler scheduler(env, server, options);
  scheduler.start();
  env.run_for(base::milliseconds(100));
  std::set<std::string> out;
  for (const client::Request& request : server.calls)
    if (request.verb == client::Verb::kList) out.insert(request.resource.plural);
  return out;
}

TEST(Watches, what_a_switch_turns_off_is_not_asked_for) {
  const struct {
    std::string flag;
    std::set<std::string> unread;
    bool of_single_pods = true;  // of the agent scheduler, too, which reads nothing about groups
  } kRows[] = {
      {"--csi-storage=false", {"csidrivers", "csistoragecapacities"}},
      {"--feature-gates=DynamicResourceAllocation=false", {"deviceclasses", "resourceclaims", "resourceslices"}},
      {"--feature-gates=WorkLoadSupport=false", {"replicasets", "replicationcontrollers", "statefulsets"}},
      {"--feature-gates=ResourceTopology=false", {"numatopologies"}, false},
      {"--feature-gates=PodDisruptionBudgetsSupport=false", {"poddisruptionbudgets"}, false},
      {"--feature-gates=PriorityClass=false", {"priorityclasses"}, false},
      {"--priority-class=false", {"priorityclasses"}, false},
      {"--feature-gates=CSIStorage=false", {}},  // means nothing any more
  };
  for (const Options& program : {Options(), agent_options()}) {
    const std::set<std::string> all = asked_for({}, program);
    for (const auto& row : kRows) {
      if (program.single_pods && !row.of_single_pods) continue;
      std::set<std::string> wanted = all;
      for (const std::string& one : row.unread) EXPECT_EQ(wanted.erase(one), 1u) << one;
      EXPECT_EQ(asked_for({row.flag}, program), wanted) << row.flag;
    }
  }
}

}  // namespace
}  // namespace scheduler
