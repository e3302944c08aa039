// When does a flow get its first status?
#include <gtest/gtest.h>

#include "controllers/framework/world_for_tests.h"
#include "controllers/jobflow/controller.h"

namespace controllers::jobflow {
namespace {

namespace resources = api::resources;

class FirstStatus : public ::testing::Test {
 protected:
  FirstStatus() {
    world.use_indexes_of(*controller);
    world.put_text(resources::kJobFlows, R"({"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow",
        "metadata": {"name": "f", "namespace": "ns"}, "spec": {"flows": [{"name": "a"}]}})");
  }
  std::string look() { return world.turn(*controller, "ns/f"); }
  TestWorld world;
  std::unique_ptr<Controller> controller = make_jobflow_controller(nullptr);
};

TEST_F(FirstStatus, comes_with_the_first_job) {
  world.put_text(resources::kJobTemplates,
                 R"({"kind": "JobTemplate", "metadata": {"name": "a", "namespace": "ns"}, "spec": {}})");
  EXPECT_EQ(look(), "create Job ns/f-a\n");
  EXPECT_TRUE(look().starts_with("status JobFlow ns/f {"));
}

// So whoever creates a flow and then changes it meets no conflict.
TEST_F(FirstStatus, comes_after_a_second_where_no_job_can_be_made) {
  look();
  world.now = world.now + base::milliseconds(999);
  EXPECT_EQ(look(), "");
  world.now = world.now + base::milliseconds(1);
  EXPECT_EQ(look(), "status JobFlow ns/f {\"state\":{\"phase\":\"Pending\"}}\n");
}

}  // namespace
}  // namespace controllers::jobflow
