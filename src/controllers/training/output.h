// The writes, events and metrics of one look at a training job, in their order.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json/json.h"
#include "controllers/framework/ongoing_states.h"
#include "controllers/framework/plan.h"

namespace controllers::training {

// An event that is made once as long as its cause lasts. `about` tells causes with equal texts apart.
struct Message {
  std::string type;
  std::string reason;
  std::string text;
  std::string about = {};
};

using Messages = std::vector<Message>;

// The functions of a look append to it, and none of them reads it back.
class Output {
 public:
  // `said`: the messages that held at the look before.
  Output(const api::Json& job, std::set<std::string> reported);

  Plan& plan() { return plan_; }
  void event(std::string_view type, std::string_view reason, std::string text);
  void report_once(const Message& message);
  void report_once(const Messages& messages);
  void remove_pod(const api::Json& pod);
  void remove_service(const api::Json& service);
  // A metric to count once the plan has succeeded.
  void count(std::string_view metric) { counted_.emplace_back(metric, 1); }

  // For the end of a look.
  Plan take_plan() { return std::move(plan_); }
  std::vector<std::pair<std::string_view, int>> take_counted() { return std::move(counted_); }
  const std::set<std::string>& reported() const { return reported_.all(); }
  // The uids of pods that the plan removes.
  const std::vector<std::string>& removed_pods() const { return removed_pods_; }

 private:
  const api::Json& job_;
  Plan plan_;
  OngoingStates reported_;
  std::vector<std::pair<std::string_view, int>> counted_;
  std::vector<std::string> removed_pods_;
};

}  // namespace controllers::training
