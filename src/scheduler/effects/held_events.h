// Events wait until no write of the scheduler does.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <utility>

#include "api/json/json.h"
#include "client/client.h"
#include "client/events/event_recorder.h"
#include "rt/env.h"

namespace scheduler {

class HeldEvents {
 public:
  // `is_idle`: no write waits for its turn. The others outlive it.
  HeldEvents(client::Client& client, rt::Env& env, const std::string& component, std::function<bool()> is_idle)
      : recorder_(client, env, component), is_idle_(std::move(is_idle)) {}

  void record(api::Json object, client::EventText text);
  // A write has left or ended.
  void pass_on();

 private:
  client::EventRecorder recorder_;
  std::function<bool()> is_idle_;
  std::deque<std::pair<api::Json, client::EventText>> held_;
};

}  // namespace scheduler
