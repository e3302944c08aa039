// Rows of writes() against the rights that preflight asks for, and against the roles of the manifests.
#include "main/host/preflight/write_rights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "api/json/yaml.h"
#include "base/format.h"
#include "controllers/make_all.h"
#include "controllers/notebooks/all.h"
#include "controllers/pipelines/all.h"
#include "controllers/workflows/workflow.h"

namespace volcano_main {
namespace {

using api::Json;
using Rights = std::set<std::string>;

Rights writes_of(controllers::Options options) {
  Rights out;
  for (const auto& one : controllers::make_controllers(std::move(options)))
    for (const controllers::Write& row : one->writes()) {
      std::istringstream verbs{std::string(row.verbs)};
      for (std::string verb; verbs >> verb;)
        out.insert(base::format("{} {}{}{}.{}", verb, row.resource.plural, row.subresource.empty() ? "" : "/",
                                row.subresource, row.resource.group));
    }
  return out;
}

controllers::Options options_of_controllers() {
  controllers::Options options;
  options.enabled = {"*"};
  return options;
}

controllers::Options options_of_kubeflow() {
  controllers::Options options;
  options.notebooks.emplace();
  options.pipelines.emplace();
  options.workflows = true;
  options.enabled = controllers::notebooks::controller_names();
  for (const std::string& name : controllers::pipelines::controller_names()) options.enabled.push_back(name);
  options.enabled.emplace_back(controllers::workflows::kController);
  return options;
}

controllers::Options options_of_training(std::string mpi_version) {
  controllers::Options options;
  options.enabled = controllers::training::controller_names();
  options.training = controllers::training::Options();
  options.training->launcher_jobs = options.training->autoscalers = true;
  options.training->mpi_version = std::move(mpi_version);
  return options;
}

// The rules of every ClusterRole and Role whose name begins with `name`.
Rights roles_in(const std::string& path, std::string_view name) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  const auto documents = api::parse_yaml_documents(text.str());
  EXPECT_TRUE(documents.ok() && !documents->empty()) << path;
  Rights out;
  for (const api::YamlDocument& one : *documents) {
    const std::string_view kind = one.value["kind"].as_string();
    if ((kind != "ClusterRole" && kind != "Role") || !one.value["metadata"]["name"].as_string().starts_with(name))
      continue;
    for (const Json& rule : one.value["rules"].items())
      for (const Json& group : rule["apiGroups"].items())
        for (const Json& resource : rule["resources"].items())
          for (const Json& verb : rule["verbs"].items())
            out.insert(base::format("{} {}.{}", verb.as_string(), resource.as_string(), group.as_string()));
  }
  return out;
}

// The rights that allow a row, each by itself: the client does a patch as an update where roles allow that alone.
Rights allowed_by(const std::string& row) {
  const std::string rest = row.substr(row.find(' '));
  if (row.starts_with("apply ")) return {"patch" + rest};
  if (row.starts_with("patch ")) return {"patch" + rest, "update" + rest};
  return {row};
}

// The rows that the rights do not allow.
Rights missing(const Rights& rows, const Rights& rights) {
  Rights out;
  for (const std::string& row : rows)
    if (!std::ranges::any_of(allowed_by(row), [&](const std::string& one) { return rights.contains(one); }))
      out.insert(row);
  return out;
}

// The rights that no row needs. `beside`: needed by other parts of the program.
Rights unused(const Rights& rights, const Rights& rows, const Rights& beside) {
  Rights needed = beside;
  for (const std::string& row : rows) needed.merge(allowed_by(row));
  // Every program writes its lease, and events.
  Rights out;
  for (const std::string& right : rights)
    if (!needed.contains(right) && !right.ends_with(" leases.coordination.k8s.io") && !right.ends_with(" events."))
      out.insert(right);
  return out;
}

// The kinds of Istio are those of other definitions: preflight does not ask for them.
Rights without_istio(Rights rows) {
  std::erase_if(rows, [](const std::string& row) { return row.ends_with(".istio.io"); });
  return rows;
}

const Rights kNone;

TEST(WriteRights, of_the_controllers_are_those_of_their_rows) {
  const Rights rows = writes_of(options_of_controllers());
  ASSERT_GT(rows.size(), 20U);
  const Rights asked = write_rights_of("controllers");
  EXPECT_EQ(missing(rows, asked), kNone) << "a row that preflight does not ask for";
  EXPECT_EQ(unused(asked, rows, {}), kNone) << "preflight asks for more than the rows need";
}

TEST(WriteRights, of_kubeflow_controllers_are_those_of_their_rows) {
  const Rights rows = writes_of(options_of_kubeflow());
  ASSERT_GT(rows.size(), 20U);
  const Rights asked = write_rights_of("kubeflow-controllers");
  EXPECT_EQ(missing(without_istio(rows), asked), kNone) << "a row that preflight does not ask for";
  // The server of reports writes annotations of pods, and the REST API asks for its callers' tokens.
  EXPECT_EQ(unused(asked, rows, {"patch pods.", "create tokenreviews.authentication.k8s.io"}), kNone)
      << "preflight asks for more than the rows need";
}

// The rights with verbs that write, but for those on finalizers, which owner references need.
Rights writes_in(const Rights& rights) {
  Rights out;
  for (const std::string& right : rights) {
    const std::string verb = right.substr(0, right.find(' '));
    const bool writes = verb == "create" || verb == "update" || verb == "patch" || verb == "delete";
    if (writes && right.find("/finalizers.") == std::string::npos) out.insert(right);
  }
  return out;
}

// The rights that roles give beyond the rows: those of the role that is replaced, and of other parts of the program. A
// right that is not here and that no row needs fails the test. The role of the controllers is Volcano's and has many.
const Rights kWiderForKubeflow = {"create tokenreviews.authentication.k8s.io",
                                  "delete authorizationpolicies.security.istio.io",
                                  "delete deployments.apps",
                                  "delete pipelineruns.pipelines.kubeflow.org",
                                  "delete rolebindings.rbac.authorization.k8s.io",
                                  "delete serviceaccounts.",
                                  "delete services.",
                                  "delete statefulsets.apps",
                                  "delete virtualservices.networking.istio.io",
                                  "patch deployments.apps",
                                  "patch notebooks/status.kubeflow.org",
                                  "patch pipelineruns/status.pipelines.kubeflow.org",
                                  "patch pipelinetasks.pipelines.kubeflow.org",
                                  "patch pods.",
                                  "patch profiles/status.kubeflow.org",
                                  "patch pvcviewers.kubeflow.org",
                                  "patch pvcviewers/status.kubeflow.org",
                                  "patch recurringruns/status.pipelines.kubeflow.org",
                                  "patch resourcequotas.",
                                  "patch rolebindings.rbac.authorization.k8s.io",
                                  "patch serviceaccounts.",
                                  "patch services.",
                                  "patch statefulsets.apps",
                                  "patch tensorboards.tensorboard.kubeflow.org",
                                  "patch tensorboards/status.tensorboard.kubeflow.org",
                                  "update pipelinetasks.pipelines.kubeflow.org",
                                  "update pvcviewers.kubeflow.org",
                                  "update tensorboards.tensorboard.kubeflow.org"};
const Rights kWiderForTraining = {"create podgroups.scheduling.x-k8s.io",
                                  "create pods/exec.",
                                  "delete podgroups.scheduling.x-k8s.io",
                                  "patch jaxjobs/status.kubeflow.org",
                                  "patch mpijobs/status.kubeflow.org",
                                  "patch paddlejobs/status.kubeflow.org",
                                  "patch podgroups.scheduling.x-k8s.io",
                                  "patch pods.",
                                  "patch pytorchjobs/status.kubeflow.org",
                                  "patch rolebindings.rbac.authorization.k8s.io",
                                  "patch tfjobs/status.kubeflow.org",
                                  "patch xgboostjobs/status.kubeflow.org",
                                  "update jaxjobs.kubeflow.org",
                                  "update mpijobs.kubeflow.org",
                                  "update paddlejobs.kubeflow.org",
                                  "update podgroups.scheduling.x-k8s.io",
                                  "update pods.",
                                  "update pytorchjobs.kubeflow.org",
                                  "update rolebindings.rbac.authorization.k8s.io",
                                  "update secrets.",
                                  "update tfjobs.kubeflow.org",
                                  "update validatingwebhookconfigurations.admissionregistration.k8s.io",
                                  "update xgboostjobs.kubeflow.org"};

TEST(WriteRights, of_the_controllers_are_in_the_role_of_the_manifest) {
  const Rights role = roles_in("deploy/volcano.yaml", "volcano-controllers");
  EXPECT_EQ(missing(writes_of(options_of_controllers()), role), kNone);
}

TEST(WriteRights, of_kubeflow_controllers_are_in_the_role_of_the_manifest) {
  const Rights role = roles_in("deploy/kubeflow-controllers.yaml", "volcano-kubeflow-controllers");
  const Rights rows = writes_of(options_of_kubeflow());
  EXPECT_EQ(missing(rows, role), kNone);
  EXPECT_EQ(unused(writes_in(role), rows, kWiderForKubeflow), kNone);
}

TEST(WriteRights, of_the_node_agent_are_in_the_role_of_the_manifest) {
  const Rights role = roles_in("deploy/volcano-agent.yaml", "volcano-agent");
  const Rights asked = write_rights_of("agent");
  EXPECT_EQ(missing(asked, role), kNone);
  // The role is Volcano's.
  EXPECT_EQ(unused(writes_in(role), asked, {"update nodes.", "update nodes/status."}), kNone);
}

TEST(WriteRights, of_the_training_operator_are_in_the_role_of_the_manifest) {
  const Rights role = roles_in("deploy/training-operator.yaml", "training-operator");
  const Rights rows = writes_of(options_of_training("v1"));
  EXPECT_EQ(missing(rows, role), kNone);
  EXPECT_EQ(unused(writes_in(role), rows, kWiderForTraining), kNone);
}

}  // namespace
}  // namespace volcano_main
