// A job template's status about the jobs made from it.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "base/format.h"
#include "controllers/framework/world_for_tests.h"
#include "controllers/jobtemplate/controller.h"

namespace controllers::jobtemplate {
namespace {

namespace resources = api::resources;

TEST(JobTemplate, lists_the_jobs_that_were_made_from_it) {
  TestWorld world;
  auto controller = make_jobtemplate_controller();
  world.use_indexes_of(*controller);
  world.put_text(resources::kJobTemplates,
                 R"({"kind": "JobTemplate", "metadata": {"name": "t.v1", "namespace": "ns"}})");
  const auto listed = [&] {
    return (*world.find(resources::kJobTemplates, "ns/t.v1"))["status"]["jobDependsOnList"].dump();
  };
  EXPECT_EQ(world.turn(*controller, "ns/t.v1"), "");
  for (const auto& [name, place, mark] :
       {std::tuple{"y", "labels", "ns.t.v1"}, std::tuple{"x", "annotations", "ns.t.v1"},
        std::tuple{"z", "labels", "ns.t"}, std::tuple{"w", "labels", "other.t.v1"}})
    world.put_text(resources::kJobs, base::format(R"({{"kind": "Job", "metadata": {{"name": "{}", "namespace": "ns",
        "{}": {{"volcano.sh/createdByJobTemplate": "{}"}}}}}})",
                                                  name, place, mark));
  world.turn(*controller, "ns/t.v1");
  EXPECT_EQ(listed(), R"(["x","y"])");
  EXPECT_EQ(world.turn(*controller, "ns/t.v1"), "");
  world.erase(resources::kJobs, "ns/x");
  world.turn(*controller, "ns/t.v1");
  EXPECT_EQ(listed(), R"(["y"])");
  world.erase(resources::kJobs, "ns/y");
  world.turn(*controller, "ns/t.v1");
  EXPECT_EQ(listed(), "null");
}

}  // namespace
}  // namespace controllers::jobtemplate
