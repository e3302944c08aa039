// A turn: pods, claims and objects of resource templates first, then the status that tells of them, so that an end of
// the program between the two makes nothing twice: all names follow from the node.
#include "controllers/workflows/workflow.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "api/argo/v1alpha1/workflow.h"
#include "api/kinds.h"
#include "base/format.h"
#include "controllers/pipelines/report.h"
#include "controllers/pipelines/step_pod.h"
#include "controllers/workloads/pods.h"
#include "pipelines/argo/workflow_check.h"
#include "pipelines/argo/workflow_engine.h"
#include "pipelines/argo/workflow_retry.h"
#include "pipelines/launcher/sent_report.h"

namespace controllers::workflows {

using api::Json;
namespace argo = ::pipelines::argo;
namespace resources = api::resources;

namespace {

constexpr std::string_view kPhaseLabel = "workflows.argoproj.io/phase";
constexpr std::string_view kCompletedLabel = "workflows.argoproj.io/completed";

// Answers of the server that no view shows.
struct Answers {
  std::string uid;                                     // of the Workflow
  std::set<std::string> gone;                          // pods
  std::map<std::string, std::string> refused;          // pods that can never be made, and why
  std::map<std::string, argo::ManifestState> objects;  // of resource templates, by node
  std::vector<std::string> asked_pods, asked_objects;  // by the last plan's fetches, in their order
};

bool is_for_good(const base::Error& error) {
  return error.code == base::Code::kInvalid || error.code == base::Code::kBadRequest;
}

// The outputs of a pod, from the report in its termination message.
base::Result<argo::PodOutputs> outputs_in(const Json& pod, std::size_t files) {
  for (const Json& one : pod["status"]["containerStatuses"].items()) {
    if (one["name"].as_string() != "main") continue;
    TRY(pipelines::Report report,
        pipelines::read_report(::pipelines::report_text(pod, one["state"]["terminated"]["message"].as_string()),
                               files));
    return argo::PodOutputs{std::move(report.parameters), std::move(report.result)};
  }
  return base::make_error(base::Code::kInvalid, "the pod has no container called main");
}

bool has_volume(const std::vector<Json>& pods, std::string_view name) {
  return std::ranges::any_of(pods, [&](const Json& pod) {
    const auto volumes = pod["spec"]["volumes"].items();
    return std::ranges::any_of(volumes, [&](const Json& one) { return one["name"].as_string() == name; });
  });
}

Json status_patch(const Json& workflow, const argo::WorkflowDecision& decision) {
  Json patch = Json::object(), nodes = Json::object();
  const Json& before = workflow["status"];
  for (const Json::Member& one : decision.status.members())
    if (before[one.name()] != one.value) patch.set(one.name(), one.value);
  for (const auto& [id, node] : decision.nodes)
    if (Json now = to_json(node); before["nodes"][id] != now) nodes.set(id, std::move(now));
  if (decision.is_retried) {
    for (const Json::Member& one : before.members())
      if (one.name() != "nodes" && !decision.status.has(one.name())) patch.set(one.name(), Json());
    for (const Json::Member& one : before["nodes"].members())
      if (!decision.nodes.contains(std::string(one.name()))) nodes.set(one.name(), Json());
  }
  if (!nodes.empty()) patch.set("nodes", std::move(nodes));
  return patch;
}

class WorkflowController final : public Controller {
 public:
  explicit WorkflowController(const pipelines::Options& options) : options_(options) {}

  std::string_view name() const override { return kController; }
  std::string_view component() const override { return name(); }

  std::vector<Write> writes() const override {
    return {{resources::kWorkflows, "patch delete"},
            {resources::kPods, "create delete"},
            {resources::kPersistentVolumeClaims, "create delete"},
            {resources::kConfigMaps, "create"}};
  }
  std::vector<Wake> wakes_on() const override {
    return {{.resource = resources::kWorkflows,
             .keys = [](const View&, const Json& one) { return Keys{api::key_of(one)}; },
             .may_be_absent = true},
            {resources::kPods,
             [](const View&, const Json& pod) {
               const std::string workflow(api::label_of(pod, argo::kWorkflowLabel));
               if (workflow.empty()) return Keys{};
               return Keys{base::format("{}/{}", api::namespace_of(pod), workflow)};
             }},
            {workloads::kDeployments, [](const View&, const Json&) { return Keys{}; }}};
  }

