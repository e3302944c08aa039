// Extender: another program, asked over HTTP, has a say.
//
// A cycle never waits for it. Until the answer to a question is known, the plugin lets the group be placed on trial,
// holds it (nothing of it is committed, docs/decisions/0009) and asks; the answer starts the next cycle. Other groups
// go on. An extender that hangs, lies or sends rubbish counts as an error, which extender.ignorable judges.
#include <map>
#include <optional>
#include <set>

#include "base/format.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/plugins/extender/extender_bodies.h"
#include "scheduler/search/node_evaluators.h"
#include "scheduler/session/session.h"

namespace scheduler {
namespace {

using api::Json;

struct Reply {
  enum class Kind : std::uint8_t { kUnknown, kError, kAnswer };
  Kind kind = Kind::kUnknown;
  Json body;
  std::string problem;

  bool unknown() const { return kind == Kind::kUnknown; }
  bool error() const { return kind == Kind::kError; }
};

class Extender final : public Plugin {
 public:
  void attach(PluginSetup& setup) override;
  void open(Session& session) override;
  void close(Session& session) override;

  bool manages(const Task& task) const {
    if (managed_.empty()) return true;
    for (const Part& part : model_->shape_of(task).request.parts) {
      if (part.amount > 0 && managed_.contains(model_->dimensions.name(part.dim))) return true;
    }
    return false;
  }

  struct Judgement {
    std::string problem;   // empty: the node takes the pod, as far as is known
    bool curable = false;  // code 2, Unschedulable: evicting might help
  };
  // Filters and scorers may outlive the session they were made in, so whether it was opened well is looked at here.
  Judgement judge(const Task& task, std::uint32_t n) {
    if (!asks("predicate")) return {};
    Json body = Json::object({{"task", extender_task(*model_, task)}, {"node", extender_node(*model_, NodeId{n})}});
    const Reply reply = ask(verbs_["predicate"], std::move(body));
    if (reply.unknown()) {
      hold(task);
      return {};
    }
    if (reply.error()) return {ignorable_ ? "" : reply.problem, false};
    return {reply.body["status"].str(), reply.body["code"].as_int() == 2};
  }

  void add_scores(const Task& task, const NodeSet& candidates, std::vector<double>& totals) {
    if (!asks("prioritize")) return;
    std::vector<Json> nodes;
    candidates.for_each([&](std::uint32_t n) { nodes.push_back(extender_node(*model_, NodeId{n})); });
    Json body = Json::object({{"task", extender_task(*model_, task)}, {"nodes", Json::array(std::move(nodes))}});
    const Reply reply = ask(verbs_["prioritize"], std::move(body));
    unscored_.erase(task.id.index);
    if (reply.unknown()) return hold(task);
    const std::string problem = reply.error() ? reply.problem : reply.body["errorMessage"].str();
    if (!problem.empty()) {
      if (!ignorable_) unscored_[task.id.index] = problem;
      return;
    }
    candidates.for_each([&](std::uint32_t n) {
      const Json& score = reply.body["nodeScore"][model_->nodes[NodeId{n}].name];
      if (score.is_number()) totals[n] += score.as_double();
    });
  }

 private:
  std::string url_of(const std::string& verb) const { return prefix_ + "/" + verb; }

  Reply ask(const std::string& verb, Json body) {
    const ExternalAnswer* answer = model_->outside.ask({url_of(verb), body.dump(), timeout_});
    if (answer == nullptr) return {};
    if (!answer->ok) return {Reply::Kind::kError, {}, base::format("extender {}: {}", verb, answer->text)};
    auto parsed = api::parse_json(answer->text);
    if (!parsed.ok() || !parsed->is_object())
      return {Reply::Kind::kError, {}, base::format("extender {}: the answer is not a JSON object", verb)};
    return {Reply::Kind::kAnswer, *std::move(parsed), ""};
  }

  void hold(const Task& task) {
    if (task.job.is_set()) held_.insert(task.job.index);
  }

  // The verb, where it is set and the session was opened well.
  bool asks(const std::string& verb) const { return open_ && verbs_.contains(verb); }

  Victims victims(const std::string& verb, const Task& evictor, const std::vector<TaskId>& candidates);
  Refusal placed(const Task& task);
  void settle_allocations();
  Vote enqueueable(const Job& job);
  bool overused(const Queue& queue);
  bool ready(const Job& job);
  void attach_points(PluginSetup& setup);

