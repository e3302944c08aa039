// Flows of a few Jobs each: chains, diamonds, patches and probes. Some of their Jobs fail.
#include <algorithm>

#include "base/format.h"
#include "client/client.h"
#include "sim/workloads/all.h"
#include "sim/world/env.h"
#include "sim/world/nodes.h"
#include "sim/world/person_calls.h"

namespace sim {

using api::Json;

namespace {

constexpr int kTemplates = 5;
constexpr std::uint16_t kPort = 8080;

class Flows final : public Workload {
 public:
  Flows(World& world, Settings& settings, base::Random& dice)
      : world_(world),
        dice_(dice.next()),
        interval_(settings.interval("rate", base::seconds(10))),
        runs_for_(settings.span_range("runs_for", {1'000'000'000, 15'000'000'000})),
        fails_(settings.fraction("fails", 0, dice)),
        probes_(settings.fraction("probes", 0.3, dice)),
        deletes_(settings.fraction("deletes", 0.2, dice)) {}

  void start() override {
    person_ = world_.make_person("flows");
    // All pods of a world have one address. They are ready more often than not.
    world_.outside().set_host("10.1.0.1", kPort, [this](const rt::HttpRequest&) -> std::optional<rt::HttpResponse> {
      if (dice_.chance(0.1)) return std::nullopt;
      return rt::HttpResponse{.status = dice_.chance(0.3) ? 503 : 204};
    });
    arm();
  }
  void stop() override { stopped_ = true; }
  bool done() const override { return open_ == 0; }

 private:
  void arm() {
    person_->env->loop().after(interval_, [this] {
      if (stopped_) return;
      // Flows come before some of their templates.
      ask(api::resources::kJobFlows, flow());
      if (templates_ < kTemplates) ask(api::resources::kJobTemplates, job_template(templates_++));
      arm();
    });
  }

  Json job_template(int index) {
    const Json container = Json::object(
        {{"name", "main"},
         {"image", "work"},
         {"command", Json::array({"work"})},
         {"resources", Json::object({{"requests", Json::object({{"cpu", "200m"}, {"memory", "64Mi"}})}})}});
    const Json annotations = Json::object({{kRunsFor, base::format_go_duration({runs_for_.draw(dice_)})}});
    const Json pod =
        Json::object({{"metadata", Json::object({{"annotations", annotations}})},
                      {"spec", Json::object({{"restartPolicy", "Never"}, {"containers", Json::array({container})}})}});
    const Json task = Json::object({{"name", "work"}, {"replicas", 1 + index % 3}, {"template", pod}});
    return Json::object({{"metadata", Json::object({{"name", base::format("step-{}", index)}})},
                         {"spec", Json::object({{"tasks", Json::array({task})}})}});
  }

  Json flow() {
    Json flows = Json::array();
    for (int i = 0; i < kTemplates; ++i) {
      if (!flows.empty() && dice_.chance(0.3)) continue;
      Json one = Json::object({{"name", base::format("step-{}", i)}});
      for (const Json& earlier : flows.items())
        if (dice_.chance(0.4)) one.edit_path({"dependsOn", "targets"}).push_back(earlier["name"]);
      if (one.has("dependsOn") && dice_.chance(probes_)) one.edit("dependsOn").set("probe", probe());
      if (dice_.chance(fails_)) one.set("patch", patch());
      flows.push_back(std::move(one));
    }
    Json spec = Json::object({{"flows", std::move(flows)}});
    if (dice_.chance(deletes_)) spec.set("jobRetainPolicy", "delete");
    return Json::object(
        {{"metadata", Json::object({{"name", base::format("flow-{}", made_++)}})}, {"spec", std::move(spec)}});
  }

  Json probe() {
    switch (dice_.below(3)) {
      case 0:
        return Json::object(
            {{"taskStatusList", Json::array({Json::object({{"taskName", "work"}, {"phase", "Running"}})})}});
      case 1:
        return Json::object({{"tcpSocketList", Json::array({Json::object({{"taskName", "work"}, {"port", kPort}})})}});
      default:
        return Json::object(
            {{"httpGetList",
              Json::array({Json::object({{"taskName", "work"}, {"path", "/ready"}, {"port", kPort}})})}});
    }
  }

  // The pods fail.
  static Json patch() {
    const Json annotations = Json::object({{kExitCode, "1"}});
    const Json task = Json::object(
        {{"name", "work"}, {"template", Json::object({{"metadata", Json::object({{"annotations", annotations}})}})}});
    return Json::object({{"jobSpec", Json::object({{"tasks", Json::array({task})}})}});
  }

  void ask(const api::ResourceId& resource, Json body) {
    client::Request request{.verb = client::Verb::kCreate, .resource = resource, .ns = "default"};
    request.body = std::move(body);
    ++open_;
    ask_until_answered(*person_, std::move(request), [this](base::Result<Json> result, int attempts) {
      --open_;
      if (!result.ok() && !(attempts > 1 && result.error().code == base::Code::kAlreadyExists))
        world_.chronicle().violation("flows", base::format("a good object was refused: {}", result.error().message));
    });
  }

  World& world_;
  base::Random dice_;
  base::Duration interval_;
  Settings::Range runs_for_;
  double fails_, probes_, deletes_;
  std::unique_ptr<Person> person_;
  int templates_ = 0;
  int made_ = 0;
  int open_ = 0;
  bool stopped_ = false;
};

}  // namespace

std::unique_ptr<Workload> make_flows(World& world, Settings& settings, base::Random& dice) {
  return std::make_unique<Flows>(world, settings, dice);
}

}  // namespace sim
