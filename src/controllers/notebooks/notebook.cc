// One look at a notebook: its objects first, then a restart that is asked for, then its status.
#include "controllers/notebooks/notebook.h"

#include <map>
#include <optional>
#include <utility>

#include "api/kubeflow/v1/notebook.h"
#include "base/format.h"
#include "controllers/framework/ongoing_states.h"
#include "controllers/notebooks/istio.h"
#include "controllers/notebooks/notebook_objects.h"
#include "controllers/notebooks/owned.h"
#include "controllers/notebooks/server.h"
#include "controllers/workloads/pods.h"

namespace controllers::notebooks {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::size_t kNameMax = 52;  // a StatefulSet's name and a hash are a label of its pods
constexpr std::string_view kRewrite = "notebooks.kubeflow.org/http-rewrite-uri";
constexpr std::string_view kHeaders = "notebooks.kubeflow.org/http-headers-request-set";
// The annotations that ask for a restart.
constexpr const char* kRestarts[] = {"notebooks.volcano.sh/restart", "notebooks.opendatahub.io/notebook-restart"};

// Known of a notebook from one look to the next.
struct Memory {
  std::set<std::string> reported;
  std::string uid;
  bool runs = false;
  bool creates = false;  // the plan that runs makes the StatefulSet
};

// The headers that the annotation names: an object of texts, or nothing.
Json headers_of(const Json& notebook) {
  const auto read = api::parse_json(api::annotation_of(notebook, kHeaders));
  if (!read.ok() || !read->is_object()) return Json::object();
  for (const Json::Member& header : read->members())
    if (!header.value.is_string()) return Json::object();
  return *read;
}

class NotebookStep {
 public:
  NotebookStep(const View& view, const Json& notebook, const Turn& turn, const Options& options, OwnedObjects& owned,
               Memory& memory)
      : view_(view),
        notebook_(notebook),
        turn_(turn),
        options_(options),
        owned_(owned),
        memory_(memory),
        reported_(memory.reported) {}

  Plan take(const std::optional<api::ResourceId>& virtual_services) {
    plan_.set_subject(notebook_);
    if (std::string problem = problem_of_name(api::name_of(notebook_), kNameMax); !problem.empty()) {
      refuse(std::move(problem));
    } else {
      if (options_.isolates)
        keep(resources::kNetworkPolicies, policy_of(notebook_, base::format("notebook-{}", api::name_of(notebook_)),
                                                    Json::object({{"notebook-name", api::name_of(notebook_)}})));
      const Json set = notebook_set(notebook_, options_);
      const OwnedObjects::Kept kept = keep(resources::kStatefulSets, set);
      memory_.creates = kept == OwnedObjects::Kept::kMade;
      if (kept == OwnedObjects::Kept::kTaken) {
        refuse(OwnedObjects::taken_text(set));
      } else {
        keep(resources::kServices, notebook_service(notebook_));
        if (virtual_services && options_.istio) route(*virtual_services);
        restart();
        report(notebook_status(notebook_, own_set(), own_pod(), turn_.now));
      }
    }
    memory_.reported = reported_.all();
    return std::move(plan_);
  }

 private:
  std::string key(std::string_view name) const { return base::format("{}/{}", api::namespace_of(notebook_), name); }

  OwnedObjects::Kept keep(const api::ResourceId& resource, const Json& wanted) {
    const OwnedObjects::Kept kept = owned_.keep(plan_, view_, notebook_, resource, wanted);
    if (kept == OwnedObjects::Kept::kTaken) warn("NameTaken", OwnedObjects::taken_text(wanted));
    return kept;
  }

  void warn(std::string_view reason, const std::string& text) {
    if (reported_.is_new(text)) plan_.event(notebook_, "Warning", reason, text);
  }

  void refuse(std::string why) {
    warn("Refused", why);
    const std::string now = base::format_rfc3339(turn_.now);
    Json condition = Json::object({{"type", "Refused"}, {"status", "True"}, {"reason", "Refused"}});
    condition.set("message", std::move(why));
    const Json& before = notebook_["status"]["conditions"][std::size_t{0}];
    for (const char* time : {"lastProbeTime", "lastTransitionTime"})
      condition.set(time, before["message"] == condition["message"] ? before[time] : Json(now));
    report(Json::object({{"conditions", Json::array({std::move(condition)})},
                         {"readyReplicas", 0},
                         {"containerState", Json::object()}}));
  }

  void route(const api::ResourceId& resource) {
    const std::string prefix = notebook_prefix(notebook_) + "/";
    const std::string_view rewrite = api::annotation_of(notebook_, kRewrite);
    const Route route{.name = base::format("notebook-{}-{}", api::namespace_of(notebook_), api::name_of(notebook_)),
                      .prefix = prefix,
                      .rewrite = rewrite.empty() ? prefix : std::string(rewrite),
                      .service = std::string(api::name_of(notebook_)),
                      .headers = headers_of(notebook_)};
    keep_stranger(plan_, view_, notebook_, resource, virtual_service(resource, notebook_, route, options_));
  }

  const Json* own_set() const {
    const Json* set = view_.find(resources::kStatefulSets, key(api::name_of(notebook_)));
    if (set == nullptr || api::controller_of(*set)["uid"].as_string() != api::uid_of(notebook_)) return nullptr;
    return set;
  }
  const Json* own_pod() const {
    const Json* set = own_set();
    const Json* pod = view_.find(resources::kPods, key(base::format("{}-0", api::name_of(notebook_))));
    if (set == nullptr || pod == nullptr || api::controller_of(*pod)["uid"].as_string() != api::uid_of(*set))
      return nullptr;
    return pod;
  }