  bool follows_definitions() const override { return true; }
  void kind_comes(const api::KindInfo& kind) override {
    defined_[{kind.resource.api_version(), kind.kind}] = kind.resource;
  }
  void kind_goes(const api::ResourceId& resource) override {
    std::erase_if(defined_, [&](const auto& one) { return one.second == resource; });
  }

  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    Plan plan;
    const Json* workflow = view.find(resources::kWorkflows, key);
    if (workflow == nullptr) answers_.erase(key);
    if (workflow == nullptr || api::is_deleting(*workflow) || has_argo(view)) return plan;
    plan.set_subject(*workflow);
    Answers& answers = answers_[key];
    if (answers.uid != api::uid_of(*workflow)) answers = {.uid = std::string(api::uid_of(*workflow))};
    answers.asked_pods.clear();
    answers.asked_objects.clear();
    api::FieldErrors problems;
    argo::check_workflow((*workflow)["spec"], problems);
    const argo::WorkflowDecision decision =
        problems.empty() ? argo::decide(look_at(view, *workflow, turn, answers)) : refusal(*workflow, problems, turn);
    if (decision.remove) {
      plan.remove(resources::kWorkflows, *workflow);
      return plan;
    }
    // Answers about the last attempt say nothing of the next one.
    if (decision.is_retried) answers = {.uid = answers.uid};
    write_objects(plan, *workflow, decision, answers);
    write_status(plan, *workflow, decision);
    if (decision.look_again) plan.requeue_after(*decision.look_again);
    if (!decision.lost_pods.empty()) plan.requeue_after({});
    return plan;
  }

  void finished(const std::string& key, Ending ending) override {
    const auto found = answers_.find(key);
    if (found == answers_.end()) return;
    Answers& answers = found->second;
    std::size_t at = 0;
    for (const std::string& pod : answers.asked_pods) {
      if (at < ending.fetched.size() && ending.fetched[at].is_null() && ending.succeeded) answers.gone.insert(pod);
      ++at;
    }
    for (const std::string& node : answers.asked_objects) {
      if (at >= ending.fetched.size()) break;
      argo::ManifestState& state = answers.objects[node];
      state.is_known = ending.succeeded || !ending.fetched[at].is_null();
      state.object = std::move(ending.fetched[at++]);
    }
    for (const RefusedAction& one : ending.refused) {
      if (one.fate.starts_with("pod:") && is_for_good(one.error))
        answers.refused[one.fate.substr(4)] = one.error.message;
      // A right that is missing is a mistake of the Workflow; a server that is away is not.
      const bool is_final = is_for_good(one.error) || one.error.code == base::Code::kForbidden ||
                            one.error.code == base::Code::kAlreadyExists || one.error.code == base::Code::kNotFound;
      if (one.fate.starts_with("object:") && is_final) answers.objects[one.fate.substr(7)].refusal = one.error.message;
    }
  }

 private:
  static bool has_argo(const View& view) {
    const auto all = view.all(workloads::kDeployments);
    // In a namespace of its own, so that nobody's Deployment stops the Workflows of others.
    return std::ranges::any_of(all, [](const Json* one) {
      const std::string_view ns = api::namespace_of(*one);
      return api::name_of(*one) == "workflow-controller" && (ns == "argo" || ns == "kubeflow");
    });
  }

  static argo::WorkflowDecision refusal(const Json& workflow, api::FieldErrors& problems, const Turn& turn) {
    argo::WorkflowDecision out;
    const Json& finished = workflow["status"]["finishedAt"];
    out.status = Json::object({{"phase", "Error"},
                               {"message", "invalid: " + problems.take_texts().front()},
                               {"finishedAt", finished.is_string() ? finished : Json(base::format_rfc3339(turn.now))}});
    return out;
  }

  argo::WorkflowLook look_at(const View& view, const Json& workflow, const Turn& turn, const Answers& answers) const {
    const std::string ns(api::namespace_of(workflow)), uid(api::uid_of(workflow));
    return {.workflow = workflow,
            .now = turn.now,
            .pod = [&view, ns, uid](const std::string& name) -> const Json* {
              const Json* pod = view.find(resources::kPods, base::format("{}/{}", ns, name));
              return pod != nullptr && api::controller_of(*pod)["uid"].as_string() == uid ? pod : nullptr;
            },
            .is_gone = [&answers](const std::string& name) { return answers.gone.contains(name); },
            .refusal =
                [&answers](const std::string& name) {
                  const auto found = answers.refused.find(name);
                  return found == answers.refused.end() ? std::string() : found->second;
                },
            .manifest =
                [&answers](const std::string& node) {
                  const auto found = answers.objects.find(node);
                  return found == answers.objects.end() ? argo::ManifestState{} : found->second;
                },
            .outputs = outputs_in,
            .launcher = std::string(api::name_of(pipelines::launcher_object(ns))),
            .artifacts = options_.claim,
            .scheduler_name = options_.scheduler,
            .report_bytes_max = options_.report_bytes_max,
            .report_address = options_.report_address};
  }

