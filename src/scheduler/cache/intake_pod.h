// API objects in, the model kept current: pods, and what becomes of effects on them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/json/json.h"
#include "scheduler/cache/intake_gates.h"
#include "scheduler/cache/intake_options.h"
#include "scheduler/cache/pod_news.h"
#include "scheduler/ledger/ledger.h"
#include "scheduler/model/model.h"

namespace scheduler {

class PodIntake {
 public:
  // All of them outlive it.
  PodIntake(Model& model, Ledger& ledger, const IntakeOptions& options)
      : model_(model), ledger_(ledger), options_(options), drops_fields_(switches_fields_off(options.gates)) {}

  // True when a decision could differ.
  bool set(const api::Json& pod);
  bool remove(const api::Json& pod);
  // The answer to a write counts if it is not older than what the watch has shown of this pod.
  bool takes_answer(const api::Json& pod) const;

  // Effects that are under way: the model believes them until the API server says otherwise.
  void bind_failed(std::string_view key, std::string_view uid);
  void eviction_failed(std::string_view key, std::string_view uid);
  // It is gone, goes, or has ended, whether or not it was bound.
  bool is_over(std::string_view key, std::string_view uid) const;
  // The PodGroup of a pod, where there is one.
  struct GroupName {
    std::string name;
    std::string uid;
  };
  std::optional<GroupName> group_of(std::string_view key) const;
  // The pod's condition is being written, though no cycle said it.
  void record_condition(std::string_view key, std::string_view uid, std::string_view reason, std::string_view message);
  // The pod has its node and waits for a volume: its group says so with the next cycle.
  void binding_waits(std::string_view key);
  // The status could not be written: what it should say is written again.
  void status_lost(std::string_view key, std::string_view uid);

  // Only where pods are scheduled one by one: a claim came or changed, and the news since the last call.
  void claim_came(std::string key) { news_.claims.push_back(std::move(key)); }
  PodNewsList take_news() { return std::exchange(news_, {}); }

 private:
  bool is_ours(const api::Json& pod) const;
  bool take(const api::Json& pod);
  bool drop(const api::Json& pod);
  void forget(TaskId id);
  // The same for single pods, with the news of it (intake_single_pods.cc).
  bool set_single(const api::Json& pod);
  bool remove_single(const api::Json& pod);
  void record_not_bound(std::string_view key, std::string_view uid);

  Model& model_;
  Ledger& ledger_;
  const IntakeOptions& options_;
  const bool drops_fields_;
  PodNewsList news_;
};

// A reader shared with other parts.
TaskStatus task_status_of(const api::Json& pod);

}  // namespace scheduler
