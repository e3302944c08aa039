// A node is named by the id of a task, its path, its name, or the name of its pod.
#include "pipelines/rest/nodes.h"

#include <algorithm>

#include "api/argo/v1alpha1/workflow.h"
#include "api/pipelines/v2beta1/pipeline_run.h"
#include "base/base64.h"
#include "base/format.h"
#include "base/number.h"
#include "pipelines/rest/objects.h"

namespace pipelines::rest {

using api::Json;
using base::Code;
using base::make_error;

namespace {

constexpr std::size_t kViewMax = std::size_t{4} << 20;
constexpr std::string_view kClaim = "mlpipeline-artifacts", kStore = "minio://mlpipeline/";

struct Node {
  Json run, task;
};

base::Result<Node> node_of(const Call& call, Facts& facts) {
  TRY(Json run, object_of(facts, kRunNoun, call.names[0]));
  TRY(const std::vector<Json> tasks, tasks_of(facts, run));
  const std::string& node = call.names[1];
  const auto found = std::ranges::find_if(tasks, [&node](const Json& task) {
    return api::uid_of(task) == node || task["spec"]["path"].as_string() == node ||
           task["spec"]["taskName"].as_string() == node || task["status"]["podName"].as_string() == node;
  });
  if (found == tasks.end())
    return make_error(Code::kNotFound, base::format("the run {} has no task {:?}", shown_name(run), node));
  return Node{std::move(run), *found};
}

// A node of a Workflow that ran is called as its pod.
struct WorkflowNode {
  std::string ns;
  Json node;
};

base::Result<WorkflowNode> workflow_node_of(const Call& call, Facts& facts) {
  TRY(const Json workflow, object_of(facts, kWorkflowNoun, call.names[0]));
  const Json* node = workflow["status"]["nodes"].find(call.names[1]);
  if (node == nullptr || node->at_path({"type"}).as_string() != "Pod")
    return make_error(Code::kNotFound,
                      base::format("the run {} has no step {:?}", api::name_of(workflow), call.names[1]));
  return WorkflowNode{std::string(api::namespace_of(workflow)), *node};
}

base::Result<Json> named(Facts& facts, const api::ResourceId& resource, const std::string& ns, std::string name) {
  return facts.ask(
      {.verb = client::Verb::kGet, .resource = resource, .ns = ns, .name = std::move(name), .subresource = {}});
}

base::Result<std::string> key_of(const Json& secret, const std::string& key) {
  auto value = base::base64_decode(secret["data"][key].as_string());
  if (!value.ok() || value->empty())
    return make_error(Code::kInvalid, base::format("the Secret {} has no {}", api::name_of(secret), key));
  return *std::move(value);
}

void take_part(Reply& reply, std::size_t bytes_max, bool is_page) {
  if (reply.file) reply.file->bytes_max = bytes_max, reply.file->is_page = is_page;
  if (reply.object) reply.object->bytes_max = bytes_max, reply.object->is_page = is_page;
}

// The part that `max_bytes` of the query asks for.
base::Result<Reply> with_asked_part(const Call& call, Reply reply) {
  if (!call.target.has("max_bytes")) return reply;
  const auto most = base::parse_number<std::uint32_t>(call.query("max_bytes"));
  if (!most || *most == 0)
    return make_error(Code::kInvalid,
                      base::format("max_bytes: {:?} is not a number of bytes", call.query("max_bytes")));
  take_part(reply, *most, false);
  return reply;
}

base::Result<Reply> as_page(base::Result<Reply> reply) {
  if (reply.ok()) take_part(*reply, kViewMax, true);
  return reply;
}

}  // namespace

base::Result<std::vector<Json>> tasks_of(Facts& facts, const Json& run) {
  return objects_of(facts, api::resources::kPipelineTasks, std::string(api::namespace_of(run)),
                    "pipelines.kubeflow.org/run=" + std::string(api::name_of(run)));
}

base::Result<Reply> read_log(const Call& call, Facts& facts) {
  if (!facts.find(kRunNoun.resource, call.names[0]) && facts.find(kWorkflowNoun.resource, call.names[0]))
    return read_workflow_log(call, facts);
  TRY(const Node node, node_of(call, facts));
  const std::string pod = node.task["status"]["podName"].str();
  if (pod.empty())
    return make_error(Code::kNotFound, base::format("the task {} has no pod, and so no log", call.names[1]));
  return log_of_pod(call, std::string(api::namespace_of(node.run)), pod);
}

Reply log_of_pod(const Call& call, const std::string& ns, const std::string& pod) {
  Reply reply;
  reply.pass = api::resource_path(api::resources::kPods, ns, pod, "log") + "?container=main";
  if (call.is_on("follow")) reply.pass += "&follow=true";
  return reply;
}

base::Result<Reply> read_artifact(const Call& call, Facts& facts) {
  TRY(const Node node, node_of(call, facts));
  const Json& status = node.task["status"];
  const Json* list = status["outputs"]["artifacts"].find(call.names[2]);
  if (list == nullptr) list = status["inputs"]["artifacts"].find(call.names[2]);
  // One of a list of artifacts is named by its place there.
  const auto index = base::parse_number<std::uint32_t>(call.target.has("index") ? call.query("index") : "0");
  if (list == nullptr || !index || *index >= list->items().size())
    return make_error(Code::kNotFound, base::format("the task {} has no artifact {:?}{}", call.names[1], call.names[2],
                                                    call.target.has("index") ? " at this index" : ""));
  const std::string uri = list->items()[*index]["uri"].str();
  const std::string ns(api::namespace_of(node.run));
  TRY(std::optional<StoredObject> object, stored_object(facts, ns, uri));
  Reply reply;
  if (object) {
    reply.object = *std::move(object);
  } else {
    if (!uri.starts_with(kStore)) return make_error(Code::kNotFound, "the artifact is the whole volume");
    TRY(reply, stored_file(facts, ns, uri.substr(kStore.size())));
  }
  return with_asked_part(call, std::move(reply));
}

base::Result<Reply> view_artifact(const Call& call, Facts& facts) { return as_page(read_artifact(call, facts)); }

base::Result<std::optional<StoredObject>> stored_object(Facts& facts, const std::string& ns, const std::string& uri) {
  const auto config = named(facts, api::resources::kConfigMaps, ns, kStoresConfig);
  if (facts.next()) return config.error();
  const bool is_like_volume = uri.starts_with(base::format("{}/", kVolumeStore));
  const bool is_absent = !config.ok() && config.error().code == Code::kNotFound;
  if (!config.ok() && !is_absent && !is_like_volume) return config.error();
  TRY(const Stores stores, Stores::read(config.ok() ? *config : Json()));
  if (stores.is_volume(uri)) return std::optional<StoredObject>();
  TRY(const std::optional<Store> store, stores.store_of(uri));
  const std::size_t bucket = uri.find("://") + 3, slash = uri.find('/', bucket);
  if (!store || slash == std::string::npos)
    return make_error(
        Code::kInvalid,
        base::format("the artifact is at {}, and only those of s3:// and minio:// are read here", uri.substr(0, 200)));
  if (store->secret.empty())
    return make_error(Code::kInvalid,
                      base::format("the keys of the store of {} are those of the step, and not in a Secret that the "
                                   "ConfigMap {} names",
                                   uri.substr(0, 200), kStoresConfig));
  TRY(const Json secret, named(facts, api::resources::kSecrets, ns, store->secret));
  StoredObject object{.place = {*store, uri.substr(bucket, slash - bucket), uri.substr(slash + 1)}};
  TRY(object.keys.id, key_of(secret, store->id_key));
  TRY(object.keys.secret, key_of(secret, store->secret_key));
  return std::optional(std::move(object));
}

// The right to see the claim is that to see its content.
base::Result<Reply> stored_file(Facts& facts, const std::string& ns, std::string path) {
  TRY(const Json claim, facts.ask({.verb = client::Verb::kGet,
                                   .resource = api::resources::kPersistentVolumeClaims,
                                   .ns = ns,
                                   .name = std::string(kClaim),
                                   .subresource = {}}));
  const std::string volume = claim["spec"]["volumeName"].str();
  if (claim["status"]["phase"].as_string() != "Bound" || volume.empty() || volume.front() == '.' ||
      volume.find('/') != std::string::npos)
    return make_error(Code::kUnavailable, base::format("the claim {}/{} has no volume yet", ns, kClaim));
  Reply reply;
  reply.file = {ns, std::string(kClaim), volume, std::move(path)};
  return reply;
}

namespace {

// A word of a shell, whatever is in it.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char one : text) out += one == '\'' ? "'\\''" : std::string(1, one);
  return out + "'";
}

}  // namespace

