// One rehearsal at a time, on a thread of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "main/host/rehearsal/rehearsal.h"
#include "rt/http/http.h"
#include "scheduler/scheduler.h"

namespace volcano_main {

// The dump of the scheduler `part`, null: it starts or stops. On its loop. An error: the cluster has too many pods.
base::Result<std::string> dump_to_rehearse(const scheduler::Scheduler* part);

class RehearsalDesk {
 public:
  // Calls back with dump_to_rehearse(), from any thread.
  using AskDump = std::function<void(std::function<void(base::Result<std::string>)>)>;
  // The right to the next rehearsal. It answers its exchange once, at its end at the latest.
  class Turn;

  // `options`: of the scheduler whose dumps these are. The objects behind `ask_dump` outlive stop(). `pause`: at least
  // so long is between the beginnings of two rehearsals.
  RehearsalDesk(AskDump ask_dump, scheduler::Options options, base::Duration pause = {});
  ~RehearsalDesk();

  // Null: another rehearsal is under way or has just begun, and the exchange is answered so. Any thread.
  std::shared_ptr<Turn> begin(std::shared_ptr<rt::HttpExchange> exchange) const;
  // Answers the turn with what the scheduler would do. Any thread.
  void rehearse(std::shared_ptr<Turn> turn, base::Result<RehearsedObjects> objects) const;
  // Waits for the rehearsal under way. Later ones are refused.
  void stop();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace volcano_main
