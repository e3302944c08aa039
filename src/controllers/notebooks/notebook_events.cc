// Its keys are those of events. An event is read when its turn comes, because no watch keeps events.
#include "controllers/notebooks/notebook_events.h"

#include <map>
#include <utility>

#include "api/kubeflow/v1/notebook.h"
#include "base/format.h"
#include "base/letters.h"
#include "controllers/workloads/pods.h"

namespace controllers::notebooks {

using api::Json;
namespace resources = api::resources;

namespace {

// A process that begins again does not tell of yesterday.
constexpr base::Duration kAgeMax = base::minutes(5);

base::Time time_of(const Json& event) {
  for (const Json* text : {&event["series"]["lastObservedTime"], &event["lastTimestamp"], &event["eventTime"],
                           &event["metadata"]["creationTimestamp"]})
    if (const base::Time at = workloads::time_in(*text); at.is_set()) return at;
  return {};
}

class NotebookEventController final : public Controller {
 public:
  std::string_view name() const override { return "notebook-event-controller"; }
  std::string_view component() const override { return "notebook-controller"; }

  std::vector<Wake> wakes_on() const override {
    const auto nobody = [](const View&, const Json&) { return Keys{}; };
    return {{.resource = resources::kNotebooks, .keys = nobody, .may_be_absent = true},
            {resources::kPods, nobody},
            {.resource = resources::kEvents,
             .keys =
                 [](const View& view, const Json& event) {
                   return notebook_of_event(view, event).empty() ? Keys{} : Keys{api::key_of(event)};
                 },
             .once_there_is = resources::kNotebooks}};
  }

  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    Plan plan;
    const auto found = read_.find(key);
    if (found == read_.end()) {
      const std::size_t slash = key.find('/');
      plan.fetch(resources::kEvents, "Event", key.substr(0, slash), key.substr(slash + 1));
      plan.requeue_after({});
      read_[key] = std::nullopt;
      return plan;
    }
    const std::optional<Json> event = std::move(found->second);
    read_.erase(found);
    if (!event || event->is_null() || time_of(*event) < turn.now - kAgeMax) return plan;
    const Json* notebook = view.find(resources::kNotebooks, notebook_of_event(view, *event));
    if (notebook == nullptr) return plan;
    const Json& about = (*event)["involvedObject"];
    plan.event(*notebook, (*event)["type"].as_string(), (*event)["reason"].as_string(),
               base::format("Reissued from {}/{}: {}", base::lower(about["kind"].as_string()),
                            about["name"].as_string(), (*event)["message"].as_string()));
    return plan;
  }

  void finished(const std::string& key, Ending ending) override {
    const auto found = read_.find(key);
    if (found == read_.end()) return;
    if (ending.fetched.empty())
      read_.erase(found);
    else
      found->second = std::move(ending.fetched.front());
  }

 private:
  std::map<std::string, std::optional<Json>> read_;  // unset: it is being asked for
};

}  // namespace

std::string notebook_of_event(const View& view, const Json& event) {
  const Json& about = event["involvedObject"];
  std::string name;
  if (about["kind"].as_string() == "StatefulSet") {
    name = about["name"].str();
  } else if (about["kind"].as_string() == "Pod") {
    const std::string pod_name = about["name"].str();
    const Json* pod = view.find(resources::kPods, base::format("{}/{}", api::namespace_of(event), pod_name));
    if (pod != nullptr)
      name = api::label_of(*pod, "notebook-name");
    else if (pod_name.ends_with("-0"))  // a pod that is gone
      name = pod_name.substr(0, pod_name.size() - 2);
  }
  if (name.empty()) return {};
  std::string key = base::format("{}/{}", api::namespace_of(event), name);
  return view.find(resources::kNotebooks, key) != nullptr ? key : std::string();
}

std::unique_ptr<Controller> make_notebook_event_controller() { return std::make_unique<NotebookEventController>(); }

}  // namespace controllers::notebooks
