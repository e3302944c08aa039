// Which node does each pod get that stands for itself?
#include "scheduler/actions/placer.h"
#include "scheduler/framework/action.h"

namespace scheduler {
namespace {

constexpr std::int64_t kCandidates = 3;

// In the words of whom it stands for: people and alerts search for what Kubernetes' scheduler says.
std::string message_for(std::string_view scheduler_name, const FitErrors& errors) {
  constexpr std::string_view kOurs = " nodes are unavailable", kKubernetes = " nodes are available";
  constexpr std::string_view kNoNode = "0/0 nodes are unavailable";
  std::string text = errors.text();
  if (scheduler_name == "default-scheduler" && text == kNoNode) return "no nodes available to schedule pods";
  const std::size_t at = scheduler_name == "default-scheduler" ? text.find(kOurs) : std::string::npos;
  if (at != std::string::npos) text.replace(at, kOurs.size(), kKubernetes);
  return text;
}

class AllocateSinglePods final : public Action {
 public:
  void configure(const Arguments& arguments) override {
    Action::configure(arguments);
    candidates_ = arguments.get_int("candidateNodeCount", kCandidates);
    if (candidates_ > 0) return;
    arguments.warn("candidateNodeCount must be above 0; 3 is used");
    candidates_ = kCandidates;
  }

  void run(Session& session) override {
    for (const TaskId id : session.input().single_pods) {
      FitErrors errors;
      const Task& task = session.model().task(id);
      const bool has_node = place(session, task, errors);
      if (!has_node) session.statuses().report_pod(id, message_for(session.input().scheduler_name, errors));
      session.report().single_pods.push_back({id, has_node});
    }
  }

 private:
  bool place(Session& session, const Task& task, FitErrors& errors) const {
    const Model& model = session.model();
    if (Refusal refusal = session.ask<PrePredicate>(task)) {
      errors.refuse_pod(refusal, model.nodes.known_count());
      return false;
    }
    const auto nominated = Placer(session).nominated(task, nullptr);
    if (nominated && !nominated->future && is_bound(session, task, nominated->node)) return true;
    const auto best = session.search().find_now(task, errors);
    if (!best) return false;
    if (is_bound(session, task, *best)) return true;
    // The node fits, and what the pod asks of it besides room (a volume, a device) cannot be reserved.
    std::int64_t tries = 1;
    for (const NodeId node : session.search().ranked_now(task)) {
      if (node == *best) continue;
      if (++tries > candidates_) break;
      if (is_bound(session, task, node)) return true;
    }
    errors.set_text("volumes or devices of the pod could not be reserved on any of the best nodes");
    return false;
  }

  static bool is_bound(Session& session, const Task& task, NodeId node) {
    const Journal::Mark mark = session.journal().mark();
    if (!session.journal().allocate(task.id, node)) return false;
    session.journal().commit(mark);
    return true;
  }

  std::int64_t candidates_ = kCandidates;
};

}  // namespace

std::unique_ptr<Action> make_allocate_single_pods() { return std::make_unique<AllocateSinglePods>(); }

}  // namespace scheduler
