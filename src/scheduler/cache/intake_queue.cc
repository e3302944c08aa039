// API objects in, the model kept current: queues.
#include "scheduler/cache/intake_queue.h"

#include <cstdint>

#include "api/meta/resource.h"
#include "scheduler/cache/intake_fields.h"

namespace scheduler {
namespace {

QueueState queue_state_from(std::string_view text) {
  if (text == "Closed") return QueueState::kClosed;
  if (text == "Closing") return QueueState::kClosing;
  if (text == "Unknown") return QueueState::kUnknown;
  return QueueState::kOpen;
}

void touch_jobs_of(Model& model, QueueId queue) {
  std::vector<JobId> jobs;
  model.for_each_job([&](const Job& job) {
    if (job.queue == queue) jobs.push_back(job.id);
  });
  for (const JobId id : jobs) model.mark_changed(id);
}

}  // namespace

bool QueueIntake::set(const api::Json& object) {
  const QueueId id = model_.find_or_add_queue(api::name_of(object));
  Queue& queue = model_.edit_queue(id);
  const bool is_new = !queue.in_use;
  const api::Json& spec = object["spec"];
  const QueueState state = queue_state_from(object["status"]["state"].as_string());
  queue.resource_version = std::string(api::resource_version_of(object));
  ledger_.observe(id, queue.name, queue.resource_version, api::resource_list_from(object["status"]["allocated"]));
  std::string text = spec.dump() + object["metadata"]["annotations"].dump();
  if (!is_new && text == queue.spec_text && state == queue.state && queue.uid == api::uid_of(object)) return false;
  queue.spec_text = std::move(text);
  ++model_.queue_changes;
  queue.in_use = true;
  queue.uid = std::string(api::uid_of(object));
  queue.created_ns = created_ns(object);
  queue.weight = static_cast<std::int32_t>(spec["weight"].as_int(1));
  queue.priority = static_cast<std::int32_t>(spec["priority"].as_int());
  queue.reclaimable = spec["reclaimable"].as_bool(true);
  queue.parent = spec["parent"].str();
  const bool opens_or_closes = state != queue.state;
  queue.state = state;
  queue.has_capability = !spec["capability"].empty();
  const auto amounts_in = [&](const api::Json& list) {
    const api::ResourceList amounts = api::resource_list_from(list);
    model_.dimensions.know(amounts);
    return resource_from(amounts, model_.dimensions);
  };
  queue.capability = amounts_in(spec["capability"]);
  queue.deserved = amounts_in(spec["deserved"]);
  queue.guarantee = amounts_in(spec["guarantee"]["resource"]);
  queue.affinity = spec["affinity"];
  queue.annotations = object["metadata"]["annotations"];
  if (is_new || opens_or_closes) touch_jobs_of(model_, id);
  return true;
}

bool QueueIntake::remove(const api::Json& object) {
  const QueueId id = model_.find_queue(api::name_of(object));
  if (!id.is_set()) return false;
  Queue& queue = model_.edit_queue(id);
  queue.in_use = false;
  ++model_.queue_changes;
  ledger_.forget_queue(id, queue.name);
  touch_jobs_of(model_, id);
  return true;
}

bool QueueIntake::takes_answer(const api::Json& queue) const {
  const QueueId known = model_.find_queue(api::name_of(queue));
  return known.is_set() && model_.queue(known).uid == api::uid_of(queue) &&
         !is_newer(model_.queue(known).resource_version, api::resource_version_of(queue));
}

void QueueIntake::status_lost(std::string_view name, const std::vector<std::string>& gone) {
  if (const QueueId id = model_.find_queue(name); id.is_set()) ledger_.lose_queue(id, name, gone);
}

}  // namespace scheduler
