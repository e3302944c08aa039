// The queue's state machine.
//
//   Open --CloseQueue--> Closing --its last group goes--> Closed --OpenQueue--> Open
//
// A queue that closes takes its children along and marks them, so that opening it again opens just those.
#include "controllers/queue/step.h"

#include "api/meta/resource.h"
#include "base/format.h"
#include "controllers/framework/counts.h"

namespace controllers::queue {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::string_view kManager = "queue-controller";

std::string state_of(const Json& queue) { return queue["status"]["state"].str(); }
bool is_closed(const Json& queue) { return state_of(queue) == "Closed" || state_of(queue) == "Closing"; }

void set_parent(const Json& queue, Plan& plan) {
  plan.patch(resources::kQueues, queue, client::PatchType::kJson,
             Json::array({Json::object({{"op", "add"}, {"path", "/spec/parent"}, {"value", "root"}})}));
}

void mark(const Json& queue, std::string_view value, Plan& plan) {
  if (api::annotation_of(queue, kClosedByParent) == value) return;
  Json operation;
  if (queue["metadata"]["annotations"].empty())
    operation = Json::object(
        {{"op", "add"}, {"path", "/metadata/annotations"}, {"value", Json::object({{kClosedByParent, value}})}});
  else
    operation =
        Json::object({{"op", "add"}, {"path", "/metadata/annotations/volcano.sh~1closed-by-parent"}, {"value", value}});
  plan.patch(resources::kQueues, queue, client::PatchType::kJson, Json::array({std::move(operation)}));
}

// The state and the counters of groups; a counter of none is left out, and applying without it removes it.
void set_state(const Observed& seen, std::string_view state, const Turn& turn, Plan& plan) {
  const Json& queue = *seen.queue;
  Json status = Json::object({{"state", state}});
  const bool other_state = state_of(queue) != state;
  bool other_counts = false;
  for (const auto& [field, phase] : kCounters) {
    const auto found = seen.by_phase.find(phase);
    const std::int64_t count = found == seen.by_phase.end() ? 0 : fit_count(found->second);
    if (count > 0) status.set(field, count);
    other_counts = other_counts || queue["status"][field].as_int() != count;
  }
  if (!other_state && !other_counts) return;
  if (!other_state && turn.counts_wait > base::Duration{}) return plan.requeue_after(turn.counts_wait);
  Action& write = plan.apply_status(resources::kQueues, queue, std::move(status), std::string(kManager));
  if (!other_state) write.urgency = client::Urgency::kCounts;
}

bool is_root(const Json& queue) { return api::name_of(queue) == "root"; }

void sync(const Observed& seen, std::string_view state, const Turn& turn, Decision& decision) {
  const Json& queue = *seen.queue;
  Plan& plan = decision.plan;
  const std::string parent = queue["spec"]["parent"].str();
  if (!is_root(queue) && parent.empty()) set_parent(queue, plan);
  plan.begin_stage();
  set_state(seen, state, turn, plan);
  if (is_root(queue)) return;
  const std::string parent_name = parent.empty() ? "root" : parent;
  if (!seen.parent) {
    // `root` is made by the scheduler at its start; everything below it can wait for that.
    if (parent_name != "root")
      plan.fail(base::make_error(base::Code::kInvalid,
                                 base::format("queue.scheduling.volcano.sh \"{}\" not found", parent_name)));
    return;
  }
  const bool closed_now = state == "Closed" || state == "Closing";
  if (is_closed(*seen.parent) && !closed_now) {
    plan.begin_stage();
    mark(queue, "true", plan);
    decision.follow.emplace_back(std::string(api::name_of(queue)), "CloseQueue");
  } else if (state_of(*seen.parent) == "Open" && closed_now && api::annotation_of(queue, kClosedByParent) == "true") {
    decision.follow.emplace_back(std::string(api::name_of(queue)), "OpenQueue");
  }
}

void open(const Observed& seen, const Turn& turn, Decision& decision) {
  const Json& queue = *seen.queue;
  Plan& plan = decision.plan;
  const std::string before = state_of(queue);
  if (before == "Open") return;
  const std::string parent = queue["spec"]["parent"].str();
  if (!parent.empty() && parent != "root" && seen.parent && is_closed(*seen.parent)) {
    plan.fail(base::make_error(
        base::Code::kInvalid,
        base::format("Failed to open queue {} because its parent queue {} is closing or closed. Open the parent queue "
                     "first.",
                     api::name_of(queue), parent)));
    return;
  }
  for (const Json* child : seen.children)
    if (api::annotation_of(*child, kClosedByParent) == "true")
      decision.follow.emplace_back(std::string(api::name_of(*child)), "OpenQueue");
  // The mark goes first: a parent that closes meanwhile believes the mark of a queue that is open.
  mark(queue, "false", plan);
  plan.begin_stage("OpenQueue", base::format("Update queue status from {} to Open failed for {{}}", before));
  set_state(seen, "Open", turn, plan);
}

void close(const Observed& seen, std::string_view state, const Turn& turn, Decision& decision) {
  const Json& queue = *seen.queue;
  Plan& plan = decision.plan;
  if (is_root(queue)) {
    // COMPAT(close-root): refused, and said so.
    plan.event(queue, "Warning", "CloseQueue", "Close queue failed for queue root can not be closed");
    return;
  }
  for (const Json* child : seen.children) {
    if (is_closed(*child)) continue;
    mark(*child, "true", plan);
    decision.follow.emplace_back(std::string(api::name_of(*child)), "CloseQueue");
  }
  plan.begin_stage("CloseQueue", "Close queue failed for {}");
  set_state(seen, state, turn, plan);
  plan.begin_stage();
  plan.event(queue, "Normal", "CloseQueue", "Close queue succeed");
}

}  // namespace

Decision step(const Observed& seen, std::string_view action, const Turn& turn) {
  Decision decision;
  decision.plan.set_subject(*seen.queue);
  const std::string state = state_of(*seen.queue);
  const std::string_view drained = seen.group_count == 0 ? "Closed" : "Closing";
  const bool can_close = state.empty() || state == "Open" || state == "Unknown";
  if (action == "OpenQueue" && !(state.empty() || state == "Open"))
    open(seen, turn, decision);
  else if (action == "CloseQueue" && can_close)
    close(seen, drained, turn, decision);
  else if (state == "Closing")
    sync(seen, drained, turn, decision);
  else
    sync(seen, state.empty() ? "Open" : state, turn, decision);
  return decision;
}

}  // namespace controllers::queue