  void write_objects(Plan& plan, const Json& workflow, const argo::WorkflowDecision& decision, Answers& answers) {
    const std::string ns(api::namespace_of(workflow));
    plan.begin_stage("WorkflowObjectRefused", "{}");
    for (const Json& claim : decision.claims)
      plan.create(resources::kPersistentVolumeClaims, claim).existing_is_fine = true;
    for (const std::string& name : decision.spent_claims)
      // Its own alone: a status that a person wrote may name any.
      plan.remove_by_name(resources::kPersistentVolumeClaims, "PersistentVolumeClaim", ns, name).body =
          Json(api::uid_of(workflow));
    if (has_volume(decision.pods, argo::kLauncherVolume))
      plan.create(resources::kConfigMaps, pipelines::launcher_object(ns)).existing_is_fine = true;
    if (has_volume(decision.pods, argo::kArtifactsVolume))
      plan.create(resources::kPersistentVolumeClaims, pipelines::claim_object(ns, options_)).existing_is_fine = true;
    for (const Json& pod : decision.pods) {
      Action& action = plan.create(resources::kPods, pod);
      action.existing_is_fine = true;
      action.fate = base::format("pod:{}", api::name_of(pod));
    }
    for (const std::string& name : decision.ended_pods) plan.remove_by_name(resources::kPods, "Pod", ns, name);
    for (const std::string& name : decision.lost_pods) {
      plan.fetch(resources::kPods, "Pod", ns, name);
      answers.asked_pods.push_back(name);
    }
    for (const argo::ManifestAction& one : decision.manifests) write_manifest(plan, ns, one, answers);
  }

  void write_manifest(Plan& plan, const std::string& ns, const argo::ManifestAction& one, Answers& answers) {
    using Verb = argo::ManifestAction::Verb;
    const Json& object = one.manifest;
    const std::string kind = object["kind"].str();
    const auto resource = resource_of(object["apiVersion"].str(), kind);
    if (!resource) {
      answers.objects[one.node].refusal =
          base::format("no kind {:?} of {:?} is served", kind, object["apiVersion"].as_string());
      plan.requeue_after({});
      return;
    }
    const api::KindInfo* known = api::find_kind(*resource);
    const bool is_namespaced = known == nullptr || known->namespaced;
    const std::string where(is_namespaced ? api::namespace_of(object) : "");
    Action* action = nullptr;
    if (one.verb == Verb::kGet) {
      action = &plan.fetch(*resource, kind, where, api::name_of(object));
      answers.asked_objects.push_back(one.node);
    } else if (one.verb == Verb::kDelete) {
      action = &plan.remove_by_name(*resource, kind, where, api::name_of(object));
    } else if (one.verb == Verb::kCreate) {
      action = &plan.create(*resource, object);
      action->existing_is_fine = true;
    } else {
      const bool is_custom = known == nullptr || known->custom;
      const client::PatchType type = one.verb == Verb::kApply ? client::PatchType::kApply
                                     : is_custom              ? client::PatchType::kMerge
                                                              : client::PatchType::kStrategic;
      action = &plan.patch(*resource, object, type, object);
      action->field_manager = "workflow-controller";
    }
    action->account = base::format("{}:{}", ns, one.account);
    action->fate = "object:" + one.node;
  }

  std::optional<api::ResourceId> resource_of(const std::string& api_version, const std::string& kind) const {
    if (const api::KindInfo* info = api::find_kind_named(api_version, kind)) return info->resource;
    const auto found = defined_.find({api_version, kind});
    if (found == defined_.end()) return std::nullopt;
    return found->second;
  }

  static void write_status(Plan& plan, const Json& workflow, const argo::WorkflowDecision& decision) {
    Json status = status_patch(workflow, decision);
    if (status.empty() && !decision.is_retried) return;
    const std::string phase = decision.status["phase"].str();
    const bool is_over = decision.status.has("finishedAt");
    Json metadata = Json::object({{"resourceVersion", workflow["metadata"]["resourceVersion"]}});
    if (decision.is_retried) metadata.set("annotations", Json::object({{argo::kRetryAnnotation, Json()}}));
    if (status.has("phase") || decision.is_retried)
      metadata.set("labels", Json::object({{kPhaseLabel, phase}, {kCompletedLabel, is_over ? "true" : "false"}}));
    plan.begin_stage();
    plan.patch(resources::kWorkflows, workflow, client::PatchType::kMerge,
               Json::object({{"metadata", std::move(metadata)}, {"status", std::move(status)}}));
    if (workflow["status"]["phase"].as_string() == phase) return;
    plan.begin_stage();
    const std::string message = decision.status["message"].str();
    const bool failed = is_over && phase != "Succeeded";
    plan.event(workflow, failed ? "Warning" : "Normal", "Workflow" + phase,
               !failed ? is_over ? "Workflow completed" : "Workflow Running" : message);
  }

  const pipelines::Options options_;
  std::map<std::string, Answers> answers_;
  std::map<std::pair<std::string, std::string>, api::ResourceId> defined_;
};

}  // namespace

std::unique_ptr<Controller> make_workflow_controller(const pipelines::Options& options) {
  return std::make_unique<WorkflowController>(options);
}

}  // namespace controllers::workflows
