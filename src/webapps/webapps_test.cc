// The REST back ends against an API server of one screen: requests as Kubeflow's pages send them, answers as they read
// them.
#include <gtest/gtest.h>

#include "api/kubeflow/v1/notebook.h"
#include "api/kubeflow/v1alpha1/poddefault.h"
#include "api/kubeflow/v1alpha1/pvcviewer.h"
#include "api/kubeflow/v1alpha1/tensorboard.h"
#include "client/fake_client_for_tests.h"
#include "client/fake_env_for_tests.h"
#include "rt/http/kept_exchange_for_tests.h"
#include "webapps/objects.h"
#include "webapps/server.h"

namespace webapps {
namespace {

using api::Json;
using api::resources::kConfigMaps;
using api::resources::kEvents;
using api::resources::kNotebooks;
using api::resources::kPersistentVolumeClaims;
using api::resources::kPods;

constexpr std::string_view kPair = "0123";

struct Answer : rt::HttpResponse {
  Json json() const {
    auto read = api::parse_json(body);
    return read.ok() ? *read : Json();
  }
};

class User final : public Asker {
 public:
  User(std::string name, rt::Env& env, client::testing::FakeClient& api)
      : name_(std::move(name)), env_(env), api_(api) {}
  std::string name() const override { return name_; }
  void call(client::Request request, client::Client::OnResult on_result) override {
    if (request.dry_run)
      return env_.loop().post([body = request.body, on_result = std::move(on_result)] { on_result(body); });
    api_.call(std::move(request), std::move(on_result));
  }
  void read(std::string target, std::function<void(int, std::string)> on_text) override {
    read_targets.push_back(target);
    on_text(log_status, log);
  }
  std::vector<std::string> read_targets;
  int log_status = 200;
  std::string log = "one\ntwo\n";

 private:
  const std::string name_;
  rt::Env& env_;
  client::testing::FakeClient& api_;
};

class WebApps : public testing::Test {
 protected:
  Answer ask(std::string method, std::string target, std::string body = "", rt::Headers headers = {}) {
    Answer answer;
    if (headers.empty() && method != "GET")
      headers = {{"Cookie", "a=b; XSRF-TOKEN=" + std::string(kPair)}, {"X-XSRF-TOKEN", std::string(kPair)}};
    headers.emplace_back("Content-Type", "application/json");
    server.serve({.method = method, .target = target, .headers = headers, .body = body}, user,
                 std::make_shared<rt::KeptExchange>(answer));
    env.settle();
    return answer;
  }
  Json ok(std::string method, std::string target, std::string body = "") {
    const Answer answer = ask(method, target, body);
    EXPECT_EQ(answer.status, 200) << target << ": " << answer.body;
    return answer.json();
  }
  std::string refusal(std::string method, std::string target, std::string body = "") {
    const Answer answer = ask(method, target, body);
    const Json json = answer.json();
    EXPECT_FALSE(json["success"].as_bool(true)) << answer.body;
    EXPECT_EQ(json["status"].as_int(), answer.status);
    return std::to_string(answer.status) + " " + json["log"].str();
  }
  void put(const api::ResourceId& resource, const std::string& object) { api.put(resource, *api::parse_json(object)); }
  // The configuration of forms, as YAML.
  void configure(const std::string& yaml) {
    api.put(kConfigMaps,
            Json::object({{"metadata", Json::object({{"name", "jupyter-web-app-config"}, {"namespace", "kubeflow"}})},
                          {"data", Json::object({{"spawner_ui_config.yaml", yaml}})}}));
  }

