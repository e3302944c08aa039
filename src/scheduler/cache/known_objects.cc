// Identities as the model has them.
#include "scheduler/cache/known_objects.h"

namespace scheduler {

using client::Identity;

std::optional<Identity> KnownPods::find(std::string_view key) const {
  const TaskId id = model_.find_task(key);
  if (!id.is_set()) return std::nullopt;
  const TaskText& text = model_.text(id);
  uid_ = text.uid.str();
  return Identity{key, uid_, text.resource_version};
}

void KnownPods::for_each(const std::function<void(const Identity&)>& visit) const {
  for (std::uint32_t i = 0; i < model_.task_capacity(); ++i) {
    const TaskId id{i};
    if (!model_.task(id).in_use) continue;
    const std::string key = model_.task_key(id);
    visit({key, model_.text(id).uid.str(), model_.text(id).resource_version});
  }
}

// A group whose version was forgotten is known all the same: whatever comes of it is news.
std::optional<Identity> KnownGroups::find(std::string_view key) const {
  const JobId id = model_.find_job(key);
  if (!id.is_set() || !model_.job(id).has_group) return std::nullopt;
  uid_ = model_.job(id).group_uid.str();
  return Identity{key, uid_, model_.job(id).resource_version};
}

void KnownGroups::for_each(const std::function<void(const Identity&)>& visit) const {
  model_.for_each_job([&](const Job& job) {
    if (job.has_group) visit({job.key, job.group_uid.str(), job.resource_version});
  });
}

}  // namespace scheduler
