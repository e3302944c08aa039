// Runs of pipelines arrive at a steady rate: a claim, a step, a loop of turns with two steps each, a loop whose steps
// start together, a step that may fail and is tried again, and an exit handler. Some runs are to be ended while they
// run.
#include <algorithm>

#include "api/pipelines/v2beta1/pipeline_run.h"
#include "base/format.h"
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

// The retries that the step has which may fail.
constexpr std::int64_t kRetries = 2;

Json document(std::int64_t turns) {
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
                                      {"ganged", std::move(ganged)},
                                      {"body", graph({{"claim", claim},
                                                      {"first", task("step")},
                                                      {"loop", loop},
                                                      {"together", together},
                                                      {"shaky", shaky}})}}));
  out.set(
      "deploymentSpec",
      Json::object(
          {{"executors",
            Json::object({{"step", container}, {"shaky", container}, {"together", container}, {"claim", maker}})}}));
  out.set("root", graph({{"body", task("body")}, {"finish", finish}}));
  return out;
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
        ends_(settings.fraction("ends", 0, dice)) {}

 private:
  void submit() override {
    const std::string name = base::format("run-{}", made_++);
    const auto runs_for = [this] { return base::format_go_duration({runs_for_.draw(dice_)}); };
    const bool fails = dice_.chance(fails_);
    Json together = metadata(runs_for(), false);
    together.edit_path({"podMetadata", "annotations"}).set("volcano.sh/loop-gang", "true");
    Json executors = Json::object({{"step", metadata(runs_for(), false)},
                                   {"shaky", metadata(runs_for(), fails)},
                                   {"together", std::move(together)}});
    Json spec = Json::object({{"pipelineSpec", document(std::max<std::int64_t>(turns_.draw(dice_), 0))}});
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
  double fails_, ends_;
};

}  // namespace

std::unique_ptr<Workload> make_pipeline_runs(World& world, Settings& settings, base::Random& dice) {
  return std::make_unique<PipelineRuns>(world, settings, dice);
}

}  // namespace sim