  client::testing::FakeEnv env;
  client::testing::FakeClient api{env}, own{env};
  Server server{env, own};
  std::shared_ptr<User> user = std::make_shared<User>("ann@example.com", env, api);
};

TEST_F(WebApps, WriteNeedsThePairOfCookieAndHeader) {
  struct Row {
    rt::Headers headers;
    std::string_view log;
  };
  const std::vector<Row> rows = {
      {{{"X-XSRF-TOKEN", "a"}}, "Could not find CSRF cookie XSRF-TOKEN in the request."},
      {{{"Cookie", "XSRF-TOKEN=a"}}, "Could not detect CSRF protection header X-XSRF-TOKEN."},
      {{{"Cookie", "XSRF-TOKEN=a"}, {"X-XSRF-TOKEN", "b"}},
       "CSRF check failed. Token in cookie XSRF-TOKEN doesn't match token in header X-XSRF-TOKEN."},
      {{{"Cookie", "XXSRF-TOKEN=a"}, {"X-XSRF-TOKEN", "a"}}, "Could not find CSRF cookie XSRF-TOKEN in the request."},
  };
  for (const Row& row : rows) {
    const Answer answer = ask("DELETE", "/jupyter/api/namespaces/ns/notebooks/one", "", row.headers);
    EXPECT_EQ(answer.status, 403);
    EXPECT_EQ(answer.json()["log"].as_string(), row.log);
  }
  EXPECT_TRUE(api.calls.empty());
  const Answer page = ask("GET", "/jupyter/");
  EXPECT_EQ(page.status, 200);
  const std::string cookie(rt::header(page.headers, "Set-Cookie"));
  EXPECT_TRUE(cookie.starts_with("XSRF-TOKEN=")) << cookie;
  EXPECT_TRUE(cookie.ends_with("; Path=/jupyter/; SameSite=Strict; Secure")) << cookie;
}

TEST_F(WebApps, AnswersNameTheUserAndErrorsTheirStatus) {
  put(api::resources::kNamespaces, R"({"metadata": {"name": "team"}})");
  const Json answer = ok("GET", "/volumes/api/namespaces");
  EXPECT_EQ(answer.dump(), R"({"namespaces":["team"],"status":200,"success":true,"user":"ann@example.com"})");
  EXPECT_EQ(refusal("GET", "/jupyter/api/namespaces/ns/notebooks/none").substr(0, 4), "404 ");
  EXPECT_EQ(refusal("GET", "/jupyter/api/none"), "404 /jupyter/api/none is not a path of this API");
  EXPECT_EQ(refusal("PUT", "/jupyter/api/namespaces").substr(0, 4), "405 ");
  EXPECT_EQ(refusal("POST", "/jupyter/api/namespaces/ns/notebooks", "[").substr(0, 4), "400 ");
  api.forbids = [](const client::Request&) { return true; };
  EXPECT_EQ(refusal("GET", "/tensorboards/api/namespaces/other/tensorboards").substr(0, 4), "403 ");
  user = nullptr;
  EXPECT_EQ(refusal("GET", "/jupyter/api/namespaces"), "401 No user detected.");
  EXPECT_EQ(ask("GET", "/jupyter/healthz/liveness").status, 200);
  EXPECT_TRUE(Server::is_open("/kfam/healthz/readiness"));
  EXPECT_FALSE(Server::is_open("/kfam/v1/bindings"));
  EXPECT_FALSE(Server::has("/jupyter"));
  EXPECT_FALSE(Server::has("/jupyterlab/api"));
  EXPECT_EQ(ask("GET", "/%6aupyter/api/config").status, 404);
}

TEST_F(WebApps, ClassesOfStorageAndPodDefaultsAreOffered) {
  put(api::resources::kStorageClasses, R"({"metadata": {"name": "a"}})");
  put(api::resources::kStorageClasses,
      R"({"metadata": {"name": "b", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}})");
  EXPECT_EQ(ok("GET", "/volumes/api/storageclasses")["storageClasses"].dump(), R"(["a","b"])");
  EXPECT_EQ(ok("GET", "/volumes/api/storageclasses/default")["defaultStorageClass"].as_string(), "b");
  put(api::resources::kPodDefaults,
      R"({"metadata": {"name": "tokens", "namespace": "ns"}, "spec": {"selector": {"matchLabels": {"with-token": "true"}}}})");
  put(api::resources::kPodDefaults, R"({"metadata": {"name": "none", "namespace": "ns"}, "spec": {"selector": {}}})");
  const Json rows = ok("GET", "/jupyter/api/namespaces/ns/poddefaults")["poddefaults"];
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["label"].as_string(), "with-token");
  EXPECT_EQ(rows[0]["desc"].as_string(), "tokens");
}

constexpr const char* kConfig = R"(spawnerFormDefaults:
  image: {value: jupyterlab:4, options: [jupyterlab:4]}
  imagePullPolicy: {value: IfNotPresent, readOnly: false}
  cpu: {value: "0.5", limitFactor: "1.2"}
  memory: {value: 1.0Gi, limitFactor: "1.2"}
  gpus: {value: {num: none, vendors: [{limitsKey: nvidia.com/gpu, uiName: NVIDIA}, {limitsKey: amd.com/gpu, uiName: AMD}]}}
  tolerationGroup: {value: none, options: [{groupKey: gpu, tolerations: [{key: gpu, operator: Exists}]}]}
  affinityConfig: {value: none, options: [{configKey: fast, affinity: {nodeAffinity: {}}}]}
  workspaceVolume: {value: {mount: /home/jovyan}}
  dataVolumes: {value: []}
  configurations: {value: []}
  shm: {value: true, readOnly: true}
)";
constexpr const char* kForm = R"({"name": "one", "namespace": "ns", "image": " jupyterlab:4 ", "customImage": "",
  "imagePullPolicy": "Always", "serverType": "jupyter", "cpu": "0.5", "cpuLimit": "", "memory": "1.0Gi", "memoryLimit": null,
  "gpus": {"num": "2", "vendor": "nvidia.com/gpu"}, "tolerationGroup": "gpu", "affinityConfig": "fast", "configurations": ["with-token"],
  "environment": "{\"A\": \"b\", \"N\": 1}",
  "workspace": {"mount": "/home/jovyan", "newPvc": {"metadata": {"name": "{notebook-name}-workspace"}, "spec": {"accessModes": ["ReadWriteOnce"]}}},
  "datavols": [{"mount": "/data", "existingSource": {"persistentVolumeClaim": {"claimName": "data"}}},
               {"mount": "/more", "existingSource": {"nfs": {"server": "s", "path": "/"}}}]})";