  struct Allocation {
    std::string uid;
    std::string node;
    auto operator<=>(const Allocation&) const = default;
  };

  Model* model_ = nullptr;
  std::string prefix_;
  base::Duration timeout_ = base::seconds(1);
  bool ignorable_ = false;
  std::set<std::string> managed_;
  std::map<std::string, std::string> verbs_;  // by what they are asked for
  bool open_ = true;
  std::set<std::uint32_t> held_;                      // jobs that wait for answers
  std::map<std::uint32_t, std::string> unscored_;     // tasks that cannot be scored, and why
  std::map<Allocation, ExternalQuestion> allocated_;  // what the extender has agreed to
  std::set<std::uint32_t> evicted_;                   // tasks, in this cycle
};

class ExtenderFilter final : public NodeFilter {
 public:
  ExtenderFilter(Extender& extender, const Model& model, TaskId task)
      : extender_(extender), model_(model), task_(task) {}
  Reach reach() const override { return Reach::kCluster; }
  void narrow(NodeSet& nodes, Strictness strictness, FitErrors* errors) override {
    NodeSet bad = nodes, unresolvable = nodes;
    unresolvable.clear();
    nodes.for_each([&](std::uint32_t n) {
      const Extender::Judgement judgement = extender_.judge(model_.task(task_), n);
      if (judgement.problem.empty()) return bad.remove(n);
      if (errors != nullptr) errors->add(judgement.problem, 1);
      if (!judgement.curable) unresolvable.add(n);
    });
    if (errors != nullptr) errors->add_unresolvable(unresolvable);
    nodes.subtract(strictness == Strictness::kPlace ? bad : unresolvable);
  }
  bool fits(std::uint32_t n) override { return extender_.judge(model_.task(task_), n).problem.empty(); }

 private:
  Extender& extender_;
  const Model& model_;
  TaskId task_;
};

class ExtenderScorer final : public NodeScorer {
 public:
  ExtenderScorer(Extender& extender, const Model& model, TaskId task)
      : extender_(extender), model_(model), task_(task) {}
  Reach reach() const override { return Reach::kCluster; }
  Normalise normalise() const override { return Normalise::kWhole; }
  void add_scores(const NodeSet& candidates, std::vector<double>& totals) override {
    if (candidates.count() > 1) extender_.add_scores(model_.task(task_), candidates, totals);
  }

