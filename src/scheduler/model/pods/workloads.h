// Which selectors do services and the controllers of pods have? Pods that they choose are spread by default.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "api/json/json.h"
#include "scheduler/model/core/ids.h"
#include "scheduler/model/core/selector.h"
#include "scheduler/model/pods/affinity.h"

namespace scheduler {

class Workloads {
 public:
  // A Service (kind empty), ReplicationController, ReplicaSet or StatefulSet exists with this selector.
  void set(std::string_view kind, const std::string& key, LabelSelector selector);
  void remove(std::string_view kind, const std::string& key);
  // The controller that owns the task, as an id for default_matcher(); 0 when it is none of these kinds.
  void set_owner(TaskId task, const api::Json& pod);
  void forget_task(TaskId task) { owners_.erase(task.index); }

  bool empty() const { return services_.empty() && controllers_.empty(); }
  // The controller's "kind ns/name"; empty when it is none of these kinds.
  std::string_view owner_of(TaskId task) const {
    const auto found = owners_.find(task.index);
    return found == owners_.end() ? std::string_view() : std::string_view(found->second);
  }
  // By kind, "ns/name" and selector.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const auto& [key, selector] : services_) visit(std::string("Service"), key, selector);
    for (const auto& [name, selector] : controllers_) {
      const std::size_t space = name.find(' ');
      visit(name.substr(0, space), name.substr(space + 1), selector);
    }
  }
  // Selects the pods that belong together with this one: those of its services and its controller. Unset when nothing
  // selects it. May make a matcher: call Model::settle_matchers() afterwards.
  MatcherId default_matcher(TaskId task, LabelSetId labels, PodAffinity& pods, Symbols& symbols);

 private:
  void forget_matchers(PodAffinity& pods);

  std::map<std::string, LabelSelector, std::less<>> services_;        // by "ns/name"
  std::map<std::string, LabelSelector, std::less<>> controllers_;     // by "kind ns/name"
  std::unordered_map<std::uint32_t, std::string> owners_;             // by task: "kind ns/name"
  std::map<std::pair<std::uint32_t, std::string>, MatcherId> known_;  // by labels and owner
  bool is_stale_ = false;                                             // they, since selectors changed
  std::uint32_t known_at_ = 0;                                        // LabelSets::returns() when they were found
};

}  // namespace scheduler