std::string command_to_read(const StoredFile& file) {
  const Json claim = Json::object({{"claimName", file.claim}});
  const Json mount = Json::object({{"name", "store"}, {"mountPath", "/store"}, {"readOnly", true}});
  const Json words = Json::array({Json("tar"), Json("-C"), Json("/store"), Json("-c"), Json("--"), Json(file.path)});
  const Json container = Json::object(
      {{"name", "read-artifact"}, {"image", "busybox"}, {"command", words}, {"volumeMounts", Json::array({mount})}});
  const Json pod = Json::object(
      {{"spec",
        Json::object({{"volumes", Json::array({Json::object({{"name", "store"}, {"persistentVolumeClaim", claim}})})},
                      {"containers", Json::array({container})}})}});
  return base::format(
      "kubectl run read-artifact -n {} --image=busybox --restart=Never --attach --rm --quiet --overrides={} > {}",
      file.ns, quoted(pod.dump()), quoted(file.path.substr(file.path.rfind('/') + 1) + ".tar"));
}

base::Result<Reply> read_workflow_log(const Call& call, Facts& facts) {
  TRY(const WorkflowNode node, workflow_node_of(call, facts));
  return log_of_pod(call, node.ns, call.names[1]);
}

base::Result<Reply> read_workflow_artifact(const Call& call, Facts& facts) {
  TRY(const WorkflowNode node, workflow_node_of(call, facts));
  for (const std::string_view side : {"outputs", "inputs"})
    for (const Json& one : node.node[side]["artifacts"].items())
      if (const std::string key = one["s3"]["key"].str(); one["name"].as_string() == call.names[2] && !key.empty()) {
        TRY(Reply reply, stored_file(facts, node.ns, key));
        return with_asked_part(call, std::move(reply));
      }
  return make_error(Code::kNotFound,
                    base::format("the step {} has no artifact {:?} in the store", call.names[1], call.names[2]));
}

base::Result<Reply> view_workflow_artifact(const Call& call, Facts& facts) {
  return as_page(read_workflow_artifact(call, facts));
}

}  // namespace pipelines::rest
