// volcano notebook and volcano tensorboard: the objects that they make, what they say while one waits, and bad input.
#include "cli/notebooks/notebook.h"

#include "cli/fake_api_for_tests.h"

namespace cli {
namespace {

struct NotebookTest : VcctlTest {
  NotebookTest() {
    world.page_link = [](const std::string&, const std::string&, const std::string& to) -> base::Result<std::string> {
      return "https://box:6443/ui/login?code=c&to=" + to;
    };
  }
  int notebook(std::vector<std::string> arguments) { return run_one(notebook_root(), std::move(arguments)); }
  int tensorboard(std::vector<std::string> arguments) { return run_one(tensorboard_root(), std::move(arguments)); }
  int run_one(const Command& root, std::vector<std::string> arguments) {
    world.out.clear();
    world.err.clear();
    shown.clear();
    return run_command(root, arguments, world);
  }
  void put_notebook(std::string_view more = "") {
    put(kNotebooks, base::format(R"({{"metadata": {{"name": "one", "namespace": "default", "annotations": {{{}}}}},
        "spec": {{"template": {{"spec": {{"containers": [{{"name": "one", "volumeMounts": [
          {{"name": "home", "mountPath": "/home/jovyan"}}, {{"name": "data", "mountPath": "/data", "subPath": "team"}},
          {{"name": "memory", "mountPath": "/dev/shm"}}]}}],
        "volumes": [{{"name": "home", "persistentVolumeClaim": {{"claimName": "one-workspace"}}}},
          {{"name": "data", "persistentVolumeClaim": {{"claimName": "data"}}}}, {{"name": "memory", "emptyDir": {{}}}}]}}}}}}}})",
                                 more));
  }
  void put_pod(std::string_view text) {
    put(resources::kPods, base::format(R"({{"metadata": {{"name": "one-0", "namespace": "default"}}, {}}})", text));
  }
};

TEST_F(NotebookTest, create_makes_the_volumes_and_the_notebook) {
  put_pod(R"("spec": {"nodeName": "n"}, "status": {"conditions": [{"type": "Ready", "status": "True"}]})");
  put(resources::kPersistentVolumeClaims, R"({"metadata": {"name": "data", "namespace": "default"}})");
  server.answers_list = {};
  EXPECT_EQ(notebook({"create", "one", "--image", "jupyter:1", "--gpu", "2", "--cpu", "4", "--memory", "8Gi",
                      "--volume", "data:/data", "--queue", "gpus", "--idle", "1h", "--env", "A=b=c", "--no-wait"}),
            0)
      << world.out << world.err;
  ASSERT_EQ(server.writes.size(), 3u);
  EXPECT_TRUE(server.writes[0].dry_run);
  EXPECT_EQ(api::name_of(server.writes[1].body), "one-workspace");
  const Json& made = server.writes[2].body;
  EXPECT_EQ(made["metadata"]["annotations"].dump(),
            R"({"notebooks.kubeflow.org/server-type":"jupyter","scheduling.volcano.sh/queue-name":"gpus",)"
            R"("notebooks.volcano.sh/idle-after":"1h0m0s"})");
  const Json& spec = made["spec"]["template"]["spec"];
  EXPECT_EQ(spec["schedulerName"].str(), "volcano");
  const Json& container = spec["containers"].items().front();
  EXPECT_EQ(container["name"].str(), "one");
  EXPECT_EQ(container["resources"].dump(),
            R"({"requests":{"cpu":"4","memory":"8Gi"},"limits":{"memory":"8Gi","nvidia.com/gpu":"2"}})");
  EXPECT_EQ(container["env"].dump(), R"([{"name":"A","value":"b=c"}])");
  EXPECT_EQ(container["volumeMounts"].items().size(), 3u);
  EXPECT_EQ(shown + world.out,
            "volume default/one-workspace of 5Gi was made\nnotebook default/one was made\n"
            "https://box:6443/ui/login?code=c&to=/notebook/default/one/\n"
            "# good once, for an hour; then the browser has a session\n");
}

TEST_F(NotebookTest, the_image_is_the_first_of_the_forms_unless_one_is_given) {
  EXPECT_EQ(notebook({"create", "one", "--no-wait"}), 255);
  EXPECT_NE(world.out.find("--image must be given"), std::string::npos) << world.out;
  put(resources::kConfigMaps, R"({"metadata": {"name": "jupyter-web-app-config", "namespace": "kubeflow"},
      "data": {"spawner_ui_config.yaml": "spawnerFormDefaults:\n  image:\n    value: jupyterlab:4\n"}})");
  EXPECT_EQ(notebook({"create", "one", "--no-wait"}), 0) << world.out;
  EXPECT_EQ(server.writes.back().body["spec"]["template"]["spec"]["containers"].items().front()["image"].str(),
            "jupyterlab:4");
}