 private:
  Extender& extender_;
  const Model& model_;
  TaskId task_;
};

void Extender::attach(PluginSetup& setup) {
  model_ = &setup.model();
  const Arguments& arguments = setup.arguments();
  prefix_ = arguments.get_string("extender.urlPrefix", "");
  while (prefix_.ends_with('/')) prefix_.pop_back();
  const std::string timeout = arguments.get_string("extender.httpTimeout", "1s");
  if (const auto span = base::parse_go_duration(timeout); span && span->ns > 0)
    timeout_ = std::min(*span, base::seconds(60));
  else
    arguments.warn(base::format("extender.httpTimeout: {} is not a positive duration; 1s is used", timeout));
  ignorable_ = arguments.get_bool("extender.ignorable", false);
  const Json managed = arguments.get_list("extender.managedResources");
  for (const Json& name : managed.items()) managed_.insert(name.str());
  const std::pair<std::string_view, std::string_view> kVerbs[] = {
      {"onSessionOpen", "extender.onSessionOpenVerb"}, {"onSessionClose", "extender.onSessionCloseVerb"},
      {"predicate", "extender.predicateVerb"},         {"prioritize", "extender.prioritizeVerb"},
      {"preemptable", "extender.preemptableVerb"},     {"reclaimable", "extender.reclaimableVerb"},
      {"queueOverused", "extender.queueOverusedVerb"}, {"jobEnqueueable", "extender.jobEnqueueableVerb"},
      {"jobEnqueued", "extender.jobEnqueuedVerb"},     {"jobReady", "extender.jobReadyVerb"},
      {"allocateFunc", "extender.allocateFuncVerb"},   {"deallocateFunc", "extender.deallocateFuncVerb"}};
  for (const auto& [what, key] : kVerbs) {
    const std::string verb = arguments.get_string(key, "");
    if (!verb.empty()) verbs_.emplace(what, verb);
  }
  if (prefix_.empty()) {
    if (!verbs_.empty()) arguments.warn("extender.urlPrefix is missing; nothing is asked");
    verbs_.clear();
    return;
  }
  setup.depends_on_time();  // what waits is asked again
  attach_points(setup);
}

void Extender::attach_points(PluginSetup& setup) {
  const auto has = [&](const char* verb) { return verbs_.contains(verb); };
  const auto own_class = [this](const Task& task) -> std::uint32_t { return manages(task) ? task.id.index + 1 : 0; };
  if (has("predicate") || has("prioritize")) setup.on<ClassKey>(own_class);
  if (has("predicate")) {
    setup.on<Predicate>([this](const Task& task) -> std::unique_ptr<NodeFilter> {
      if (!manages(task)) return nullptr;
      return std::make_unique<ExtenderFilter>(*this, *model_, task.id);
    });
  }
  if (has("prioritize")) {
    setup.on<NodeOrder>([this](const Task& task) -> std::unique_ptr<NodeScorer> {
      if (!manages(task)) return nullptr;
      return std::make_unique<ExtenderScorer>(*this, *model_, task.id);
    });
  }
  if (has("preemptable")) {
    setup.on<Preemptable>(
        [this](const Task& task, const std::vector<TaskId>& list) { return victims("preemptable", task, list); });
  }
  if (has("reclaimable")) {
    setup.on<Reclaimable>(
        [this](const Task& task, const std::vector<TaskId>& list) { return victims("reclaimable", task, list); });
  }
  if (has("queueOverused"))
    setup.on<Overused>([this](const Queue& queue) { return asks("queueOverused") && overused(queue); });
  if (has("jobEnqueueable")) setup.on<JobEnqueueable>([this](const Job& job) { return enqueueable(job); });
  if (has("jobEnqueued")) {
    setup.on<JobEnqueued>([this](const Job& job) {
      if (asks("jobEnqueued"))
        model_->outside.notify(
            {url_of(verbs_["jobEnqueued"]), Json::object({{"job", extender_job(*model_, job)}}).dump(), timeout_});
    });
  }
  if (has("jobReady")) setup.on<JobReady>([this](const Job& job) { return !asks("jobReady") || ready(job); });
  setup.on<JobHeld>([this](const Job& job) { return held_.contains(job.id.index); });
  setup.on<TaskPlaced>([this](const Task& task) { return placed(task); });
  setup.on<TaskRemoved>([this](const Task& task) {
    if (!is_allocated_like(task.status) && task.status != TaskStatus::kPipelined) evicted_.insert(task.id.index);
  });
}

void Extender::open(Session& session) {
  held_.clear();
  unscored_.clear();
  evicted_.clear();
  open_ = true;
  const auto verb = verbs_.find("onSessionOpen");
  if (verb == verbs_.end()) return;
  // The session counts as opened well while the last answer that is known was good.
  const ExternalAnswer* last = model_->outside.last_notified(url_of(verb->second));
  open_ = last == nullptr || last->ok || ignorable_;
  model_->outside.notify({url_of(verb->second), extender_session(session.model()).dump(), timeout_});
}

void Extender::close(Session&) {
  settle_allocations();
  const auto verb = verbs_.find("onSessionClose");
  if (verb != verbs_.end()) model_->outside.notify({url_of(verb->second), "{}", timeout_});
}

Victims Extender::victims(const std::string& verb, const Task& evictor, const std::vector<TaskId>& candidates) {
  if (!asks(verb) || !manages(evictor)) return {{}, Vote::kAbstain};
  std::vector<Json> tasks;
  for (const TaskId id : candidates) tasks.push_back(extender_task(*model_, model_->task(id)));
  const Reply reply =
      ask(verbs_[verb],
          Json::object({{"evictor", extender_task(*model_, evictor)}, {"evictees", Json::array(std::move(tasks))}}));
  if (reply.unknown()) return hold(evictor), Victims{{}, Vote::kReject};  // nobody goes before the answer
  if (reply.error()) return {{}, ignorable_ ? Vote::kPermit : Vote::kReject};
  std::set<std::string> chosen;
  for (const Json& one : reply.body["victims"].items()) chosen.insert(one["UID"].str());
  Victims out;
  out.vote = reply.body["status"].as_int() < 0    ? Vote::kReject
             : reply.body["status"].as_int() == 0 ? Vote::kAbstain
                                                  : Vote::kPermit;
  for (const TaskId id : candidates) {  // whoever else is named was not offered
    if (chosen.contains(model_->text(id).uid.str())) out.tasks.push_back(id);
  }
  return out;
}

Vote Extender::enqueueable(const Job& job) {
  if (!asks("jobEnqueueable")) return Vote::kAbstain;
  const Reply reply = ask(verbs_["jobEnqueueable"], Json::object({{"job", extender_job(*model_, job)}}));
  if (reply.unknown()) return Vote::kReject;  // admitted by a later cycle, once the answer is known
  if (reply.error()) return ignorable_ ? Vote::kPermit : Vote::kReject;
  const std::int64_t status = reply.body["status"].as_int();
  return status > 0 ? Vote::kPermit : status < 0 ? Vote::kReject : Vote::kAbstain;
}

bool Extender::overused(const Queue& queue) {
  const Reply reply = ask(verbs_["queueOverused"], Json::object({{"queue", extender_queue(*model_, queue)}}));
  if (reply.unknown()) return true;  // the queue waits for this answer
  if (reply.error()) return !ignorable_;
  return reply.body["overused"].as_bool();
}

bool Extender::ready(const Job& job) {
  const Reply reply = ask(verbs_["jobReady"], Json::object({{"job", extender_job(*model_, job)}}));
  if (reply.unknown()) {
    held_.insert(job.id.index);
    return true;
  }
  if (reply.error()) return !ignorable_;
  return reply.body["status"].as_bool();
}

Refusal Extender::placed(const Task& task) {
  if (const auto problem = unscored_.find(task.id.index); problem != unscored_.end())
    return {"Extender", problem->second};
  evicted_.erase(task.id.index);
  const bool is_new = task.status == TaskStatus::kAllocated || task.status == TaskStatus::kPipelined;
  if (!is_new || !asks("allocateFunc") || !manages(task)) return {};
  const Allocation key{model_->text(task.id).uid.str(), model_->nodes[task.node].name};
  if (allocated_.contains(key)) return {};
  const Json body = Json::object({{"task", extender_task(*model_, task)}});
  const Reply reply = ask(verbs_["allocateFunc"], body);
  if (reply.unknown()) return hold(task), Refusal{};
  if (reply.error()) return ignorable_ ? Refusal{} : Refusal{"Extender", reply.problem};
  if (std::string problem = reply.body["errorMessage"].str(); !problem.empty()) return {"Extender", std::move(problem)};
  allocated_.emplace(key, ExternalQuestion{url_of(verbs_["allocateFunc"]), body.dump(), timeout_});
  return {};
}

// Allocations that the extender agreed to and that did not come about, and evicted ones, are taken back.
void Extender::settle_allocations() {
  const auto take_back = [&](const std::string& body) {
    if (asks("deallocateFunc")) model_->outside.notify({url_of(verbs_["deallocateFunc"]), body, timeout_});
  };
  for (const std::uint32_t id : evicted_) {
    const Task& task = model_->task(TaskId{id});
    if (is_releasing(task.status) && manages(task))
      take_back(Json::object({{"task", extender_task(*model_, task)}}).dump());
  }
  if (allocated_.empty()) return;
  std::map<std::string, const Task*> tasks;
  for (std::uint32_t i = 0; i < model_->task_capacity(); ++i) {
    const Task& task = model_->task(TaskId{i});
    if (task.in_use && task.node.is_set()) tasks.emplace(model_->text(task.id).uid.str(), &task);
  }
  for (auto at = allocated_.begin(); at != allocated_.end();) {
    const auto found = tasks.find(at->first.uid);
    const bool there = found != tasks.end() && model_->nodes[found->second->node].name == at->first.node;
    const TaskStatus status = there ? found->second->status : TaskStatus::kPending;
    if (there && (status == TaskStatus::kAllocated || status == TaskStatus::kPipelined)) {
      ++at;  // not committed yet: the next cycle may place it there again
      continue;
    }
    if (!there) {
      take_back(at->second.body);
      model_->outside.forget(at->second);
    }
    at = allocated_.erase(at);
  }
}

}  // namespace

std::unique_ptr<Plugin> make_extender() { return std::make_unique<Extender>(); }

}  // namespace scheduler
