// An exchange that keeps its answer, and a loop that runs at once.
#pragma once

#include "rt/http/kept_exchange_for_tests.h"
#include "rt/loop/loop.h"

namespace ui {

using rt::KeptExchange;

class InlineLoop final : public rt::Loop {
 public:
  void post(rt::Task task) override { task(); }
  TimerId after(base::Duration, rt::Task) override { return 0; }
  void cancel(TimerId) override {}
};

}  // namespace ui
