// The server of a notebook is asked for its kernels once a period; the answer decides at the next step.
#include "controllers/notebooks/culling.h"

#include <algorithm>
#include <map>
#include <utility>

#include "api/kubeflow/v1/notebook.h"
#include "base/format.h"
#include "controllers/notebooks/notebook_objects.h"
#include "controllers/workloads/pods.h"

namespace controllers::notebooks {

using api::Json;
using base::Duration;
using base::Time;
namespace resources = api::resources;

namespace {

constexpr const char* kActivity = "notebooks.kubeflow.org/last-activity";
constexpr const char* kCheck = "notebooks.kubeflow.org/last_activity_check_timestamp";
constexpr std::string_view kIdleAfter = "notebooks.volcano.sh/idle-after";
constexpr Duration kTimeout = base::seconds(10);
constexpr Duration kPeriodMin = base::seconds(5);
constexpr std::size_t kAnswerBytesMax = std::size_t{1} << 20;

struct Memory {
  bool asks = false;             // the plan that runs asks for the kernels
  bool culls = false;            // the plan that runs stops the notebook
  Time at = {};                  // of that
  std::optional<Answer> answer;  // for the next step
};

bool runs(const Json& pod) {
  return pod["status"]["phase"].as_string() == "Running" && !pod["status"]["podIP"].as_string().empty();
}

class CullingStep {
 public:
  CullingStep(const Json& notebook, const Json* pod, const Turn& turn, Duration idle, Duration period, Memory& memory)
      : notebook_(notebook), pod_(pod), turn_(turn), idle_(idle), period_(period), memory_(memory) {}

  Plan take() {
    plan_.set_subject(notebook_);
    const std::string_view activity = api::annotation_of(notebook_, kActivity);
    const std::string_view check = api::annotation_of(notebook_, kCheck);
    if (is_stopped(notebook_) || pod_ == nullptr) {
      memory_ = {};
      if (!activity.empty() || !check.empty()) write({{kActivity, Json()}, {kCheck, Json()}});
      return std::move(plan_);
    }
    const auto last = base::parse_rfc3339(activity);
    const auto checked = base::parse_rfc3339(check);
    const Json now = base::format_rfc3339(turn_.now);
    if (!last || !checked) {
      plan_.requeue_after(period_);
      write({{kActivity, now}, {kCheck, now}});
      return std::move(plan_);
    }
    // A check that lies ahead was written before the clock was set back.
    const Duration left = *checked + period_ - turn_.now;
    if (left > Duration{} && left <= period_) {
      plan_.requeue_after(left);
      return std::move(plan_);
    }
    decide(*last, now);
    return std::move(plan_);
  }

 private:
  void decide(Time last, const Json& now) {
    // COMPAT(notebook-waits)
    std::optional<Time> active = turn_.now;
    if (runs(*pod_)) {
      if (!memory_.answer) return ask();
      active = activity_of(*std::exchange(memory_.answer, std::nullopt), turn_.now);
    }
    const Time latest = active.value_or(last);
    plan_.requeue_after(period_);
    Changes changes = {{kActivity, base::format_rfc3339(latest)}, {kCheck, now}};
    memory_.culls = turn_.now > latest + idle_;
    memory_.at = turn_.now;
    if (memory_.culls) changes.emplace_back(kStopped, now);
    write(changes);
  }

  // COMPAT(notebook-probe)
  void ask() {
    memory_.asks = true;
    plan_.requeue_after({});
    plan_.ask({.host = (*pod_)["status"]["podIP"].str(),
               .port = static_cast<std::uint16_t>(notebook_port(notebook_)),
               .path = notebook_prefix(notebook_) + "/api/kernels",
               .timeout = kTimeout,
               .answer_bytes_max = kAnswerBytesMax});
  }

  using Changes = std::vector<std::pair<const char*, Json>>;  // of annotations

