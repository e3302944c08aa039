// An attempt is a pod whose name follows from the attempt, so that a look that is repeated makes no second one.
#include "controllers/pipelines/leaf.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "api/pipelines/v2beta1/pipeline_run.h"
#include "base/format.h"
#include "controllers/framework/pauses.h"
#include "controllers/groups/usage.h"
#include "controllers/pipelines/executor_input.h"
#include "controllers/pipelines/leaf_kinds.h"
#include "controllers/pipelines/loop_gang.h"
#include "controllers/pipelines/pod_state.h"
#include "controllers/pipelines/report.h"
#include "controllers/pipelines/step_pod.h"

namespace controllers::pipelines {

using api::Json;
using ::pipelines::Executor;
namespace resources = api::resources;

namespace {

class Step {
 public:
  Step(RunLook& look, const Place& place, const Surroundings& around) : look_(look), place_(place), around_(around) {}

  // Makes the pod of an attempt, and writes that it waits.
  Standing start(const Json& task, const Values& inputs, std::int64_t attempt) {
    const std::string name = pod_name_of(look_.facts, place_.path, attempt);
    if (const auto refused = look_.memory.refused.find(place_.path); refused != look_.memory.refused.end())
      return end(task, "FAILED", base::format("the pod is refused: {}", refused->second));
    auto pod = make_step_pod(request(task, inputs, attempt), look_.options);
    if (pod.ok())
      if (const base::Status joined = join_gang(*pod); !joined.ok()) pod = joined.error();
    if (!pod.ok()) {
      write_task(look_, task, {.state = "FAILED", .error = pod.error().message, .inputs = inputs});
      return {.is_over = true, .state = "FAILED", .error = pod.error().message};
    }
    make_volumes_of(*pod);
    Action& made = look_.making.create(resources::kPods, *std::move(pod));
    made.existing_is_fine = true;
    made.fate = place_.path;
    write_task(look_, task, {.state = "PENDING", .inputs = inputs, .attempt = attempt, .pod = name});
    return {};
  }

  Standing attend(const Json& task) {
    const Json& status = task["status"];
    const Values inputs = Values::of(status["inputs"]);
    const std::string name = status["podName"].str();
    const std::int64_t attempt = status["attempt"].as_int();
    if (name.empty() || name != pod_name_of(look_.facts, place_.path, attempt))
      return look_.ends ? end(task, "CANCELED", {}) : start(task, inputs, attempt);
    const Json* pod = look_.objects.named(resources::kPods, name);
    if (pod == nullptr) return miss(task, name, inputs, attempt);
    const PodState state = state_of(*pod);
    if (state.phase == PodState::Phase::kSucceeded) return take_outputs(task, state.report, inputs, attempt);
    if (look_.ends) return stop(task, *pod, state);
    if (state.phase == PodState::Phase::kFailed) return fail(task, name, state.error, state.ended, inputs, attempt);
    const bool runs = state.phase == PodState::Phase::kRunning;
    // A pod that ran and is moved to waiting again does not exist: steps are not started again in their pod.
    const bool ran = runs || status["state"].as_string() == "RUNNING";
    const std::string_view now = ran ? "RUNNING" : "PENDING", message = runs ? std::string_view() : state.message;
    // Most looks find most steps as they were: nothing is put together for those.
    if (status["state"].as_string() != now || status["message"].as_string() != message)
      write_task(look_, task, {.state = std::string(now), .message = std::string(message)});
    return {};
  }

 private:
  base::Status join_gang(Json& pod) {
    TRY(const std::string group,
        group_of_step(look_.facts, look_.pipeline.executor_of(place_.component), place_.loop, place_.path));
    if (group.empty()) return {};
    pod.edit_path({"metadata", "annotations"}).set(kGroupAnnotation, group);
    const std::string_view step = step_in_turn(place_.loop, place_.path);
    look_.gang_pods.emplace(std::pair(std::string(place_.loop), std::string(step)), quota_usage(pod["spec"]));
    return {};
  }

  // The objects behind the volumes of the pod, for the first pod of the run that has them.
  void make_volumes_of(const Json& pod) {
    Memory& memory = look_.memory;
    const std::string& ns = look_.facts.ns;
    if (has_volume(pod, kStageVolume) && !std::exchange(memory.has_stage, true))
      look_.programs.create(resources::kConfigMaps, stage_object(ns)).existing_is_fine = true;
    if (has_volume(pod, kStoreVolume) && !std::exchange(memory.has_claim, true) &&
        look_.objects.named(resources::kPersistentVolumeClaims, look_.options.claim) == nullptr)
      look_.programs.create(resources::kPersistentVolumeClaims, claim_object(ns, look_.options)).existing_is_fine =
          true;
  }

  StepRequest request(const Json& task, const Values& inputs, std::int64_t attempt) const {
    return {.run = look_.run,
            .task = task,
            .facts = look_.facts,
            .component = place_.component,
            .executor = look_.pipeline.executor_of(place_.component),
            .inputs = inputs,
            .stores = look_.stores,
            .attempt = attempt,
            .platform_value = [this, &inputs](const Json& source) { return platform_value(source, inputs); }};
  }

