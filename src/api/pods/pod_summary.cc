// A walk over the statuses of a pod's init containers, then of its containers.
#include "api/pods/pod_summary.h"

#include <algorithm>
#include <string_view>

#include "api/meta/resource.h"
#include "base/format.h"

namespace api {
namespace {

// How a container ended, where its status gives no reason.
std::string exit_words(const Json& terminated) {
  if (terminated["signal"].as_int() != 0) return base::format("Signal:{}", terminated["signal"].as_int());
  return base::format("ExitCode:{}", terminated["exitCode"].as_int());
}

bool has_condition(const Json& status, std::string_view type) {
  return std::ranges::any_of(status["conditions"].items(), [&](const Json& one) {
    return one["type"].as_string() == type && one["status"].as_string() == "True";
  });
}

// Restarts of some containers, and when the last one was.
struct Restarts {
  std::int64_t count = 0;
  std::optional<base::Time> last;

  void add(const Json& container) {
    count += container["restartCount"].as_int();
    const auto finished = base::parse_rfc3339(container["lastState"]["terminated"]["finishedAt"].as_string());
    if (finished && (!last || *last < *finished)) last = *finished;
  }
};

class Walk {
 public:
  explicit Walk(const Json& pod) : pod_(pod), spec_(pod["spec"]), status_(pod["status"]) {}

  PodSummary run() {
    out_.status = status_["phase"].as_string();
    if (!status_["reason"].as_string().empty()) out_.status = status_["reason"].as_string();
    for (const Json& condition : status_["conditions"].items())
      if (condition["type"].as_string() == "PodScheduled" && condition["reason"].as_string() == "SchedulingGated")
        out_.status = "SchedulingGated";
    out_.total = static_cast<std::int64_t>(spec_["containers"].size());
    for (const Json& one : spec_["initContainers"].items()) out_.total += is_sidecar(one) ? 1 : 0;
    const bool initializes = init_containers();
    if (!initializes || has_condition(status_, "Initialized")) containers();
    const std::string_view phase = status_["phase"].as_string();
    if (is_deleting(pod_) && status_["reason"].as_string() == "NodeLost")
      out_.status = "Unknown";
    else if (is_deleting(pod_) && phase != "Succeeded" && phase != "Failed")
      out_.status = "Terminating";
    out_.restarts = restarts_.count;
    out_.last_restart = restarts_.last;
    return std::move(out_);
  }

 private:
  static bool is_sidecar(const Json& container) { return container["restartPolicy"].as_string() == "Always"; }
  bool is_sidecar_named(std::string_view name) const {
    return std::ranges::any_of(spec_["initContainers"].items(),
                               [&](const Json& one) { return one["name"].as_string() == name && is_sidecar(one); });
  }

  // Whether one of them is not through yet.
  bool init_containers() {
    std::size_t index = 0;
    for (const Json& container : status_["initContainerStatuses"].items()) {
      const bool sidecar = is_sidecar_named(container["name"].as_string());
      restarts_.add(container);
      if (sidecar) of_sidecars_.add(container);
      const Json& terminated = container["state"]["terminated"];
      const std::string_view waiting = container["state"]["waiting"]["reason"].as_string();
      const std::size_t at = index++;
      if (terminated.is_object() && terminated["exitCode"].as_int() == 0) continue;
      if (sidecar && container["started"].as_bool()) {
        out_.ready += container["ready"].as_bool() ? 1 : 0;
        continue;
      }
      if (terminated.is_object())
        out_.status =
            "Init:" + (terminated["reason"].as_string().empty() ? exit_words(terminated) : terminated["reason"].str());
      else if (!waiting.empty() && waiting != "PodInitializing")
        out_.status = base::format("Init:{}", waiting);
      else
        out_.status = base::format("Init:{}/{}", at, spec_["initContainers"].size());
      return true;
    }
    return false;
  }

  void containers() {
    restarts_ = of_sidecars_;
    bool runs = false;
    const auto statuses = status_["containerStatuses"].items();
    for (std::size_t i = statuses.size(); i-- > 0;) {
      const Json& container = statuses[i];
      restarts_.add(container);
      const Json& state = container["state"];
      if (!state["waiting"]["reason"].as_string().empty()) {
        out_.status = state["waiting"]["reason"].as_string();
      } else if (state["terminated"].is_object()) {
        const Json& terminated = state["terminated"];
        out_.status = terminated["reason"].as_string().empty() ? exit_words(terminated) : terminated["reason"].str();
      } else if (container["ready"].as_bool() && state["running"].is_object()) {
        runs = true;
        ++out_.ready;
      }
    }
    // One container is through and another goes on.
    if (out_.status == "Completed" && runs) out_.status = has_condition(status_, "Ready") ? "Running" : "NotReady";
  }

  const Json& pod_;
  const Json& spec_;
  const Json& status_;
  PodSummary out_;
  Restarts restarts_, of_sidecars_;
};

}  // namespace

PodSummary summary_of(const Json& pod) { return Walk(pod).run(); }

}  // namespace api
