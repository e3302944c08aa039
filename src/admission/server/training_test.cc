// Admission of training jobs: every message of training.md 3.
#include <gtest/gtest.h>

#include "admission/rules/fake_objects_for_tests.h"
#include "base/format.h"

namespace admission {
namespace {

using api::Json;
using api::Operation;

struct Row {
  std::string_view singular;
  std::string_view spec;
  std::string_view message;
};

std::string path_of(std::string_view singular) { return base::format("/validate-kubeflow-org-v1-{}", singular); }

std::string refusal(const Row& row, std::string_view name = "job") {
  std::string spec(row.spec);
  // {name}: a replica whose only container has that name.
  for (const std::string_view container : {"pytorch", "tensorflow", "xgboost", "paddle", "jax", "other"}) {
    const std::string mark = base::format("<{}>", container);
    for (std::size_t at; (at = spec.find(mark)) != std::string::npos;)
      spec.replace(
          at, mark.size(),
          base::format(R"("template": {{"spec": {{"containers": [{{"name": "{}", "image": "i"}}]}}}})", container));
  }
  const Json object = json(base::format(R"({{"metadata": {{"name": "{}"}}, "spec": {}}})", name, spec));
  return ask(path_of(row.singular), Operation::kCreate, object, {}).message;
}

TEST(MpiJobs, of_the_version_that_is_not_run_are_refused) {
  const Json object = json(R"({"metadata": {"name": "j"}, "spec": {}})");
  const auto refused = [&](std::string_view path, Operation operation, const Options& options) {
    return ask(path, operation, object, {}, options, object).message;
  };
  const std::string_view newer = "/validate-kubeflow-org-v2beta1-mpijob";
  const std::string older = path_of("mpijob");
  EXPECT_EQ(refused(newer, Operation::kCreate, {.mpi_version = "v1"}),
            "MPIJobs of kubeflow.org/v2beta1 are not run here, those of kubeflow.org/v1 are; start with "
            "--mpi-job-version=v2beta1 to have them run instead");
  EXPECT_EQ(refused(older, Operation::kCreate, {.mpi_version = "v1"}), "");
  EXPECT_NE(refused(older, Operation::kCreate, {.mpi_version = "v2beta1"}), "");
  EXPECT_EQ(refused(newer, Operation::kCreate, {.mpi_version = "v2beta1"}), "");
  EXPECT_EQ(refused(newer, Operation::kUpdate, {.mpi_version = "v1"}), "") << "what is stored can be let go";
  EXPECT_EQ(refused(newer, Operation::kCreate, {}), "");
}

TEST(TrainingJobs, are_refused_with_all_problems) {
  constexpr Row kRows[] = {
      {"pytorchjob", R"({"pytorchReplicaSpecs": {"Master": {"replicas": 1, <pytorch>}, "Worker": {<pytorch>}}})", ""},
      {"pytorchjob", R"({})", "spec.pytorchReplicaSpecs: Required value: must be required"},
      {"pytorchjob", R"({"pytorchReplicaSpecs": {"Chief": {<pytorch>}}})",
       R"(spec.pytorchReplicaSpecs[Chief]: Unsupported value: "Chief": supported values: "Master", "Worker")"},
      {"pytorchjob", R"({"pytorchReplicaSpecs": {"Worker": {}}})",
       "spec.pytorchReplicaSpecs[Worker].template.spec.containers: Required value: must be specified"},
      {"pytorchjob", R"({"pytorchReplicaSpecs": {"Worker": null}})",
       "spec.pytorchReplicaSpecs[Worker].template.spec.containers: Required value: must be specified"},
      {"pytorchjob",
       R"({"pytorchReplicaSpecs": {"Worker": {"template": {"spec": {"containers": [{"name": "pytorch"}]}}}}})",
       "spec.pytorchReplicaSpecs[Worker].template.spec.containers[0].image: Required value: must be required"},
      {"pytorchjob", R"({"pytorchReplicaSpecs": {"Master": {<pytorch>}, "Worker": {"replicas": 0, <other>}}})",
       "[spec.pytorchReplicaSpecs[Master].replicas: Forbidden: must be 1, "
       "spec.pytorchReplicaSpecs[Worker].replicas: Forbidden: must be at least 1, "
       "spec.pytorchReplicaSpecs[Worker].template.spec.containers: Required value: must have at least one container "
       "with name pytorch]"},
      {"pytorchjob", R"({"runPolicy": {"managedBy": "me"}, "pytorchReplicaSpecs": {"Worker": {<pytorch>}}})",
       R"(spec.runPolicy.managedBy: Unsupported value: "me": supported values: "kubeflow.org/training-operator", )"
       R"("kueue.x-k8s.io/multikueue")"},
      {"pytorchjob", R"({"elasticPolicy": {}, "pytorchReplicaSpecs": {"Master": {"replicas": 1, <pytorch>}}})",
       "spec.pytorchReplicaSpecs[Worker]: Required value: must be configured if elastic policy is used"},
      {"pytorchjob",
       R"({"nprocPerNode": "2", "elasticPolicy": {"nProcPerNode": 2}, "pytorchReplicaSpecs": {"Worker": {<pytorch>}}})",
       "spec.elasticPolicy.nProcPerNode: Forbidden: must not be used with spec.nprocPerNode"},
      {"tfjob", R"({"tfReplicaSpecs": {"Ps": {<tensorflow>}, "Worker": {"replicas": 2, <tensorflow>}}})", ""},
      {"tfjob", R"({"tfReplicaSpecs": {"Chief": {<tensorflow>}, "Master": {<tensorflow>}}})",
       "spec.tfReplicaSpecs: Forbidden: must not have more than 1 Chief or Master role"},
      {"xgboostjob", R"({"xgbReplicaSpecs": {"Worker": {<xgboost>}}})",
       "spec.xgbReplicaSpecs[Master]: Required value: must be present"},
      {"xgboostjob", R"({"xgbReplicaSpecs": {"Master": {"replicas": 2, <xgboost>}}})",
       "spec.xgbReplicaSpecs[Master].replicas: Forbidden: must be 1"},
      {"paddlejob", R"({"paddleReplicaSpecs": {"Worker": {<other>}}})",
       R"(spec.paddleReplicaSpecs[Worker].template.spec.containers: Required value: must have at least one container )"
       R"(with name "paddle")"},
      {"jaxjob", R"({"jaxReplicaSpecs": {"Master": {<jax>}}})",
       R"(spec.jaxReplicaSpecs[Master]: Unsupported value: "Master": supported values: "Worker")"},
      {"jaxjob", R"({"runPolicy": {"managedBy": "me"}, "jaxReplicaSpecs": {"Worker": {<jax>}}})",
       R"(spec.runPolicy.managedBy: Unsupported value: "me": supported values: "kubeflow.org/training-operator", )"
       R"("kueue.x-k8s.io/multikueue")"},
      {"jaxjob", R"({"jaxReplicaSpecs": {"Worker": {"replicas": -3, <jax>}}})",
       "spec.jaxReplicaSpecs[Worker].replicas: Invalid value: -3: must be greater than or equal to 0"},
      {"mpijob", R"({})", ""},
      {"mpijob", R"({"runPolicy": {"managedBy": "kubeflow.org/training-operator"}})", ""},
      {"mpijob", R"({"runPolicy": {"managedBy": "me"}, "mpiReplicaSpecs": {"Worker": {"replicas": -1}}})",
       R"([spec.runPolicy.managedBy: Unsupported value: "me": supported values: "kubeflow.org/training-operator", )"
       R"("kueue.x-k8s.io/multikueue", spec.mpiReplicaSpecs[Worker].replicas: Invalid value: -1: must be greater than )"
       "or equal to 0]"},
  };
  for (const Row& row : kRows) EXPECT_EQ(refusal(row), row.message) << row.singular << " " << row.spec;
}

TEST(TrainingJobs, have_names_that_services_can_have) {
  EXPECT_EQ(refusal({"jaxjob", R"({"jaxReplicaSpecs": {"Worker": {<jax>}}})", ""}, "1st").substr(0, 69),
            R"(metadata.name: Invalid value: "1st": should match: a DNS-1035 label m)");
}

TEST(TrainingJobs, keep_their_manager_and_queue) {
  const auto job = [](std::string_view policy) {
    return json(base::format(R"({{"metadata": {{"name": "j"}}, "spec": {{"runPolicy": {}, "jaxReplicaSpecs": {{"Worker":
        {{"template": {{"spec": {{"containers": [{{"name": "jax", "image": "i"}}]}}}}}}}}}}}})",
                             policy));
  };
  const Json plain = job(R"({"schedulingPolicy": {"queue": "a"}})");
  const auto update = [&](std::string_view policy) {
    return ask(path_of("jaxjob"), Operation::kUpdate, job(policy), {}, {}, plain).message;
  };
  EXPECT_EQ(update(R"({"schedulingPolicy": {"queue": "a"}, "suspend": true})"), "");
  EXPECT_EQ(
      update(R"({"schedulingPolicy": {"queue": "b"}})"),
      R"(spec.runPolicy.schedulingPolicy.queue: Invalid value: "b": spec.runPolicy.schedulingPolicy.queue is immutable)");
  EXPECT_EQ(update(R"({"schedulingPolicy": {"queue": "a"}, "managedBy": "kubeflow.org/training-operator"})"),
            R"(spec.runPolicy.managedBy: Invalid value: "kubeflow.org/training-operator": field is immutable)");
}

