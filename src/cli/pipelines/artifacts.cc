// The artifacts of a run: a table of them, and their bytes from the REST API, with the person's own rights.
#include <optional>
#include <set>

#include "api/argo/v1alpha1/workflow.h"
#include "api/pipelines/v2beta1/pipeline_run.h"
#include "base/base64.h"
#include "base/format.h"
#include "cli/pipelines/pipeline.h"
#include "cli/table.h"
#include "pipelines/argo/run_workflow.h"
#include "rt/http/http.h"

namespace cli {

using api::Json;
namespace resources = api::resources;

namespace {

struct Artifact {
  std::string task;  // for people
  std::string node;  // for the REST API
  std::string name;
  std::size_t index = 0;
  bool is_one_of_many = false;
  std::string type, place;
};

std::string type_of(const Json& artifact) {
  const Json& type = artifact["type"];
  for (const char* field : {"schemaTitle", "instanceSchema"})
    if (const std::string text = type[std::string_view(field)].str(); !text.empty()) return text;
  return type.is_string() ? type.str() : "-";
}

void add_outputs(const Json& task, std::vector<Artifact>& out) {
  for (const Json::Member& list : task["status"]["outputs"]["artifacts"].members())
    for (std::size_t i = 0; i < list.value.items().size(); ++i) {
      const Json& one = list.value[i];
      out.push_back({short_path(task), std::string(api::uid_of(task)), std::string(list.name()), i,
                     list.value.items().size() > 1, type_of(one), one["uri"].str()});
    }
}

base::Result<std::vector<Artifact>> artifacts_of(Api& server, const Json& run) {
  std::vector<Artifact> out;
  if (pipelines::argo::is_workflow(run) || run["spec"].has("entrypoint")) {
    for (const Json::Member& node : run["status"]["nodes"].members())
      for (const Json& one : node.value["outputs"]["artifacts"].items())
        if (node.value["type"].as_string() == "Pod")
          out.push_back({node.value["displayName"].str(), std::string(node.name()), one["name"].str(), 0, false, "-",
                         one["s3"]["key"].str()});
    return out;
  }
  TRY(const std::vector<Json> tasks, list(server, resources::kPipelineTasks, std::string(api::namespace_of(run)),
                                          base::format("pipelines.kubeflow.org/run={}", api::name_of(run))));
  for (const Json& task : tasks)
    if (const std::string_view type = task["spec"]["type"].as_string(); type == "CONTAINER" || type == "IMPORTER")
      add_outputs(task, out);
  return out;
}

// Names come from whoever wrote the pipeline: none of them leads out of the folder.
std::string file_name(const std::string& text) {
  std::string out;
  for (const char one : text) out += one == '/' || static_cast<unsigned char>(one) < ' ' ? '_' : one;
  if (out.empty() || out.front() == '.') out.insert(0, "_");
  return out.substr(0, 200);
}

base::Status download(World& world, const PipelineReader& read, const Json& run, const Artifact& one,
                      const std::string& folder) {
  const std::string target = base::format("/pipeline/apis/v2beta1/runs/{}/nodes/{}/artifacts/{}:read?index={}",
                                          rt::percent_encode(api::uid_of(run)), rt::percent_encode(one.node),
                                          rt::percent_encode(one.name), one.index);
  TRY(const Json answer, read(target));
  const auto bytes = base::base64_decode(answer["data"].as_string());
  if (!bytes.ok()) return base::make_error(base::Code::kInvalid, "the server's answer is not an artifact");
  std::string path = base::format("{}/{}/{}", folder, file_name(one.task), file_name(one.name));
  if (one.is_one_of_many) path += base::format("-{}", one.index);
  if (answer["archive"].as_string() == "tar") path += ".tar";
  TRY_VOID(world.write_file(path, *bytes));
  world.out += base::format("{} ({} bytes)\n", path, bytes->size());
  return {};
}

}  // namespace

base::Status show_artifacts(World& world, const Values& values) {
  const std::string ns = values.text("namespace"), name = values.text("run"), wanted = values.text("task"),
                    folder = values.text("download");
  if (name.empty()) return usage_error("a run must be given");
  TRY(const auto server, connect(world, values));
  TRY(const Json run, run_named(*server, ns, name));
  TRY(std::vector<Artifact> all, artifacts_of(*server, run));
  std::erase_if(all, [&wanted](const Artifact& one) { return !wanted.empty() && one.task != wanted; });
  if (all.empty()) {
    world.out += wanted.empty() ? "No artifacts found\n" : base::format("No artifacts of {} found\n", wanted);
    return {};
  }
  if (folder.empty()) {
    std::vector<std::vector<std::string>> rows = {{"TASK", "NAME", "TYPE", "PLACE"}};
    for (const Artifact& one : all)
      rows.push_back(
          {one.task, one.is_one_of_many ? base::format("{}[{}]", one.name, one.index) : one.name, one.type, one.place});
    print_rows(world, std::move(rows));
    return {};
  }
  TRY(const PipelineReader read, world.open_pipelines(values.text("kubeconfig"), values.text("master"), ns));
  std::optional<base::Error> problem;
  for (const Artifact& one : all) {
    const base::Status saved = download(world, read, run, one, folder);
    if (saved.ok()) continue;
    world.err += base::format("{} of {}: {}\n", one.name, one.task, saved.error().message);
    problem = base::make_error(saved.error().code, "some artifacts were not saved");
  }
  return problem ? base::Status(*problem) : base::Status();
}

}  // namespace cli