  std::optional<Json> platform_value(const Json& source, const Values& inputs) const {
    if (source["runtimeValue"].has("constant")) return source["runtimeValue"]["constant"];
    const auto of = [](const Json& values, std::string_view name) {
      const Json* found = values.find(name);
      return found == nullptr ? std::nullopt : std::optional<Json>(*found);
    };
    if (const std::string_view input = source["componentInputParameter"].as_string(); !input.empty()) {
      auto value = of(around_.graph.parameters, input);
      return value ? value : of(inputs.parameters, input);
    }
    const Json& output = source["taskOutputParameter"];
    if (!output.is_object()) return std::nullopt;
    return of(around_.producers(output["producerTask"].str()).outputs.parameters,
              output["outputParameterKey"].as_string());
  }

  Standing end(const Json& task, const char* state, const std::string& error, const Values& outputs = {}) {
    write_task(look_, task, {.state = state, .error = error, .outputs = outputs});
    if (std::string_view(state) == "CANCELED") remove_group(look_.making, task).fate = place_.path;
    return {.is_over = true, .state = state, .error = error, .outputs = outputs};
  }

  Standing take_outputs(const Json& task, const std::string& text, const Values& inputs, std::int64_t attempt) {
    // A container that the launcher did not run has no outputs.
    if (look_.pipeline.executor_of(place_.component).container["command"].empty()) return end(task, "SUCCEEDED", {});
    auto report = read_report(text, place_.component.output_parameters.size());
    auto outputs = report.ok()
                       ? outputs_of(*report, place_.component, executor_input_of(request(task, inputs, attempt)))
                       : base::Result<Values>(report.error());
    if (!outputs.ok()) return end(task, "FAILED", outputs.error().message);
    return end(task, "SUCCEEDED", {}, *outputs);
  }

  Standing stop(const Json& task, const Json& pod, const PodState& state) {
    if (state.phase == PodState::Phase::kFailed) return end(task, "CANCELED", {});
    if (!api::is_deleting(pod)) {
      Action& removed = look_.making.remove(resources::kPods, pod);
      removed.fate = place_.path;
    }
    return {};
  }

  // The view may be older than the pod: the server knows.
  Standing miss(const Json& task, const std::string& name, const Values& inputs, std::int64_t attempt) {
    if (!look_.memory.gone.contains(name)) {
      look_.asked.push_back(name);
      return {};
    }
    if (look_.ends) return end(task, "CANCELED", {});
    return fail(task, name, base::format("its pod {} was deleted", name), {}, inputs, attempt);
  }

  Standing fail(const Json& task, const std::string& pod, const std::string& error, base::Time ended,
                const Values& inputs, std::int64_t attempt) {
    const ::pipelines::RetryPolicy& policy = place_.retry();
    const std::int64_t asked = look_.run["status"]["observedRetries"].as_int();
    const std::int64_t attempts = (policy.count_max + 1) * (asked + 1);
    if (policy.count_max == 0 || attempt + 1 >= attempts) return end(task, "FAILED", error);
    if (!ended.is_set()) ended = look_.memory.failed.emplace(pod, look_.turn.now).first->second;
    const base::Duration pause = pause_before(policy, attempt);
    const base::Duration left = pause_left(ended + pause, look_.turn.now, std::max(pause, policy.pause_max));
    if (left > base::Duration{}) {
      look_.making.requeue_after(left);
      write_task(look_, task,
                 {.state = task["status"]["state"].str(),
                  .message = base::format("attempt {} failed: {}; the next one begins {} s after it", attempt + 1,
                                          error, static_cast<std::int64_t>(pause.seconds()))});
      return {};
    }
    return start(task, inputs, attempt + 1);
  }

  static base::Duration pause_before(const ::pipelines::RetryPolicy& policy, std::int64_t attempt) {
    const double seconds = policy.pause.seconds() * std::pow(policy.factor, static_cast<double>(attempt));
    if (!(seconds < policy.pause_max.seconds())) return policy.pause_max;
    return base::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
  }

  RunLook& look_;
  const Place& place_;
  const Surroundings& around_;
};

}  // namespace

Standing begin_leaf(RunLook& look, const Place& place, const Json* task, const Values& inputs,
                    const Surroundings& around) {
  const Executor& executor = look.pipeline.executor_of(place.component);
  const std::string key = cache_key_of(look, place, inputs);
  std::optional<Change> change;
  if (executor.kind == Executor::Kind::kImporter) {
    change = imported(place.component, executor, inputs);
  } else if (executor.kind != Executor::Kind::kContainer) {
    change = Change{.state = "RUNNING", .inputs = inputs};
  } else if (const Json* cached = cached_task(look, key); cached != nullptr) {
    change = Change{.state = "CACHED",
                    .inputs = inputs,
                    .outputs = Values::of((*cached)["status"]["outputs"]),
                    .cached_from = std::string(api::name_of(*cached))};
  }
  if (task == nullptr)
    begin_task(look, place, key, change);
  else if (change)
    write_task(look, *task, *change);
  else
    return Step(look, place, around).start(*task, inputs, 0);
  return {};
}

Standing attend_leaf(RunLook& look, const Place& place, const Json& task, const Surroundings& around) {
  const Executor& executor = look.pipeline.executor_of(place.component);
  if (executor.kind == Executor::Kind::kContainer) return Step(look, place, around).attend(task);
  return attend_claim(look, place, task, executor);
}

}  // namespace controllers::pipelines