  void write(const Changes& changes) {
    Json annotations = Json::object();
    for (const auto& [name, value] : changes) annotations.set(name, value);
    Json metadata = Json::object({{"uid", api::uid_of(notebook_)}, {"annotations", std::move(annotations)}});
    Action& action = plan_.patch(resources::kNotebooks, notebook_, client::PatchType::kMerge,
                                 Json::object({{"metadata", std::move(metadata)}}));
    action.missing_is_fine = true;
    if (!memory_.culls) return;
    action.success_reason = "Culled";
    action.success_text = base::format("Stopped, because no kernel was busy for {}", base::format_go_duration(idle_));
  }

  const Json& notebook_;
  const Json* pod_;
  const Turn& turn_;
  Duration idle_, period_;
  Memory& memory_;
  Plan plan_;
};

class CullingController final : public Controller {
 public:
  explicit CullingController(Options options) : options_(std::move(options)) {}

  std::string_view name() const override { return "notebook-culling-controller"; }
  std::string_view component() const override { return "notebook-controller"; }

  std::vector<Write> writes() const override { return {{resources::kNotebooks, "patch"}}; }
  std::vector<Wake> wakes_on() const override {
    return {{.resource = resources::kNotebooks,
             .keys = [](const View&, const Json& one) { return Keys{api::key_of(one)}; },
             .may_be_absent = true},
            {.resource = resources::kPods,
             .keys =
                 [](const View&, const Json& pod) {
                   const std::string_view name = api::label_of(pod, "notebook-name");
                   return name.empty() ? Keys{} : Keys{base::format("{}/{}", api::namespace_of(pod), name)};
                 },
             .matters = [](const Json* before,
                           const Json* after) { return !before || !after || runs(*before) != runs(*after); }}};
  }

  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    const Json* notebook = view.find(resources::kNotebooks, key);
    const auto idle =
        notebook != nullptr && !api::is_deleting(*notebook) ? idle_max(*notebook, options_) : std::nullopt;
    if (!idle) {
      memories_.erase(key);
      return {};
    }
    const Json* pod = view.find(resources::kPods, key + "-0");
    if (pod != nullptr && api::label_of(*pod, "notebook-name") != api::name_of(*notebook)) pod = nullptr;
    const Duration period = std::min(options_.check_period, std::max(kPeriodMin, Duration{idle->ns / 2}));
    return CullingStep(*notebook, pod, turn, *idle, period, memories_[key]).take();
  }

  void finished(const std::string& key, Ending ending) override {
    const auto found = memories_.find(key);
    if (found == memories_.end()) return;
    Memory& memory = found->second;
    const bool asked = std::exchange(memory.asks, false), culled = std::exchange(memory.culls, false);
    if (asked) memory.answer = ending.answers.empty() ? Answer{.error = "no answer"} : ending.answers.front();
    if (!culled || !ending.succeeded || options_.metrics == nullptr) return;
    const std::size_t slash = key.find('/');
    const std::vector<std::string> labels = {key.substr(0, slash), key.substr(slash + 1)};
    options_.metrics->counter("notebook_culling_total", labels).add();
    options_.metrics->gauge("last_notebook_culling_timestamp_seconds", labels)
        .set(static_cast<double>(memory.at.ns / 1'000'000'000));
  }

 private:
  Options options_;
  std::map<std::string, Memory> memories_;
};

}  // namespace

std::optional<Time> activity_of(const Answer& kernels, Time now) {
  if (!kernels.error.empty() || kernels.status != 200) return std::nullopt;
  const auto read = api::parse_json(kernels.body);
  if (!read.ok() || !read->is_array() || read->empty()) return std::nullopt;
  std::optional<Time> newest;
  for (const Json& kernel : read->items()) {
    if (kernel["execution_state"].as_string() != "idle") return now;
    const auto at = base::parse_rfc3339(kernel["last_activity"].as_string());
    if (!at) return std::nullopt;
    if (!newest || *at > *newest) newest = *at;
  }
  return std::min(*newest, now);
}

std::optional<Duration> idle_max(const Json& notebook, const Options& options) {
  const auto own = base::parse_go_duration(api::annotation_of(notebook, kIdleAfter));
  if (own && *own > Duration{}) return *own;
  return options.culling ? std::optional(options.cull_idle) : std::nullopt;
}

std::unique_ptr<Controller> make_culling_controller(Options options) {
  return std::make_unique<CullingController>(std::move(options));
}

}  // namespace controllers::notebooks
