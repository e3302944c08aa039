// Runs of pipelines arrive at a steady rate: a claim, a step, a loop of turns with two steps each, a loop whose steps
// start together, a step that may fail and is tried again, and an exit handler. A graph makes a model, which is taken
// from an earlier run where the key is the same; a step outside of it reads that, and another one what was imported.
// Some runs are to be ended while they run.
//
// The launcher of the step that makes the model reports as the real one does once everything is in the store; a step
// whose upload failed is one that failed.
#include <algorithm>

#include "api/pipelines/v2beta1/pipeline_run.h"
#include "base/format.h"
#include "client/client.h"
#include "sim/workloads/submitter.h"
#include "sim/world/nodes.h"

namespace sim {

using api::Json;

namespace {

Json task(std::string_view component, std::initializer_list<std::string_view> after = {}) {
  Json out = Json::object({{"componentRef", Json::object({{"name", component}})}});
  for (const std::string_view one : after) out.edit("dependentTasks").push_back(one);
  return out;
}

Json graph(std::initializer_list<std::pair<std::string_view, Json>> tasks) {
  return Json::object({{"dag", Json::object({{"tasks", Json::object(tasks)}})}});
}

void add(Json& to, std::initializer_list<std::pair<std::string_view, Json>> rows) {
  for (const auto& [name, value] : rows) to.set(name, value);
}

constexpr const char* kImported = "s3://world/data";

// A value for an input of a task, from another task or as it is.
void give(Json& task, const char* kind, const char* name, Json value) {
  task.edit_path({"inputs", kind}).set(name, std::move(value));
}
Json output_of(std::string_view producer, const char* kind, std::string_view name) {
  const bool is_artifact = kind == std::string_view("Artifact");
  return Json::object(
      {{is_artifact ? "taskOutputArtifact" : "taskOutputParameter",
        Json::object({{"producerTask", producer}, {is_artifact ? "outputArtifactKey" : "outputParameterKey", name}})}});
}

Json definitions(const char* artifact, const char* type, bool has_score) {
  Json out = Json::object();
  out.edit("artifacts")
      .set(artifact,
           Json::object({{"artifactType", Json::object({{"schemaTitle", type}, {"schemaVersion", "0.0.1"}})}}));
  if (has_score) add(out.edit("parameters"), {{"score", Json::object({{"parameterType", "NUMBER_DOUBLE"}})}});
  return out;
}

Json selector(const char* kind, const char* producer, const char* key, const char* name) {
  return Json::object({{kind, Json::array({Json::object({{"producerSubtask", producer}, {key, name}})})}});
}

// The components, executors and tasks of `body` that have to do with artifacts.
void add_artifacts(Json& document, Json& body) {
  Json make = task("make");
  make.set("cachingOptions", Json::object({{"enableCache", true}}));
  make.set("retryPolicy", Json::object({{"maxRetryCount", 1}, {"backoffDuration", "1s"}}));
  Json making = graph({{"make", std::move(make)}});
  making.set("outputDefinitions", definitions("model", "system.Model", true));
  Json& outputs = making.edit("dag").edit("outputs");
  add(outputs.edit("artifacts"), {{"model", selector("artifactSelectors", "make", "outputArtifactKey", "model")}});
  add(outputs.edit("parameters"),
      {{"score", Json::object({{"valueFromParameter",
                                Json::object({{"producerSubtask", "make"}, {"outputParameterKey", "score"}})}})}});
  Json& components = document.edit("components");
  const auto step = [](const char* executor) { return Json::object({{"executorLabel", executor}}); };
  Json makes = step("make"), reads = step("read"), imports = step("import"), looks = step("look");
  makes.set("outputDefinitions", definitions("model", "system.Model", true));
  reads.set("inputDefinitions", definitions("model", "system.Model", true));
  imports.set("outputDefinitions", definitions("data", "system.Dataset", false));
  looks.set("inputDefinitions", definitions("data", "system.Dataset", false));
  add(components, {{"making", making}, {"make", makes}, {"read", reads}, {"import", imports}, {"look", looks}});
  const auto container = [](Json args) {
    return Json::object(
        {{"container",
          Json::object({{"image", "work"}, {"command", Json::array({Json("work")})}, {"args", std::move(args)}})}});
  };
  const Json dataset = Json::object({{"schemaTitle", "system.Dataset"}, {"schemaVersion", "0.0.1"}});
  const Json imported =
      Json::object({{"artifactUri", Json::object({{"constant", kImported}})}, {"typeSchema", dataset}});
  add(document.edit_path({"deploymentSpec", "executors"}),
      {{"make", container(Json::array({Json("{{$}}")}))},
       {"read", container(Json::array(
                    {Json("{{$.inputs.artifacts['model'].uri}}"), Json("{{$.inputs.parameters['score']}}")}))},
       {"look", container(Json::array({Json("{{$.inputs.artifacts['data'].uri}}")}))},
       {"import", Json::object({{"importer", imported}})}});
  Json read = task("read", {"making"}), look = task("look", {"import"});
  give(read, "artifacts", "model", output_of("making", "Artifact", "model"));
  give(read, "parameters", "score", output_of("making", "Parameter", "score"));
  give(look, "artifacts", "data", output_of("import", "Artifact", "data"));
  add(body.edit_path({"dag", "tasks"}),
      {{"making", task("making")}, {"read", read}, {"import", task("import")}, {"look", look}});
}

// The retries that the step has which may fail.
constexpr std::int64_t kRetries = 2;

Json document(std::int64_t turns, bool with_artifacts) {
  Json items = Json::array();
  for (std::int64_t i = 0; i < turns; ++i) items.push_back(i);
  Json loop = task("turn", {"first"});
  loop.set("parameterIterator",
           Json::object({{"itemInput", "item"}, {"items", Json::object({{"raw", items.dump()}})}}));
  loop.set("iteratorPolicy", Json::object({{"parallelismLimit", 2}}));
  Json together = task("ganged", {"first"});
  together.set("parameterIterator", loop["parameterIterator"]);
  Json claim = task("claim");
  Json& inputs = claim.edit_path({"inputs", "parameters"});
  inputs = Json::object();
  const auto constant = [&inputs](const char* name, Json value) {
    inputs.set(name, Json::object({{"runtimeValue", Json::object({{"constant", std::move(value)}})}}));
  };
  constant("access_modes", Json::array({Json("ReadWriteOnce")}));
  constant("pvc_name_suffix", "-data");
  constant("size", "1Mi");
  Json shaky = task("shaky", {"first"});
  shaky.set("retryPolicy", Json::object({{"maxRetryCount", kRetries}, {"backoffDuration", "1s"}}));
  Json finish = task("step", {"body"});
  finish.set("triggerPolicy", Json::object({{"strategy", "ALL_UPSTREAM_TASKS_COMPLETED"}}));
  Json turn = graph({{"one", task("step")}, {"two", task("step", {"one"})}});
  turn.edit_path({"inputDefinitions", "parameters", "item"}).set("parameterType", "NUMBER_INTEGER");
  const Json container = Json::object({{"container", Json::object({{"image", "work"}})}});
  const Json maker = Json::object({{"container", Json::object({{"image", "argostub/createpvc"}})}});
  Json claims = Json::object({{"executorLabel", "claim"}});
  const auto type = [](const char* name) { return Json::object({{"parameterType", name}}); };
  claims.edit("inputDefinitions")
      .set("parameters",
           Json::object(
               {{"access_modes", type("LIST")}, {"pvc_name_suffix", type("STRING")}, {"size", type("STRING")}}));
  claims.edit("outputDefinitions").set("parameters", Json::object({{"name", type("STRING")}}));
  Json ganged = graph({{"step", task("together")}});
  ganged.edit_path({"inputDefinitions", "parameters", "item"}).set("parameterType", "NUMBER_INTEGER");
  Json out = Json::object({{"schemaVersion", "2.1.0"}, {"pipelineInfo", Json::object({{"name", "work"}})}});
  out.set("components", Json::object({{"step", Json::object({{"executorLabel", "step"}})},
                                      {"shaky", Json::object({{"executorLabel", "shaky"}})},
                                      {"together", Json::object({{"executorLabel", "together"}})},
                                      {"claim", std::move(claims)},
                                      {"turn", std::move(turn)},
                                      {"ganged", std::move(ganged)}}));
  out.set(
      "deploymentSpec",
      Json::object(
          {{"executors",
            Json::object({{"step", container}, {"shaky", container}, {"together", container}, {"claim", maker}})}}));
  out.set("root", graph({{"body", task("body")}, {"finish", finish}}));
  Json body =
      graph({{"claim", claim}, {"first", task("step")}, {"loop", loop}, {"together", together}, {"shaky", shaky}});
  if (with_artifacts) add_artifacts(out, body);
  add(out.edit("components"), {{"body", std::move(body)}});
  return out;
}

// The launcher's report of a score and of a model, which the step may have put elsewhere.
std::string report_of_model(const std::string& uri) {
  Json model = Json::object({{"metadata", Json::object({{"framework", "none"}})}});
  if (!uri.empty()) model.set("uri", uri);
  const std::string metadata =
      Json::object({{"artifacts", Json::object({{"model", Json::object({{"artifacts", Json::array({model})}})}})}})
          .dump();
  return base::format("kfp 1\nP 0 4\n0.93\nM {}\n{}\n", metadata.size(), metadata);
}

Json metadata(std::string runs_for, bool fails) {
  Json annotations = Json::object({{kRunsFor, std::move(runs_for)}});
  if (fails) annotations.set(kExitCode, "1");
  return Json::object({{"podMetadata", Json::object({{"annotations", std::move(annotations)}})}});
}

class PipelineRuns final : public Submitter {
 public:
  PipelineRuns(World& world, Settings& settings, base::Random& dice)
      : Submitter(world, settings, dice, "pipeline-runs", "pipelines", base::seconds(10)),
        turns_(settings.range("turns", {0, 4})),
        runs_for_(settings.span_range("runs_for", {500'000'000, 5'000'000'000})),
        fails_(settings.fraction("fails", 0, dice)),
        ends_(settings.fraction("ends", 0, dice)),
        artifacts_(settings.fraction("artifacts", 0, dice)) {}

 private:
  // Many runs make the same model; some put it where nobody else does, and some fail before.
  Json maker(const std::string& run) {
    const bool elsewhere = dice_.chance(0.3);
    Json out = metadata("2s", dice_.chance(fails_ / 2));
    out.edit_path({"podMetadata", "annotations"})
        .set(kLastWords, report_of_model(elsewhere ? base::format("s3://world/kept/{}/model", run) : ""));
    return out;
  }

  // A step of the launcher without outputs.
  static Json reader(std::string runs_for) {
    Json out = metadata(std::move(runs_for), false);
    out.edit_path({"podMetadata", "annotations"}).set(kLastWords, "kfp 1\n");
    return out;
  }

  void submit() override {
    const std::string name = base::format("run-{}", made_++);
    const auto runs_for = [this] { return base::format_go_duration({runs_for_.draw(dice_)}); };
    const bool fails = dice_.chance(fails_);
    Json together = metadata(runs_for(), false);
    together.edit_path({"podMetadata", "annotations"}).set("volcano.sh/loop-gang", "true");
    Json executors = Json::object({{"step", metadata(runs_for(), false)},
                                   {"shaky", metadata(runs_for(), fails)},
                                   {"together", std::move(together)}});
    const bool with_artifacts = dice_.chance(artifacts_);
    if (with_artifacts)
      add(executors, {{"make", maker(name)}, {"read", reader(runs_for())}, {"look", reader(runs_for())}});
    Json spec =
        Json::object({{"pipelineSpec", document(std::max<std::int64_t>(turns_.draw(dice_), 0), with_artifacts)}});
    if (with_artifacts) spec.edit("runtimeConfig").set("pipelineRoot", "s3://world/runs");
    spec.edit_path({"platformSpec", "platforms", "kubernetes", "deploymentSpec"})
        .set("executors", std::move(executors));
    create(api::resources::kPipelineRuns, "default",
           Json::object({{"metadata", Json::object({{"name", name}})}, {"spec", std::move(spec)}}));
    if (!dice_.chance(ends_)) return;
    after(base::seconds(5), [this, name] {
      client::Request end{.verb = client::Verb::kPatch,
                          .resource = api::resources::kPipelineRuns,
                          .ns = "default",
                          .name = name,
                          .body = Json::object({{"spec", Json::object({{"terminate", true}})}})};
      ask(std::move(end));
    });
  }

  Settings::Range turns_, runs_for_;
  double fails_, ends_, artifacts_;
};

}  // namespace

std::unique_ptr<Workload> make_pipeline_runs(World& world, Settings& settings, base::Random& dice) {
  return std::make_unique<PipelineRuns>(world, settings, dice);
}

}  // namespace sim
