// POST /debug/rehearsal beside the API: workloads in, what the scheduler would do with them out.
#pragma once

#include <memory>

#include "apiserver/http/access.h"
#include "main/host/base/component.h"
#include "main/host/rehearsal/rehearsal_desk.h"
#include "scheduler/scheduler.h"

namespace volcano_main {

// It answers users who may create the workloads, which dry runs of theirs show.
class RehearsalService {
 public:
  using Host = Component<scheduler::Scheduler>;
  // `scheduler` has these options. It may start later, and stops after this service.
  RehearsalService(const Host& scheduler, scheduler::Options options);
  ~RehearsalService();

  // For the API server's options. It outlives this service and then refuses.
  std::shared_ptr<const apiserver::Beside> beside() const;
  // Waits for the rehearsal under way.
  void stop() { desk_->stop(); }

 private:
  class Door;
  std::shared_ptr<RehearsalDesk> desk_;
};

}  // namespace volcano_main
