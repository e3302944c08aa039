// Somebody deletes or evicts running pods at random.
#include "base/format.h"
#include "client/client.h"
#include "sim/workloads/all.h"
#include "sim/world/env.h"
#include "sim/world/person_calls.h"

namespace sim {

using api::Json;

namespace {

class PodMonkey final : public Workload {
 public:
  PodMonkey(World& world, Settings& settings, base::Random& dice)
      : world_(world),
        dice_(dice.next()),
        every_(settings.pause_range("every", {3'000'000'000, 10'000'000'000})),
        evicts_(settings.fraction("evicts", 0.3, dice)) {}

  void start() override {
    person_ = world_.make_person("monkey");
    arm();
  }
  void stop() override { stopped_ = true; }
  bool done() const override { return open_ == 0; }

 private:
  void arm() {
    person_->env->loop().after({every_.draw(dice_)}, [this] {
      if (stopped_) return;
      strike();
      arm();
    });
  }

  void strike() {
    std::vector<const Json*> running;
    for (const auto& [key, pod] : world_.truth().objects(api::resources::kPods))
      if (!pod["spec"]["nodeName"].as_string().empty() && !api::is_deleting(pod) &&
          pod["status"]["phase"].as_string() == "Running")
        running.push_back(&pod);
    if (running.empty()) return;
    const Json& victim = *running[dice_.below(running.size())];
    client::Request request{.verb = client::Verb::kDelete,
                            .resource = api::resources::kPods,
                            .ns = std::string(api::namespace_of(victim)),
                            .name = std::string(api::name_of(victim))};
    request.body = Json::object({{"preconditions", Json::object({{"uid", api::uid_of(victim)}})}});
    if (dice_.chance(evicts_)) {
      request.verb = client::Verb::kCreate;
      request.subresource = "eviction";
      request.body = Json::object({{"apiVersion", "policy/v1"},
                                   {"kind", "Eviction"},
                                   {"metadata", victim["metadata"]},
                                   {"deleteOptions", request.body}});
    }
    ++open_;
    ask_until_answered(*person_, std::move(request), [this](base::Result<Json>, int) { --open_; });
  }

  World& world_;
  base::Random dice_;
  Settings::Range every_;
  double evicts_;
  std::unique_ptr<Person> person_;
  int open_ = 0;
  bool stopped_ = false;
};

}  // namespace

std::unique_ptr<Workload> make_pod_monkey(World& world, Settings& settings, base::Random& dice) {
  return std::make_unique<PodMonkey>(world, settings, dice);
}

}  // namespace sim
