// A node is named by the id of a task, its path, its name, or the name of its pod.
#include "pipelines/rest/nodes.h"

#include <algorithm>

#include "api/pipelines/v2beta1/pipeline_run.h"
#include "base/format.h"
#include "pipelines/rest/objects.h"

namespace pipelines::rest {

using api::Json;
using base::Code;
using base::make_error;

namespace {

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

}  // namespace

base::Result<std::vector<Json>> tasks_of(Facts& facts, const Json& run) {
  return objects_of(facts, api::resources::kPipelineTasks, std::string(api::namespace_of(run)),
                    "pipelines.kubeflow.org/run=" + std::string(api::name_of(run)));
}

base::Result<Reply> read_log(const Call& call, Facts& facts) {
  TRY(const Node node, node_of(call, facts));
  const std::string pod = node.task["status"]["podName"].str();
  if (pod.empty())
    return make_error(Code::kNotFound, base::format("the task {} has no pod, and so no log", call.names[1]));
  Reply reply;
  reply.pass = api::resource_path(api::resources::kPods, api::namespace_of(node.run), pod, "log") + "?container=main";
  if (call.is_on("follow")) reply.pass += "&follow=true";
  return reply;
}

base::Result<Reply> read_artifact(const Call& call, Facts& facts) {
  TRY(const Node node, node_of(call, facts));
  const Json& status = node.task["status"];
  const Json* list = status["outputs"]["artifacts"].find(call.names[2]);
  if (list == nullptr) list = status["inputs"]["artifacts"].find(call.names[2]);
  if (list == nullptr || list->items().empty())
    return make_error(Code::kNotFound, base::format("the task {} has no artifact {:?}", call.names[1], call.names[2]));
  const std::string uri = list->items().front()["uri"].str();
  if (!uri.starts_with(kStore))
    return make_error(Code::kInvalid, base::format("the artifact is at {}, and only those of {} are read here",
                                                   uri.substr(0, 200), kStore));
  // The right to see the claim is that to see its content.
  const std::string ns(api::namespace_of(node.run));
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
  reply.file = {volume, uri.substr(kStore.size())};
  return reply;
}

}  // namespace pipelines::rest
