// One look at a JobFlow: which nodes can start, and what its status says.
#include "controllers/jobflow/controller.h"

#include <algorithm>
#include <map>
#include <set>

#include "api/json/work.h"
#include "api/meta/resource.h"
#include "base/format.h"
#include "controllers/framework/execution.h"
#include "controllers/framework/ongoing_states.h"
#include "controllers/framework/pauses.h"
#include "controllers/jobflow/flow.h"
#include "controllers/jobflow/make_job.h"
#include "controllers/jobflow/probes.h"
#include "controllers/jobflow/status.h"

namespace controllers::jobflow {

using api::Json;
namespace resources = api::resources;

namespace {

// The status of a Job tells when a probe waits for its pods; this is for what it does not tell, such as an address.
constexpr base::Duration kPodsPause = base::seconds(10);
// All controllers wait while a flow is looked at: what would take longer to patch than this (api/json/work.h) goes on
// after a pause, or when the first Jobs are there.
constexpr std::uint64_t kPatchStepsOfLook = std::uint64_t{4} << 20;
constexpr base::Duration kPatchPause = base::seconds(10);
// A flow without Jobs has its first status after this.
constexpr base::Duration kFirstStatus = base::seconds(1);

Keys owner_flow(const Json& job) {
  const Json& owner = api::controller_of(job);
  if (owner["kind"].as_string() != "JobFlow" || !owner["apiVersion"].as_string().starts_with("flow.volcano.sh/"))
    return {};
  return {base::format("{}/{}", api::namespace_of(job), owner["name"].as_string())};
}

// The memory of a flow from one look to the next; after a restart it is found out again.
struct Memory {
  std::string uid = {};
  base::Time first_seen = {};
  std::set<std::string> warned = {};
  std::map<std::string, std::string> refused = {};  // by Job: why it could not be made
  std::map<std::string, Probing> probing = {};      // by node
};

// The state of a plan under way.
struct Pending {
  Memory memory;
  base::Time now = {};
  std::vector<std::pair<std::string, std::string>> asked = {};  // node and question, in order
  std::string ns = {};
  bool succeeded = false, failed = false;  // the flow, in this plan
};

class JobFlowStep {
 public:
  JobFlowStep(const View& view, const Json& flow, Jobs jobs, Memory memory, const Turn& turn)
      : view_(view),
        flow_(flow),
        before_(flow["status"]),
        jobs_(std::move(jobs)),
        turn_(turn),
        nodes_(read_nodes(flow)),
        reported_(std::move(memory.warned)) {
    pending_.memory = std::move(memory);
    pending_.now = turn.now;
    pending_.ns = std::string(api::namespace_of(flow));
    plan_.set_subject(flow);
  }

  void take() {
    const std::string phase = before_.json["state"]["phase"].str();
    if (phase == "Succeed" && flow_["spec"]["jobRetainPolicy"].as_string() == "delete") {
      for (const auto& [name, job] : jobs_)
        if (!api::is_deleting(*job)) plan_.remove(resources::kJobs, *job);
      return;
    }
    const std::string next = next_phase(before_, nodes_, jobs_);
    write_status(phase, next);
    plan_.begin_stage();
    // COMPAT(jobflow-failed)
    if (next != "Failed" && next != "Terminating")
      for (const Node& node : nodes_) start(node);
    ask();
    pending_.memory.warned = reported_.all();
    std::erase_if(pending_.memory.probing, [this](const auto& one) { return !waiting_.contains(one.first); });
  }

  Plan& plan() { return plan_; }
  Pending& pending() { return pending_; }

 private:
  // COMPAT(jobflow-troubles)
  void warn(const std::string& why) {
    if (reported_.is_new(why)) plan_.event(flow_, "Warning", "SyncJobFlow", "SyncJobFlow JobFlow failed for " + why);
  }

  // COMPAT(jobflow-first-status): who creates a flow may have something to add to it.
  bool is_too_early() {
    if (!before_.json.empty() || !jobs_.empty()) return false;
    const base::Duration left = pause_left(pending_.memory.first_seen + kFirstStatus, turn_.now, kFirstStatus);
    if (left > base::Duration{}) plan_.requeue_after(left);
    return left > base::Duration{};
  }

