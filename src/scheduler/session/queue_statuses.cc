// The statuses of queues at the end of a cycle.
#include "scheduler/session/queue_statuses.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/ledger/ledger.h"
#include "scheduler/model/queue_path.h"

namespace scheduler {

void close_queues(const SessionInput& in, Plan& plan) {
  Model& model = in.model;
  const QueueId root = model.find_queue("root");
  std::vector<Resource> totals(model.queue_count());
  for (std::uint32_t q = 0; q < model.queue_count(); ++q) {
    const Queue& queue = model.queue(QueueId{q});
    if (!queue.in_use || queue.jobs == 0) continue;
    const Resource own(queue.allocated);
    for_each_up_to_root(model, root, queue.id, [&](QueueId at) { totals[at.index] += own; });
  }
  std::vector<JobId> changed = in.changed_jobs;
  changed.insert(changed.end(), model.peek_changed_jobs().begin(), model.peek_changed_jobs().end());
  in.queue_devices.settle(model, in.plugins, changed, in.all_jobs_changed);
  for (std::uint32_t q = 0; q < model.queue_count(); ++q) {
    const Queue& queue = model.queue(QueueId{q});
    if (!queue.in_use) continue;
    for (const auto& [dim, amount] : in.queue_devices.of(queue.id)) {
      const double sum = totals[q].get(dim) + static_cast<double>(amount);
      if (sum != 0 || totals[q].has(dim)) totals[q].set(dim, sum);
    }
    api::ResourceList list;
    for (Dim d = 0; d < totals[q].size(); ++d) {
      if (totals[q].has(d)) list.emplace(model.dimensions.name(d), Dimensions::quantity_of(d, totals[q].get(d)));
    }
    const QueueReport& reported = in.ledger.queue(queue.id);
    if (reported.is_known && list == reported.allocated) continue;
    std::vector<std::string> gone;
    for (const auto& [name, quantity] : reported.allocated) {
      if (!list.contains(name)) gone.push_back(name);
    }
    in.ledger.record(queue.id, list);
    plan.queues.push_back({queue.name, std::move(list), std::move(gone)});
  }
}

}  // namespace scheduler