// The form with some members changed; null takes one away.
std::string form_with(const std::string& changes) {
  Json form = *api::parse_json(kForm);
  const Json patch = *api::parse_json(changes);
  for (const auto& [name, value] : patch.members()) {
    if (value.is_null()) {
      form.erase(name.as_string());
    } else {
      form.set(name.as_string(), value);
    }
  }
  return form.dump();
}

TEST_F(WebApps, FormBecomesNotebookAndClaims) {
  configure(kConfig);
  EXPECT_EQ(ok("GET", "/jupyter/api/config")["config"]["image"]["value"].as_string(), "jupyterlab:4");
  const Json reported = ok("POST", "/jupyter/api/namespaces/ns/notebooks", kForm);
  EXPECT_EQ(reported["message"].as_string(), "Notebook created successfully.");
  const Json* made = api.find(kNotebooks, "ns/one");
  ASSERT_NE(made, nullptr);
  const Json& metadata = (*made)["metadata"];
  EXPECT_EQ(metadata["labels"].dump(), R"({"app":"one","with-token":"true"})");
  EXPECT_EQ(metadata["annotations"]["notebooks.kubeflow.org/creator"].as_string(), "ann@example.com");
  EXPECT_EQ(metadata["annotations"]["notebooks.kubeflow.org/server-type"].as_string(), "jupyter");
  const Json& pod = (*made)["spec"]["template"]["spec"];
  EXPECT_EQ(pod["serviceAccountName"].as_string(), "default-editor");
  EXPECT_EQ(pod["tolerations"].dump(), R"([{"key":"gpu","operator":"Exists"}])");
  EXPECT_TRUE(pod["affinity"].has("nodeAffinity"));
  const Json& container = pod["containers"][0];
  EXPECT_EQ(container["name"].as_string(), "one");
  EXPECT_EQ(container["image"].as_string(), "jupyterlab:4");
  EXPECT_EQ(container["imagePullPolicy"].as_string(), "Always");
  EXPECT_EQ(container["resources"]["requests"].dump(), R"({"cpu":"0.5","memory":"1.0Gi"})");
  EXPECT_EQ(container["resources"]["limits"]["cpu"].as_string(), "0.6");
  EXPECT_EQ(container["resources"]["limits"]["memory"].as_string(), "1.2Gi");
  EXPECT_EQ(container["resources"]["limits"]["nvidia.com/gpu"].as_string(), "2");
  EXPECT_EQ(container["env"].dump(), R"([{"name":"A","value":"b"},{"name":"N","value":"1"}])");
  std::string mounts;
  for (const Json& mount : container["volumeMounts"].items())
    mounts += mount["name"].str() + ":" + mount["mountPath"].str() + " ";
  EXPECT_EQ(mounts, "dshm:/dev/shm data:/data existing-source-volume-2:/more one-workspace:/home/jovyan ");
  EXPECT_NE(api.find(kPersistentVolumeClaims, "ns/one-workspace"), nullptr);
}

