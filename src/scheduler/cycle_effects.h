// The effects of a cycle: writes to the API server, questions to outside services, and in a dry run the comparison with
// the scheduler that runs. It holds no belief of its own.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "client/client.h"
#include "rt/env.h"
#include "scheduler/effects/differences.h"
#include "scheduler/effects/outbox.h"
#include "scheduler/engine.h"
#include "scheduler/sources/outside_asker.h"
#include "scheduler/sources/usage_collector.h"

namespace scheduler {

struct EffectCallbacks {
  std::function<void()> on_change;  // a write ended, or an answer came: a cycle may decide more
  OnStage on_stage;
  std::function<bool(std::string_view node)> has_node;
};

// Loop thread only. Environment, client and engine outlive it.
class CycleEffects {
 public:
  CycleEffects(rt::Env& env, client::Client& client, Engine& engine, EffectCallbacks callbacks)
      : env_(env), client_(client), engine_(engine), callbacks_(std::move(callbacks)) {}

  // Decisions are compared, and nothing is written. Before start().
  void set_dry_run();
  bool is_dry_run() const { return differences_.has_value(); }
  // The differences of a dry run, null without one.
  Differences* differences() { return differences_ ? &*differences_ : nullptr; }
  const Differences* differences() const { return differences_ ? &*differences_ : nullptr; }

  void start();
  bool has_started() const { return outbox_ != nullptr; }
  void ensure_queues();
  // The engine has another configuration.
  void configure();
  void send(Plan plan) { outbox_->send(std::move(plan)); }
  // In place of send() in a dry run: the differences that are new. The model no longer builds on them.
  std::vector<Difference> compare(const Plan& plan);
  void ask_outside() { asker_->ask(engine_.model().outside.take_questions()); }
  void delete_numatopology(const std::string& node, std::string_view uid) { outbox_->delete_numatopology(node, uid); }

 private:
  rt::Env& env_;
  client::Client& client_;
  Engine& engine_;
  EffectCallbacks callbacks_;
  std::unique_ptr<Outbox> outbox_;
  std::unique_ptr<OutsideAsker> asker_;
  std::unique_ptr<UsageCollector> collector_;
  std::optional<Differences> differences_;
};

}  // namespace scheduler