TEST_F(NotebookTest, states_and_their_reasons_are_told_once) {
  put_notebook();
  put_pod(R"("spec": {}, "status": {"conditions": [
      {"type": "PodScheduled", "status": "False", "message": "0/1 nodes have room"}]})");
  server.news.push_back({.kind = Happening::Kind::kNothing});
  server.news.push_back({.kind = Happening::Kind::kNothing});
  EXPECT_EQ(notebook({"start", "one"}), 255);
  EXPECT_EQ(shown, "notebook default/one is starting\nnotebook default/one: waits: 0/1 nodes have room\n");
  put_pod(R"("spec": {"nodeName": "n"}, "status": {"containerStatuses": [{"name": "one", "state": {"waiting":
      {"reason": "ErrImagePull", "message": "jupyter:none is not there"}}}]})");
  EXPECT_EQ(notebook({"open", "one"}), 0);
  EXPECT_EQ(world.err.substr(0, world.err.find('\n')),
            "# it waits: container one: ErrImagePull: jupyter:none is not there");
  put_notebook(R"("kubeflow-resource-stopped": "x")");
  EXPECT_EQ(notebook({"list"}), 0);
  EXPECT_NE(world.out.find("stopping"), std::string::npos) << world.out;
  server.objects.erase("pods default/one-0");
  EXPECT_EQ(notebook({"list"}), 0);
  EXPECT_NE(world.out.find("stopped"), std::string::npos) << world.out;
}

TEST_F(NotebookTest, stop_and_delete_keep_the_volumes) {
  put_notebook();
  EXPECT_EQ(notebook({"stop", "one"}), 0);
  EXPECT_EQ(server.writes.back().body.dump(),
            R"({"metadata":{"annotations":{"kubeflow-resource-stopped":"2026-08-20T03:00:00Z"}}})");
  EXPECT_EQ(notebook({"delete", "one"}), 0);
  EXPECT_EQ(world.out,
            "notebook default/one was deleted\nvolume default/one-workspace stays\nvolume default/data stays\n");
}

TEST_F(NotebookTest, a_tensorboard_reads_a_volume_of_a_notebook) {
  put_notebook();
  struct Row {
    const char *logs, *place;
  };
  for (const Row& row : {Row{"pvc://claim/a/b", "pvc://claim/a/b"}, Row{"one:runs/1", "pvc://one-workspace/runs/1"},
                         Row{"one:/data/runs/", "pvc://data/team/runs"}, Row{"one:/home/jovyan", "pvc://one-workspace"},
                         Row{"s3://bucket/x", "s3://bucket/x"}}) {
    EXPECT_EQ(tensorboard({"create", "board", "--no-wait", "--logs", row.logs}), 0) << world.out;
    EXPECT_EQ(server.writes.back().body["spec"]["logspath"].str(), row.place);
  }
  EXPECT_EQ(world.out.find("cannot"), std::string::npos);
}

TEST_F(NotebookTest, bad_input_is_named) {
  put_notebook();
  struct Row {
    std::vector<std::string> arguments;
    const char* text;
    bool is_board = false;
  };
  const std::string long_name(53, 'a');
  for (const Row& row : std::vector<Row>{
           {{"create"}, "a name must be given"},
           {{"create", "One", "-i", "i"}, "the name \"One\": "},
           {{"create", "1a", "-i", "i"}, "the name \"1a\": "},
           {{"create", long_name, "-i", "i"}, "53 letters, and 52 are the most"},
           {{"create", "a", "-i", "i", "--cpu", "many"}, "--cpu: \"many\" is not an amount above zero"},
           {{"create", "a", "-i", "i", "--memory", "-1Gi"}, "--memory: \"-1Gi\" is not an amount"},
           {{"create", "a", "-i", "i", "--gpu", "-1"}, "--gpu: -1"},
           {{"create", "a", "-i", "i", "--volume", "data"}, "--volume: \"data\" is not CLAIM:PATH"},
           {{"create", "a", "-i", "i", "--volume", "d:/a/../b"}, "is not CLAIM:PATH"},
           {{"create", "a", "-i", "i", "--volume", "d:/a", "--volume", "e:/a/"}, "two volumes at /a"},
           {{"create", "a", "-i", "i", "--workspace", "big"}, "--workspace: \"big\""},
           {{"create", "a", "-i", "i", "--env", "x"}, "--env: \"x\" is not NAME=VALUE"},
           {{"create", "a", "-i", "i", "--idle", "-1h"}, "--idle: a time below zero"},
           {{"open", "none"}, "namespace default has no notebook of that name"},
           {{"stop"}, "a name must be given"},
           {{"create", "b"}, "--logs must be given", true},
           {{"create", "b", "--logs", "runs"}, "\"runs\" is neither pvc://CLAIM/PATH nor NOTEBOOK:PATH", true},
           {{"create", "b", "--logs", "none:runs"}, "\"none\" not found", true},
           {{"create", "b", "--logs", "one:/tmp/runs"}, "/tmp/runs is in no volume of notebook one", true},
           {{"create", "b", "--logs", "one:../etc"}, "is not a path in a notebook", true}}) {
    EXPECT_EQ(row.is_board ? tensorboard(row.arguments) : notebook(row.arguments), 255) << row.text;
    EXPECT_NE(world.out.find(row.text), std::string::npos) << world.out;
  }
  EXPECT_TRUE(server.writes.empty());
}

}  // namespace
}  // namespace cli
