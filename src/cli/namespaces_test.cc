// The namespaces that the tools ask about: the context's where none is given, and those that the person may see.
#include "cli/fake_api_for_tests.h"

namespace cli {
namespace {

TEST_F(VcctlTest, the_namespace_of_the_context_counts) {
  std::string asked;
  world.context_namespace = [&asked](const std::string& kubeconfig) {
    asked = kubeconfig;
    return std::string("vision");
  };
  EXPECT_EQ(run_program("vsub", {"-n", "j", "-k", "file"}), 0);
  EXPECT_EQ(asked, "file");
  EXPECT_EQ(server.writes.back().ns, "vision");
  EXPECT_EQ(run({"job", "run", "--name", "j"}), 0);
  EXPECT_EQ(server.writes.back().ns, "vision");
  files["flow.yaml"] = "metadata: {name: f}\n---\nmetadata: {name: g, namespace: other}\n";
  EXPECT_EQ(run({"jobflow", "create", "-f", "flow.yaml"}), 0);
  EXPECT_EQ(world.out, "Created JobFlow: vision/f\nCreated JobFlow: other/g\n");
  // One that is given wins, by its name or in the environment, and so does the usual one.
  EXPECT_EQ(run({"job", "run", "--name", "j", "-n", "default"}), 0);
  EXPECT_EQ(server.writes.back().ns, "default");
  variables["VOLCANO_DEFAULT_JOB_NAMESPACE"] = "ml";
  EXPECT_EQ(run_program("vsub", {"-n", "j"}), 0);
  EXPECT_EQ(server.writes.back().ns, "ml");
  // The help says what Volcano's tool says.
  EXPECT_EQ(run({"job", "run", "--help"}), 0);
  EXPECT_NE(world.out.find("the namespace of job (default \"default\")"), std::string::npos);
}

TEST_F(VcctlTest, a_context_without_a_namespace_has_the_usual_one) {
  world.context_namespace = [](const std::string&) { return std::string(); };
  EXPECT_EQ(run({"job", "run", "--name", "j"}), 0);
  EXPECT_EQ(server.writes.back().ns, "default");
}

// A user whose roles are those of some namespaces.
TEST_F(VcctlTest, all_namespaces_are_those_that_the_person_may_see) {
  bool sees_namespaces = true;
  const auto refused = [](const std::string& ns) {
    return base::make_error(base::Code::kForbidden, "jobs is forbidden " + ns);
  };
  server.answers_list = [&](const client::Request& request) -> base::Result<Json> {
    if (request.resource == resources::kNamespaces) {
      if (!sees_namespaces) return base::make_error(base::Code::kForbidden, "namespaces is forbidden");
      return *api::parse_json(R"({"items": [{"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}, {"metadata":
        {"name": "vision"}}]})");
    }
    if (request.ns.empty() || request.ns == "a") return refused(request.ns);
    return *api::parse_json(
        base::format(R"({{"items": [{{"metadata": {{"name": "j", "namespace": "{}"}}}}]}})", request.ns));
  };
  EXPECT_EQ(run({"job", "list", "--all-namespaces"}), 0);
  EXPECT_NE(world.out.find("vision"), std::string::npos) << world.out;
  EXPECT_EQ(world.out.find("a "), std::string::npos) << world.out;
  sees_namespaces = false;
  EXPECT_EQ(run({"job", "list", "--all-namespaces"}), 255);
  EXPECT_EQ(world.out, "Failed to list job: jobs is forbidden \n");
}

// The page of a user whose roles are those of one namespace.
TEST_F(VcctlTest, top_shows_what_the_person_may_see) {
  world.context_namespace = [](const std::string&) { return std::string("vision"); };
  server.answers_list = [](const client::Request& request) -> base::Result<Json> {
    if (request.ns.empty() && request.resource != resources::kEvents)
      return base::make_error(base::Code::kForbidden, "it is forbidden");
    return *api::parse_json(R"({"items": []})");
  };
  server.news.push_back({.kind = Happening::Kind::kObject,
                         .stream = 1,
                         .object = *api::parse_json(R"({"metadata": {"name": "q"}, "status": {"state": "Open"}})")});
  for (const int stream : {1, 2}) server.news.push_back({.kind = Happening::Kind::kCurrent, .stream = stream});
  EXPECT_EQ(run({"top"}), 0);
  ASSERT_EQ(server.followed.size(), 2U);  // queues, and the groups of her namespace
  EXPECT_EQ(server.followed.back().ns, "vision");
  EXPECT_NE(shown.find("q "), std::string::npos) << shown;
}

}  // namespace
}  // namespace cli