TEST_F(WebApps, FormsThatAreWrongMakeNothing) {
  configure(kConfig);
  struct Row {
    std::string_view changes, log;
  };
  const std::vector<Row> rows = {
      {R"({"name": null})", "name is missing in the body"},
      {R"({"shm": false})", "'shm' is readonly but a value was provided: false"},
      {R"({"cpu": null})", "No value provided for: cpu"},
      {R"({"cpu": "nan"})", "Invalid value for cpu: \"nan\""},
      {R"({"cpuLimit": "0.4"})", "CPU limit must be greater than the request"},
      {R"({"memoryLimit": "1Mi"})", "Memory limit must be greater than the request"},
      {R"({"memoryLimit": "much"})", "Invalid value for memory limit: \"much\""},
      {R"({"serverType": "group-three"})", "'group-three' is not a valid server type"},
      {R"({"image": "  "})", "No value provided for: image"},
      {R"({"gpus": {}})", "'gpus' must have a 'num' field"},
      {R"({"gpus": {"num": 1}})", "'gpus' must have a 'vendor' field"},
      {R"({"gpus": {"num": "some", "vendor": "v"}})", "gpus.num is not a valid number: \"some\""},
      {R"({"configurations": "a"})", "Labels for PodDefaults are not list: \"a\""},
      {R"({"configurations": [1]})", "a label of configurations is not a text: 1"},
      {R"({"environment": "{"})", "environment is not JSON: "},
      {R"({"environment": "[]"})", "environment is not an object of up to 1000 variables"},
      {R"({"datavols": [{"newPvc": {}}]})", "Volume should have a mount: "},
      {R"({"datavols": [{"mount": "/a"}]})", "Volume has neither newPvc nor existingSource: "},
      {R"({"datavols": [{"mount": "/a", "newPvc": {}, "existingSource": {}}]})",
       "Volume has both newPvc and existingSource: "},
      {R"({"datavols": [{"mount": "/a", "newPvc": {"metadata": {"namespace": "other"}}}]})",
       "PVC should not specify the namespace."},
      {R"({"datavols": [{"mount": "/a", "existingSource": {"persistentVolumeClaim": {}}}]})",
       "Failed to retrieve the PVC name from "},
      {R"({"datavols": 7})", "datavols is not a list"},
  };
  for (const Row& row : rows) {
    const std::string reported =
        refusal("POST", "/jupyter/api/namespaces/ns/notebooks", form_with(std::string(row.changes)));
    EXPECT_TRUE(reported.starts_with("400 " + std::string(row.log))) << row.changes << ": " << reported;
    EXPECT_EQ(api.find(kNotebooks, "ns/one"), nullptr) << row.changes;
  }
}

TEST_F(WebApps, ServerTypesAndFactorsFollowTheConfiguration) {
  configure(kConfig);
  ok("POST", "/jupyter/api/namespaces/ns/notebooks",
     form_with(R"({"serverType": "group-two", "name": "two", "cpu": "500m", "workspace": null, "datavols": []})"));
  const Json* two = api.find(kNotebooks, "ns/two");
  ASSERT_NE(two, nullptr);
  const Json& annotations = (*two)["metadata"]["annotations"];
  EXPECT_EQ(annotations["notebooks.kubeflow.org/http-rewrite-uri"].as_string(), "/");
  EXPECT_EQ(annotations["notebooks.kubeflow.org/http-headers-request-set"].as_string(),
            R"({"X-RStudio-Root-Path":"/notebook/ns/two/"})");
  EXPECT_EQ((*two)["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]["cpu"].as_string(), "600.0m");
  configure(
      "spawnerFormDefaults:\n  cpu: {value: '1', limitFactor: none}\n  image: {value: fixed:1, readOnly: true}\n");
  ok("POST", "/jupyter/api/namespaces/ns/notebooks", R"({"name": "plain", "cpu": "1", "memory": "1Gi"})");
  const Json& container = (*api.find(kNotebooks, "ns/plain"))["spec"]["template"]["spec"]["containers"][0];
  EXPECT_EQ(container["image"].as_string(), "fixed:1");
  EXPECT_FALSE(container["resources"]["limits"].has("cpu"));
  configure("spawnerFormDefaults: 7\n");
  EXPECT_TRUE(refusal("GET", "/jupyter/api/config")
                  .starts_with("422 spawner_ui_config.yaml of the ConfigMap kubeflow/jupyter-web-app-config has no "
                               "spawnerFormDefaults"));
}

TEST_F(WebApps, NotebooksAreListedStoppedAndDeleted) {
  put(kNotebooks, R"({"metadata": {"name": "one", "namespace": "ns", "creationTimestamp": "2020-01-01T00:00:00Z",
    "annotations": {"notebooks.kubeflow.org/server-type": "jupyter", "notebooks.kubeflow.org/last-activity": "2020-01-02T00:00:00Z"}},
    "spec": {"template": {"spec": {"containers": [{"name": "one", "image": "registry/a/lab:4", "volumeMounts": [{"name": "w", "mountPath": "/"}],
      "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"nvidia.com/gpu": "2"}}}]}}}, "status": {"readyReplicas": 1}})");
  const Json row = ok("GET", "/jupyter/api/namespaces/ns/notebooks")["notebooks"][0];
  EXPECT_EQ(row["shortImage"].as_string(), "lab:4");
  EXPECT_EQ(row["cpu"].as_string(), "1");
  EXPECT_EQ(row["gpus"].dump(), R"({"count":2,"message":"2 NVIDIA"})");
  EXPECT_EQ(row["volumes"].dump(), R"(["w"])");
  EXPECT_EQ(row["status"].dump(), R"({"phase":"ready","message":"Running","state":""})");
  EXPECT_EQ(row["last_activity"].as_string(), "2020-01-02T00:00:00Z");
  ok("PATCH", "/jupyter/api/namespaces/ns/notebooks/one", R"({"stopped": true})");
  EXPECT_TRUE((*api.find(kNotebooks, "ns/one"))["metadata"]["annotations"].has("kubeflow-resource-stopped"));
  ok("PATCH", "/jupyter/api/namespaces/ns/notebooks/one", R"({"stopped": false})");
  EXPECT_FALSE((*api.find(kNotebooks, "ns/one"))["metadata"]["annotations"].has("kubeflow-resource-stopped"));
  EXPECT_TRUE(
      refusal("PATCH", "/jupyter/api/namespaces/ns/notebooks/one", "{}").starts_with("400 Request body must include"));
  EXPECT_EQ(refusal("GET", "/jupyter/api/namespaces/ns/notebooks/one/pod"), "404 No pod detected.");
  put(kPods, R"({"metadata": {"name": "one-0", "namespace": "ns", "labels": {"notebook-name": "one"}}})");
  EXPECT_EQ(ok("GET", "/jupyter/api/namespaces/ns/notebooks/one/pod")["pod"]["metadata"]["name"].as_string(), "one-0");
  EXPECT_EQ(ok("GET", "/jupyter/api/namespaces/ns/notebooks/one/pod/one-0/logs")["logs"].dump(), R"(["one","two",""])");
  EXPECT_EQ(user->read_targets.at(0), "/api/v1/namespaces/ns/pods/one-0/log?container=one");
  user->log_status = 403;
  user->log = R"({"reason": "Forbidden", "message": "no"})";
  EXPECT_EQ(refusal("GET", "/jupyter/api/namespaces/ns/notebooks/one/pod/one-0/logs"), "403 no");
  ok("DELETE", "/jupyter/api/namespaces/ns/notebooks/one");
  EXPECT_EQ(api.find(kNotebooks, "ns/one"), nullptr);
  EXPECT_EQ(api.calls.back().body["propagationPolicy"].as_string(), "Foreground");
}

TEST_F(WebApps, VolumesSayHowTheyAreAndWhoUsesThem) {
  put(kPersistentVolumeClaims,
      R"({"metadata": {"name": "a", "namespace": "ns"}, "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "local-path",
    "resources": {"requests": {"storage": "1Gi"}}}, "status": {"phase": "Bound", "capacity": {"storage": "2Gi"}}})");
  put(kPersistentVolumeClaims,
      R"({"metadata": {"name": "b", "namespace": "ns"}, "spec": {"resources": {"requests": {"storage": "1Gi"}}}, "status": {"phase": "Pending"}})");
  put(kEvents,
      R"({"metadata": {"name": "e", "namespace": "ns"}, "type": "Normal", "reason": "WaitForFirstConsumer", "involvedObject": {"kind": "PersistentVolumeClaim", "name": "b"}})");
  put(kNotebooks,
      R"({"metadata": {"name": "one", "namespace": "ns"}, "spec": {"template": {"spec": {"volumes": [{"persistentVolumeClaim": {"claimName": "a"}}]}}}})");
  put(api::resources::kPvcViewers,
      R"({"metadata": {"name": "a", "namespace": "ns"}, "status": {"ready": true, "url": "/pvcviewers/ns/a/"}})");
  const Json rows = ok("GET", "/volumes/api/namespaces/ns/pvcs")["pvcs"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["capacity"].as_string(), "2Gi");
  EXPECT_EQ(rows[0]["status"]["phase"].as_string(), "ready");
  EXPECT_EQ(rows[0]["notebooks"].dump(), R"(["one"])");
  EXPECT_EQ(rows[0]["viewer"].dump(), R"({"status":"ready","url":"/pvcviewers/ns/a/"})");
  EXPECT_EQ(rows[1]["status"]["phase"].as_string(), "unavailable");
  EXPECT_EQ(rows[1]["viewer"].dump(), R"({"status":"uninitialized","url":null})");
}

TEST_F(WebApps, VolumesAreMadeAndGoWhenNobodyUsesThem) {
  EXPECT_EQ(refusal("POST", "/volumes/api/namespaces/ns/pvcs",
                    R"({"name": "a", "mode": "ReadWriteOnce", "class": "{none}", "type": "empty"})"),
            "400 size is missing in the body");
  for (const auto& [name, shown] : {std::pair{"{none}", R"("")"}, {"{empty}", "null"}, {"fast", R"("fast")"}}) {
    ok("POST", "/volumes/api/namespaces/ns/pvcs",
       base::format(R"({{"name": "a", "mode": "ReadWriteOnce", "class": "{}", "size": "1Gi", "type": "empty"}})",
                    name));
    EXPECT_EQ((*api.find(kPersistentVolumeClaims, "ns/a"))["spec"]["storageClassName"].dump(), shown);
    ok("DELETE", "/volumes/api/namespaces/ns/pvcs/a");
  }
  put(kPersistentVolumeClaims, R"({"metadata": {"name": "a", "namespace": "ns"}})");
  put(kPods,
      R"({"metadata": {"name": "user", "namespace": "ns"}, "spec": {"volumes": [{"persistentVolumeClaim": {"claimName": "a"}}]}})");
  EXPECT_EQ(refusal("DELETE", "/volumes/api/namespaces/ns/pvcs/a"),
            "409 Cannot delete PVC 'a' because it is being used by pods: ['user']");
  EXPECT_EQ(ok("GET", "/volumes/api/namespaces/ns/pvcs/a/pods")["pods"].size(), 1U);
  ok("POST", "/volumes/api/namespaces/ns/viewers", R"({"name": "a"})");
  EXPECT_EQ((*api.find(api::resources::kPvcViewers, "ns/a"))["spec"]["networking"]["rewrite"].as_string(),
            "/pvcviewers/ns/a/");
  put(kPods,
      R"({"metadata": {"name": "user", "namespace": "ns", "labels": {"app.kubernetes.io/part-of": "pvc-viewer", "app.kubernetes.io/name": "a"}},
    "spec": {"volumes": [{"persistentVolumeClaim": {"claimName": "a"}}]}})");
  ok("DELETE", "/volumes/api/namespaces/ns/pvcs/a");
  EXPECT_EQ(api.find(api::resources::kPvcViewers, "ns/a"), nullptr);
  EXPECT_EQ(api.find(kPersistentVolumeClaims, "ns/a"), nullptr);
}

TEST_F(WebApps, TensorBoardsAreMadeListedAndDeleted) {
  EXPECT_EQ(refusal("POST", "/tensorboards/api/namespaces/ns/tensorboards", R"({"name": "t"})"),
            "400 logspath is missing in the body");
  ok("POST", "/tensorboards/api/namespaces/ns/tensorboards",
     R"({"name": "t", "logspath": "pvc://logs/a", "configurations": ["with-token"]})");
  EXPECT_EQ((*api.find(api::resources::kTensorboards, "ns/t"))["metadata"]["labels"].dump(),
            R"({"with-token":"true"})");
  const Json row = ok("GET", "/tensorboards/api/namespaces/ns/tensorboards")["tensorboards"][0];
  EXPECT_EQ(row["logspath"].as_string(), "pvc://logs/a");
  EXPECT_EQ(row["status"]["phase"].as_string(), "unavailable");
  ok("DELETE", "/tensorboards/api/namespaces/ns/tensorboards/t");
  EXPECT_EQ(api.find(api::resources::kTensorboards, "ns/t"), nullptr);
}

const api::ResourceId kRoleBindings{"rbac.authorization.k8s.io", "v1", "rolebindings"};

TEST_F(WebApps, BindingsAreMadeListedAndDeleted) {
  const std::string body =
      R"({"user": {"kind": "User", "name": "Bob@example.com"}, "referredNamespace": "ns", "roleRef": {"kind": "ClusterRole", "name": "edit"}})";
  const Answer made = ask("POST", "/kfam/v1/bindings", body, {{"X-None", "-"}});
  EXPECT_EQ(made.status, 200) << made.body;
  EXPECT_EQ(made.body, "");
  const Json* object = api.find(kRoleBindings, "ns/user-bob-example-com-clusterrole-edit");
  ASSERT_NE(object, nullptr);
  EXPECT_EQ((*object)["roleRef"]["name"].as_string(), "kubeflow-edit");
  EXPECT_EQ((*object)["metadata"]["annotations"].dump(), R"({"user":"Bob@example.com","role":"edit"})");
  EXPECT_EQ(
      ask("GET", "/kfam/v1/bindings?namespace=ns").json()["bindings"].dump(),
      R"([{"user":{"kind":"User","name":"Bob@example.com"},"referredNamespace":"ns","roleRef":{"kind":"ClusterRole","name":"edit"}}])");
  EXPECT_EQ(ask("GET", "/kfam/v1/bindings?namespace=ns&role=view").json()["bindings"].size(), 0U);
  EXPECT_EQ(ask("DELETE", "/kfam/v1/bindings", body).status, 200);
  EXPECT_EQ(api.find(kRoleBindings, "ns/user-bob-example-com-clusterrole-edit"), nullptr);
  EXPECT_EQ(ask("POST", "/kfam/v1/bindings",
                R"({"user": {"name": "b"}, "referredNamespace": "ns", "roleRef": {"name": "cluster-admin"}})")
                .body,
            "roleRef.name: \"cluster-admin\" is none of admin, edit and view");
}

// The program looks these up with its own rights, so a stranger's name must not get through.
TEST_F(WebApps, UsersHearOfTheirOwnBindingsAlone) {
  own.put(
      kRoleBindings,
      *api::parse_json(
          R"({"metadata": {"name": "a", "namespace": "ns", "annotations": {"user": "ann@example.com", "role": "admin"}},
    "roleRef": {"kind": "ClusterRole", "name": "kubeflow-admin"}, "subjects": [{"kind": "User", "name": "ann@example.com"}]})"));
  own.put(
      kRoleBindings,
      *api::parse_json(
          R"({"metadata": {"name": "b", "namespace": "other", "annotations": {"user": "bob@example.com", "role": "admin"}},
    "roleRef": {"kind": "ClusterRole", "name": "kubeflow-admin"}, "subjects": [{"kind": "User", "name": "bob@example.com"}]})"));
  api.forbids = [](const client::Request&) { return true; };
  const Json rows = ask("GET", "/kfam/v1/bindings?user=ann%40example.com").json()["bindings"];
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["referredNamespace"].as_string(), "ns");
  EXPECT_EQ(ask("GET", "/kfam/v1/bindings?user=bob%40example.com").status, 403);
  EXPECT_EQ(ask("GET", "/kfam/v1/bindings").status, 403);
  EXPECT_EQ(own.calls.size(), 1U);
}

TEST_F(WebApps, ProfilesAreMadeAndDeleted) {
  EXPECT_EQ(ask("POST", "/kfam/v1/profiles",
                R"({"metadata": {"name": "team"}, "spec": {"owner": {"kind": "User", "name": "ann"}}})")
                .status,
            200);
  const api::ResourceId profiles{"kubeflow.org", "v1", "profiles"};
  EXPECT_NE(api.find(profiles, "team"), nullptr);
  EXPECT_EQ(ask("DELETE", "/kfam/v1/profiles/team").status, 200);
  EXPECT_EQ(ask("DELETE", "/kfam/v1/profiles/team").status, 404);
}

}  // namespace
}  // namespace webapps
