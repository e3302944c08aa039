// The account of runs that name none: made with its rights first, and left alone afterwards.
#include <gtest/gtest.h>

#include "controllers/cluster/cluster.h"
#include "controllers/cluster/stage_for_tests.h"

namespace controllers::cluster {
namespace {

namespace resources = api::resources;

TEST(RunnerAccount, is_made_once_in_the_default_namespace) {
  Stage stage(make_runner_account_controller());
  EXPECT_EQ(stage.turn("default"), "");  // a namespace that is not there
  stage.world.put_text(resources::kNamespaces, R"({"kind": "Namespace", "metadata": {"name": "default", "uid": "D"}})");
  EXPECT_EQ(stage.turn("default"),
            "create Role default/pipeline-runner\ncreate RoleBinding default/pipeline-runner\n--\n"
            "create ServiceAccount default/pipeline-runner\n");
  EXPECT_EQ(stage.turn("default"), "");
}

TEST(RunnerAccount, a_right_that_was_taken_away_stays_away) {
  Stage stage(make_runner_account_controller());
  stage.world.put_text(resources::kNamespaces, R"({"kind": "Namespace", "metadata": {"name": "default", "uid": "D"}})");
  stage.turn("default");
  const api::ResourceId bindings{"rbac.authorization.k8s.io", "v1", "rolebindings"};
  ASSERT_NE(stage.world.find(bindings, "default/pipeline-runner"), nullptr);
  stage.world.erase(bindings, "default/pipeline-runner");
  EXPECT_EQ(stage.turn("default"), "");
}

}  // namespace
}  // namespace controllers::cluster
