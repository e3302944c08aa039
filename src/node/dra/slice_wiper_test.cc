// When ResourceSlices are deleted.
#include "node/dra/slice_wiper.h"

#include <gtest/gtest.h>

#include "client/fake_client_for_tests.h"
#include "client/fake_env_for_tests.h"

namespace node {
namespace {

class Slices : public testing::Test {
 protected:
  // The slices deleted since.
  std::string deleted() {
    std::string out;
    for (const client::Request& request : std::exchange(server.calls, {}))
      if (request.verb == client::Verb::kDeleteCollection && request.resource == api::resources::kResourceSlices)
        out += request.field_selector + "; ";
    return out;
  }

  client::testing::FakeEnv env;
  client::testing::FakeClient server{env};
  SliceWiper wiper{env, server, "n1"};
};

TEST_F(Slices, of_a_driver_that_stays_away_go) {
  wiper.driver_gone("gpu.org");
  wiper.driver_gone("nic.org");
  env.run_for(base::seconds(29));
  wiper.driver_came("nic.org");
  EXPECT_EQ(deleted(), "");
  env.run_for(base::seconds(2));
  EXPECT_EQ(deleted(), "spec.nodeName=n1,spec.driver=gpu.org; ");
  env.run_for(base::minutes(10));
  EXPECT_EQ(deleted(), "");
}

TEST_F(Slices, go_when_the_agent_starts_and_are_tried_again) {
  bool done = false;
  server.failures.push_back(base::make_error(base::Code::kUnavailable, "not now"));
  wiper.wipe_all([&] { done = true; });
  env.settle();
  EXPECT_TRUE(done) << "drivers need not wait for a server that does not answer";
  env.run_for(base::seconds(2));
  EXPECT_EQ(deleted(), "spec.nodeName=n1; spec.nodeName=n1; ");
  env.run_for(base::minutes(10));
  EXPECT_EQ(deleted(), "");
}

}  // namespace
}  // namespace node