  void write_status(const std::string& phase, const std::string& next) {
    Json status = make_status(before_, nodes_, jobs_, next, turn_.now);
    if (status == before_.json || is_too_early()) return;
    const bool counts_only = !before_.json.is_null() && differ_in_counts_only(status, before_.json);
    if (counts_only && turn_.counts_wait > base::Duration{}) return plan_.requeue_after(turn_.counts_wait);
    pending_.succeeded = next == "Succeed" && phase != next;
    pending_.failed = next == "Failed" && phase != next;
    Json object = flow_;
    object.set("status", std::move(status));
    Action& write = plan_.set_status(resources::kJobFlows, std::move(object));
    if (counts_only) write.urgency = client::Urgency::kCounts;
  }

  void start(const Node& node) {
    if (jobs_.contains(node.job) || is_completed(before_, jobs_, node.job)) return;
    if (!node.impossible.empty()) return warn(node.impossible);
    if (!is_ready(node)) return;
    const std::string ns = pending_.ns;
    if (view_.find(resources::kJobs, base::format("{}/{}", ns, node.job)))
      return warn(base::format("job {}/{} exists and does not belong to the flow", ns, node.job));
    const Json* job_template = view_.find(resources::kJobTemplates, base::format("{}/{}", ns, node.name));
    if (!job_template) return warn(base::format("jobtemplate.flow.volcano.sh \"{}\" not found", node.name));
    if (patch_steps_ > kPatchStepsOfLook) return plan_.requeue_after(kPatchPause);
    std::vector<std::string> left_out;
    const std::uint64_t begun = api::work_steps;
    auto job = make_job(flow_, node, *job_template, left_out);
    patch_steps_ += api::work_steps - begun;
    if (!job.ok()) return warn(base::format("patch of flow {}: {}", node.name, job.error().message));
    // COMPAT(jobflow-long-labels)
    for (const std::string& label : left_out)
      warn(base::format("job {} goes without the label {}, which is longer than 63 characters", node.job, label));
    if (const auto refused = pending_.memory.refused.find(node.job); refused != pending_.memory.refused.end())
      warn(refused->second);
    Action& action = plan_.create(resources::kJobs, *std::move(job));
    action.stops_nothing = true;
    action.success_reason = "Created";
    action.success_text = base::format("create a job named {}!", node.job);
  }

  bool is_ready(const Node& node) {
    std::vector<const Json*> waiting;
    for (const std::string& name : node.targets) {
      const std::string job = base::format("{}-{}", api::name_of(flow_), name);
      if (is_completed(before_, jobs_, job)) continue;
      const auto found = jobs_.find(job);
      if (found == jobs_.end() || node.probe.is_null()) return false;
      waiting.push_back(found->second);
    }
    if (waiting.empty()) return true;
    Probing& probing = pending_.memory.probing[node.name];
    waiting_.insert(node.name);
    const Verdict verdict = judge(view_, node.probe, waiting, probing);
    if (!verdict.impossible.empty()) warn(base::format("flow {}: {}", node.name, verdict.impossible));
    if (verdict.passed) return true;
    if (verdict.questions.empty()) {
      plan_.requeue_after(kPodsPause);
    } else if (const base::Duration left = pause_left(probing.next, turn_.now, probing.pause);
               left > base::Duration{}) {
      plan_.requeue_after(left);
    } else {
      for (const Question& one : verdict.questions) questions_.emplace_back(node.name, one);
    }
    return false;
  }

  // Last, so that nothing waits for an address that does not answer.
  void ask() {
    if (questions_.empty()) return;
    plan_.begin_stage();
    for (auto& [node, question] : questions_) {
      pending_.asked.emplace_back(node, question.key);
      plan_.ask(std::move(question.probe));
    }
    plan_.requeue_after({});
  }

  const View& view_;
  const Json& flow_;
  const StatusBefore before_;
  const Jobs jobs_;
  const Turn& turn_;
  const std::vector<Node> nodes_;
  OngoingStates reported_;
  Plan plan_;
  Pending pending_;
  std::vector<std::pair<std::string, Question>> questions_;  // node and question
  std::uint64_t patch_steps_ = 0;                            // of the Jobs that were made
  std::set<std::string> waiting_;                            // nodes whose probe was looked at
};

class JobFlowController final : public Controller {
 public:
  explicit JobFlowController(base::Metrics* metrics) : metrics_(metrics) {}

  std::string_view name() const override { return "jobflow-controller"; }

