// The API server's answers to pods of a template.
#include <gtest/gtest.h>

#include "admission/rules/fake_objects_for_tests.h"
#include "admission/rules/names.h"
#include "admission/rules/rules.h"
#include "api/json/json.h"
#include "base/format.h"

namespace admission {
namespace {

using api::Json;
using api::Operation;

TEST(PodTemplates, resources_of_a_pod_cover_those_of_its_containers) {
  struct Row {
    std::string_view spec;  // of task 0's pod
    std::string_view message;
  };
  constexpr std::string_view kTwo =
      R"("containers": [{"name": "a", "image": "i", "resources": {"requests": {"cpu": 2}}},)"
      R"({"name": "b", "image": "i", "resources": {"requests": {"cpu": "2500m"}}}])";
  constexpr Row kRows[] = {
      {R"({"resources": {"requests": {"cpu": "4500m"}, "limits": {"cpu": 8}}, @})", ""},
      {R"({"resources": {"requests": {"memory": "1Gi"}}, @})", ""},  // cpu is left to the containers
      {R"({"resources": {"requests": {"cpu": 4}}, @})",
       "resources.requests[cpu]: Invalid value: \"4\": must be greater than or equal to aggregate container requests "
       "of "
       "4500m"},
      {R"({"resources": {"requests": {"cpu": 5}}, "initContainers": [{"name": "s", "image": "i", "restartPolicy":
          "Always", "resources": {"requests": {"cpu": 1}}}], @})",
       "resources.requests[cpu]: Invalid value: \"5\": must be greater than or equal to aggregate container requests "
       "of "
       "5500m"},
      {R"({"resources": {"requests": {"cpu": 6}}, "initContainers": [{"name": "s", "image": "i", "resources":
          {"requests": {"cpu": 7}}}], @})",
       "resources.requests[cpu]: Invalid value: \"6\": must be greater than or equal to aggregate container requests "
       "of "
       "7"},
      {R"({"resources": {"requests": {"cpu": 6}, "limits": {"cpu": 5}}, @})",
       "resources.requests: Invalid value: \"6\": must be less than or equal to cpu limit of 5"},
      {R"({"resources": {"limits": {"memory": "1Gi"}}, "containers": [{"name": "a", "image": "i", "resources":
          {"limits": {"memory": "2Gi"}}}]})",
       "resources.containers[0][memory].limits: Invalid value: \"2Gi\": must be less than or equal to pod limits of "
       "1Gi"},
      {R"({"resources": {"limits": {"nvidia.com/gpu": 1}}, @})",
       "resources.limits[nvidia.com/gpu]: Unsupported value: \"nvidia.com/gpu\": supported values: \"cpu\", "
       "\"hugepages-\", \"memory\""},
      {R"({"resources": {"requests": {"gpus": 1}}, @})",
       "resources.requests[gpus]: Invalid value: \"gpus\": must be a standard resource type or fully qualified"},
      {R"({"os": {"name": "windows"}, "resources": {"requests": {"cpu": 9}}, @})",
       "resources: Forbidden: may not be set for a windows pod"},
  };
  for (const Row& row : kRows) {
    std::string spec(row.spec);
    if (const std::size_t mark = spec.find('@'); mark != std::string::npos) spec.replace(mark, 1, kTwo);
    auto read = api::parse_json(base::format(R"({{"spec": {}}})", spec));
    ASSERT_TRUE(read.ok()) << spec;
    const std::vector<std::string> problems = check_pod_template(*read, "template", true);
    EXPECT_EQ(join(problems, "\n"), row.message.empty() ? "" : base::format("template.spec.{}", row.message)) << spec;
    EXPECT_TRUE(check_pod_template(*read, "template", false).empty()) << "the feature gate is off";
  }
}

TEST(PodTemplates, problems_of_many_tasks_are_told_as_far_as_anybody_reads_them) {
  Json job = json(R"({"metadata": {"name": "train"}, "spec": {"minAvailable": 1, "queue": "default"}})");
  FakeObjects objects;
  objects.add(api::resources::kQueues, R"({"metadata": {"name": "default"}, "status": {"state": "Open"}})");
  Json pod = json(R"({"containers": [{"name": "c", "image": "i"}]})");
  Json tolerations = Json::array();
  for (int i = 0; i < 1'000; ++i) tolerations.push_back(json(R"({"operator": "no"})"));
  pod.set("tolerations", std::move(tolerations));
  Json tasks = Json::array();
  for (int i = 0; i < 20; ++i)
    tasks.push_back(
        Json::object({{"name", base::format("t{}", i)}, {"replicas", 1}, {"template", Json::object({{"spec", pod}})}}));
  job.edit("spec").set("tasks", std::move(tasks));
  const std::string message = ask("/jobs/validate", Operation::kCreate, job, objects).message;
  EXPECT_GT(message.size(), 60'000u);
  EXPECT_LT(message.size(), 70'000u);
}

}  // namespace
}  // namespace admission