  // The pod is made again by its StatefulSet; the annotation goes when the old one is on its way out.
  void restart() {
    Json gone = Json::object();
    for (const char* name : kRestarts)
      if (api::annotation_of(notebook_, name) == "true") gone.set(name, Json());
    if (gone.empty()) return;
    if (const Json* pod = own_pod(); pod != nullptr && !api::is_deleting(*pod)) {
      plan_.begin_stage();
      Action& action = plan_.remove(resources::kPods, *pod);
      action.success_reason = "Restarted";
      action.success_text = base::format("Pod {} is made again", api::name_of(*pod));
    }
    plan_.begin_stage();
    plan_.patch(resources::kNotebooks, notebook_, client::PatchType::kMerge,
                Json::object({{"metadata", Json::object({{"uid", api::uid_of(notebook_)}, {"annotations", gone}})}}));
  }

  void report(Json status) {
    memory_.runs = status["readyReplicas"].as_int() > 0;
    plan_.begin_stage();
    workloads::write_status(plan_, resources::kNotebooks, notebook_, std::move(status), turn_);
  }

  const View& view_;
  const Json& notebook_;
  const Turn& turn_;
  const Options& options_;
  OwnedObjects& owned_;
  Memory& memory_;
  OngoingStates reported_;
  Plan plan_;
};

class NotebookController final : public Controller {
 public:
  explicit NotebookController(Options options) : options_(std::move(options)) {}

  std::string_view name() const override { return "notebook-controller"; }
  std::string_view component() const override { return name(); }

  std::vector<Write> writes() const override {
    return with_server_writes({{resources::kNotebooks, "patch"},
                               {resources::kNotebooks, "update", "status"},
                               {resources::kPods, "delete"},
                               {resources::kStatefulSets, "create update"}},
                              options_);
  }
  std::vector<Wake> wakes_on() const override {
    const auto by_label = [](const View&, const Json& pod) {
      const std::string_view name = api::label_of(pod, "notebook-name");
      return name.empty() ? Keys{} : Keys{base::format("{}/{}", api::namespace_of(pod), name)};
    };
    std::vector<Wake> wakes = {{.resource = resources::kNotebooks,
                                .keys = [](const View&, const Json& one) { return Keys{api::key_of(one)}; },
                                .may_be_absent = true},
                               {resources::kStatefulSets, by_controller},
                               {resources::kServices, by_controller},
                               {resources::kPods, by_label}};
    if (options_.isolates) wakes.push_back({resources::kNetworkPolicies, by_controller});
    return wakes;
  }

  bool follows_definitions() const override { return true; }
  void kind_comes(const api::KindInfo& kind) override { virtual_services_.comes(kind); }
  void kind_goes(const api::ResourceId& resource) override { virtual_services_.goes(resource); }
  std::vector<Wake> wakes_on_kind(const api::ResourceId& resource) override {
    if (!virtual_services_.is(resource)) return {};
    return {{resource, by_controller}};
  }

  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    const Json* notebook = view.find(resources::kNotebooks, key);
    if (notebook == nullptr || api::is_deleting(*notebook)) {
      memories_.erase(key);
      count_running(key.substr(0, key.find('/')));
      return {};
    }
    Memory& memory = memories_[key];
    if (memory.uid != api::uid_of(*notebook)) memory = {.reported = {}, .uid = std::string(api::uid_of(*notebook))};
    Plan plan = NotebookStep(view, *notebook, turn, options_, owned_, memory).take(virtual_services_.resource());
    count_running(api::namespace_of(*notebook));
    return plan;
  }

  void finished(const std::string& key, Ending ending) override {
    const auto found = memories_.find(key);
    if (found == memories_.end() || !std::exchange(found->second.creates, false) || options_.metrics == nullptr) return;
    const std::string ns = key.substr(0, key.find('/'));
    options_.metrics->counter("notebook_create_total", {ns}).add();
    for (const Failure& failure : ending.failures)
      if (failure.kind == "StatefulSet") options_.metrics->counter("notebook_create_failed_total", {ns}).add();
  }

 private:
  static Keys by_controller(const View&, const Json& object) {
    const Json& owner = api::controller_of(object);
    if (owner["kind"].as_string() != "Notebook") return {};
    return {base::format("{}/{}", api::namespace_of(object), owner["name"].as_string())};
  }

  void count_running(std::string_view ns) const {
    if (options_.metrics == nullptr) return;
    const std::string first = base::format("{}/", ns);
    double running = 0;
    for (auto at = memories_.lower_bound(first); at != memories_.end() && at->first.starts_with(first); ++at)
      running += at->second.runs ? 1 : 0;
    options_.metrics->gauge("notebook_running", {std::string(ns)}).set(running);
  }

  Options options_;
  OwnedObjects owned_;
  KindOfStranger virtual_services_ = notebooks::virtual_services();
  std::map<std::string, Memory> memories_;
};

}  // namespace

std::unique_ptr<Controller> make_notebook_controller(Options options) {
  return std::make_unique<NotebookController>(std::move(options));
}

}  // namespace controllers::notebooks