TEST(MpiJobs, keep_their_manager) {
  const auto job = [](std::string_view manager) {
    return json(
        base::format(R"({{"metadata": {{"name": "j"}}, "spec": {{"runPolicy": {{"managedBy": "{}"}}}}}})", manager));
  };
  const std::string newer = "/validate-kubeflow-org-v2beta1-mpijob";
  for (const auto& [path, own] :
       {std::pair{path_of("mpijob"), "training-operator"}, std::pair{newer, "mpi-operator"}}) {
    const std::string mine = base::format("kubeflow.org/{}", own);
    EXPECT_EQ(ask(path, Operation::kCreate, job(mine), {}).message, "");
    EXPECT_EQ(ask(path, Operation::kUpdate, job(mine), {}, {}, job(mine)).message, "");
    EXPECT_EQ(ask(path, Operation::kUpdate, job("kueue.x-k8s.io/multikueue"), {}, {}, job(mine)).message,
              R"(spec.runPolicy.managedBy: Invalid value: "kueue.x-k8s.io/multikueue": field is immutable)");
    EXPECT_EQ(ask(path, Operation::kCreate, job("me"), {}).message,
              base::format(R"(spec.runPolicy.managedBy: Unsupported value: "me": supported values: "{}", )"
                           R"("kueue.x-k8s.io/multikueue")",
                           mine));
    EXPECT_EQ(ask(path, Operation::kUpdate, job("me"), {}, {}, job("me")).message, "") << "stored before the rule";
  }
}

TEST(TrainingJobs, are_warned_of_what_is_deprecated) {
  const Json object = json(R"({"metadata": {"name": "j"}, "spec": {"elasticPolicy": {"nProcPerNode": 2},
      "pytorchReplicaSpecs": {"Worker": {"template": {"spec": {"containers": [{"name": "pytorch", "image": "i"}]}}}}}})");
  const auto answer = ask(path_of("pytorchjob"), Operation::kCreate, object, {});
  EXPECT_TRUE(answer.allowed);
  ASSERT_EQ(answer.warnings.size(), 1u);
  EXPECT_EQ(answer.warnings[0], "spec.elasticPolicy.nProcPerNode is deprecated, use spec.nprocPerNode instead");
}

}  // namespace
}  // namespace admission