  std::vector<Write> writes() const override {
    return {{resources::kJobs, "create delete"}, {resources::kJobFlows, "update", "status"}};
  }
  std::vector<Wake> wakes_on() const override {
    const auto keys_of = [](const std::vector<const Json*>& flows) {
      Keys keys;
      for (const Json* flow : flows) keys.push_back(api::key_of(*flow));
      return keys;
    };
    return {{.resource = resources::kJobFlows,
             .keys = [](const View&, const Json& flow) { return Keys{api::key_of(flow)}; },
             .may_be_absent = true},
            {.resource = resources::kJobTemplates,
             .keys =
                 [keys_of](const View& view, const Json& one) {
                   return keys_of(view.by_index(resources::kJobFlows, "template", api::key_of(one)));
                 },
             .may_be_absent = true},
            {resources::kJobs,
             [keys_of](const View& view, const Json& job) {
               // Also those that wait for the name.
               Keys keys = keys_of(view.by_index(resources::kJobFlows, "job", api::key_of(job)));
               for (std::string& owner : owner_flow(job)) keys.push_back(std::move(owner));
               return keys;
             }},
            {.resource = resources::kPods,  // looked at where probes are; their Job tells when they change
             .keys = [](const View&, const Json&) { return Keys{}; },
             .matters = [](const Json*, const Json*) { return false; }}};
  }

  std::vector<IndexBy> indexes() const override {
    return {{resources::kJobs, "jobflow", owner_flow},
            {resources::kJobFlows, "template", template_keys},
            {resources::kJobFlows, "job", job_keys}};
  }

  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    pending_.erase(key);
    const Json* flow = view.find(resources::kJobFlows, key);
    if (!flow || api::is_deleting(*flow)) {
      memories_.erase(key);
      return {};
    }
    const std::string uid(api::uid_of(*flow));
    Jobs jobs;
    for (const Json* job : view.by_index(resources::kJobs, "jobflow", key))
      if (api::controller_of(*job)["uid"].as_string() == uid) jobs.emplace(api::name_of(*job), job);
    Memory memory;
    if (const auto known = memories_.find(key); known != memories_.end() && known->second.uid == uid)
      memory = known->second;
    memory.uid = uid;
    if (!memory.first_seen.is_set()) memory.first_seen = turn.now;
    JobFlowStep look(view, *flow, std::move(jobs), std::move(memory), turn);
    look.take();
    pending_[key] = std::move(look.pending());
    return std::move(look.plan());
  }

  void finished(const std::string& key, Ending ending) override {
    const auto found = pending_.find(key);
    if (found == pending_.end()) return;
    Pending pending = std::move(found->second);
    pending_.erase(found);
    Memory& memory = memories_[key] = std::move(pending.memory);
    memory.refused.clear();
    for (const Failure& failure : ending.failures)
      if (failure.kind == "Job" && !is_old_view(failure.error.code) && !is_outage(failure.error))
        memory.refused[failure.name] = failure.error.message;
    record(pending, ending.answers, memory);
    const bool written = std::ranges::all_of(ending.failures, [](const Failure& one) { return one.kind == "Job"; });
    if (metrics_ == nullptr || !written) return;
    if (pending.succeeded) metrics_->counter("volcano_jobflow_succeed_phase_count", {pending.ns}).add();
    if (pending.failed) metrics_->counter("volcano_jobflow_failed_phase_count", {pending.ns}).add();
  }

 private:
  // Questions that a failed plan did not come to are asked again.
  static void record(const Pending& pending, const std::vector<Answer>& answers, Memory& memory) {
    if (answers.size() != pending.asked.size()) return;
    std::map<std::string, std::pair<std::vector<std::string>, std::vector<bool>>> by_node;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      by_node[pending.asked[i].first].first.push_back(pending.asked[i].second);
      by_node[pending.asked[i].first].second.push_back(answers[i].is_success());
    }
    for (const auto& [node, answers] : by_node)
      record_answers(answers.first, answers.second, pending.now, memory.probing[node]);
  }

  base::Metrics* metrics_;
  std::map<std::string, Memory> memories_;
  std::map<std::string, Pending> pending_;  // of plans under way
};

}  // namespace

std::unique_ptr<Controller> make_jobflow_controller(base::Metrics* metrics) {
  return std::make_unique<JobFlowController>(metrics);
}

}  // namespace controllers::jobflow
