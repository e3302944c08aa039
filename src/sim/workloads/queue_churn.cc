// Queues of the workloads exist, change their weights and capabilities, close and open.
#include <algorithm>

#include "base/format.h"
#include "client/client.h"
#include "sim/workloads/all.h"
#include "sim/world/env.h"
#include "sim/world/person_calls.h"

namespace sim {

using api::Json;

namespace {

class QueueChurn final : public Workload {
 public:
  QueueChurn(World& world, Settings& settings, base::Random& dice)
      : world_(world),
        dice_(dice.next()),
        queues_(settings.some_words("queues", {"red", "blue"})),
        every_(settings.pause_range("every", {10'000'000'000, 40'000'000'000})),
        closes_(settings.fraction("closes", 0, dice)),
        capability_cpu_(settings.range("capability_cpu", {0, 0})),
        deserved_cpu_(settings.range("deserved_cpu", {0, 0})) {}

  void start() override {
    person_ = world_.make_person("queue-admin");
    person_->env->loop().after(base::seconds(1), [this] {
      for (const std::string& queue : queues_) {
        client::Request request{.verb = client::Verb::kCreate, .resource = api::resources::kQueues};
        request.body = Json::object({{"metadata", Json::object({{"name", queue}})}, {"spec", spec(1)}});
        ask(std::move(request));
      }
      arm();
    });
  }
  void stop() override {
    stopped_ = true;
    open_all();
  }
  bool done() const override { return open_ == 0 && closed().empty(); }

 private:
  std::vector<std::string> closed() const {
    std::vector<std::string> names;
    for (const std::string& name : queues_) {
      const Json* queue = world_.truth().find(api::resources::kQueues, name);
      if (queue && (*queue)["status"]["state"].as_string() != "Open") names.push_back(name);
    }
    return names;
  }

  // An earlier command to close may come late, so this is looked at again.
  void open_all() {
    for (const std::string& queue : closed()) command(queue, "OpenQueue");
    person_->env->loop().after(base::seconds(5), [this] { open_all(); });
  }

  void arm() {
    person_->env->loop().after({every_.draw(dice_)}, [this] {
      if (stopped_) return;
      const std::string& queue = queues_[dice_.below(queues_.size())];
      if (dice_.chance(closes_)) {
        command(queue, dice_.chance(0.5) ? "CloseQueue" : "OpenQueue");
      } else {
        client::Request request{.verb = client::Verb::kPatch, .resource = api::resources::kQueues, .name = queue};
        request.body = Json::object({{"spec", spec(static_cast<std::int64_t>(1 + dice_.below(10)))}});
        ask(std::move(request));
      }
      arm();
    });
  }

  Json spec(std::int64_t weight) {
    Json out = Json::object({{"weight", weight}});
    if (capability_cpu_.max > 0)
      out.set("capability", Json::object({{"cpu", std::to_string(capability_cpu_.draw(dice_))}}));
    if (deserved_cpu_.max > 0) out.set("deserved", Json::object({{"cpu", std::to_string(deserved_cpu_.draw(dice_))}}));
    return out;
  }

  void command(const std::string& name, std::string_view action) {
    const Json* queue = world_.truth().find(api::resources::kQueues, name);
    if (!queue) return;
    client::Request request{.verb = client::Verb::kCreate, .resource = api::resources::kCommands, .ns = "default"};
    request.body = Json::object({{"metadata", Json::object({{"name", base::format("queue-admin-{}", made_++)}})},
                                 {"action", action},
                                 {"target", api::controller_reference(*queue)}});
    ask(std::move(request));
  }

  void ask(client::Request request) {
    ++open_;
    ask_until_answered(*person_, std::move(request), [this](base::Result<Json>, int) { --open_; });
  }

  World& world_;
  base::Random dice_;
  std::vector<std::string> queues_;
  Settings::Range every_;
  double closes_;
  Settings::Range capability_cpu_, deserved_cpu_;  // 0: none
  std::unique_ptr<Person> person_;
  int made_ = 0;
  int open_ = 0;
  bool stopped_ = false;
};

}  // namespace

std::unique_ptr<Workload> make_queue_churn(World& world, Settings& settings, base::Random& dice) {
  return std::make_unique<QueueChurn>(world, settings, dice);
}

}  // namespace sim
