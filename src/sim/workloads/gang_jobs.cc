// Jobs of many sizes arrive at a steady rate; some of their pods fail.
#include <algorithm>

#include "base/format.h"
#include "client/client.h"
#include "sim/workloads/all.h"
#include "sim/world/env.h"
#include "sim/world/person_calls.h"

namespace sim {

using api::Json;

namespace {

class GangJobs final : public Workload {
 public:
  GangJobs(World& world, Settings& settings, base::Random& dice)
      : world_(world),
        dice_(dice.next()),
        prefix_(settings.text("name", "gang")),
        interval_(settings.interval("rate", base::seconds(1))),
        count_max_(settings.number("count", 1'000'000, dice)),
        size_(settings.range("size", {1, 4})),
        cpu_milli_(settings.range("cpu_milli", {100, 2000})),
        memory_mib_(settings.range("memory_mib", {64, 1024})),
        runs_for_(settings.span_range("runs_for", {1'000'000'000, 20'000'000'000})),
        fails_(settings.fraction("fails", 0, dice)),
        whole_(settings.fraction("whole", 1, dice)),
        queues_(settings.some_words("queues", {"default"})),
        priorities_(settings.words("priorities", {})),
        ns_(settings.text("namespace", "default")) {}

  void start() override {
    person_ = world_.make_person(prefix_);
    make_priorities();
    arm();
  }
  void stop() override { stopped_ = true; }
  bool done() const override { return open_ == 0; }

 private:
  // The later in the list, the higher. A job that comes before its class is asked for again.
  void make_priorities() {
    for (std::size_t i = 0; i < priorities_.size(); ++i) {
      client::Request request{.verb = client::Verb::kCreate, .resource = api::resources::kPriorityClasses};
      request.body = Json::object({{"metadata", Json::object({{"name", priorities_[i]}})},
                                   {"value", static_cast<std::int64_t>((i + 1) * 100)}});
      ++open_;
      ask_until_answered(*person_, std::move(request), [this](base::Result<Json>, int) { --open_; });
    }
  }

  void arm() {
    person_->env->loop().after(interval_, [this] {
      if (stopped_ || made_ >= count_max_) return;
      submit();
      arm();
    });
  }

  Json job() {
    const std::int64_t size = std::max<std::int64_t>(size_.draw(dice_), 1);
    const std::int64_t least =
        dice_.chance(whole_) ? size : 1 + static_cast<std::int64_t>(dice_.below(static_cast<std::uint64_t>(size)));
    const Json requests = Json::object({{"cpu", base::format("{}m", cpu_milli_.draw(dice_))},
                                        {"memory", base::format("{}Mi", memory_mib_.draw(dice_))}});
    const Json container = Json::object({{"name", "main"},
                                         {"image", "work"},
                                         {"command", Json::array({"work"})},
                                         {"resources", Json::object({{"requests", requests}})}});
    const bool fails = dice_.chance(fails_);
    const Json annotations =
        Json::object({{kRunsFor, base::format_go_duration({runs_for_.draw(dice_)})}, {kExitCode, fails ? "1" : "0"}});
    const Json pod =
        Json::object({{"metadata", Json::object({{"annotations", annotations}})},
                      {"spec", Json::object({{"restartPolicy", "Never"}, {"containers", Json::array({container})}})}});
    const Json task = Json::object({{"name", "worker"}, {"replicas", size}, {"template", pod}});
    Json spec = Json::object({{"schedulerName", "volcano"},
                              {"minAvailable", least},
                              {"queue", queues_[dice_.below(queues_.size())]},
                              {"maxRetry", 3},
                              {"tasks", Json::array({task})}});
    if (!priorities_.empty()) spec.set("priorityClassName", priorities_[dice_.below(priorities_.size())]);
    // Without a policy, a gang with failed pods and a pod that somebody deleted can never be whole again.
    const char* action = fails ? (dice_.chance(0.5) ? "RestartJob" : "TerminateJob") : nullptr;
    if (action) spec.edit("policies").push_back(Json::object({{"event", "PodFailed"}, {"action", action}}));
    if (dice_.chance(0.5))
      spec.edit("policies").push_back(Json::object({{"event", "PodEvicted"}, {"action", "RestartJob"}}));
    return Json::object({{"apiVersion", "batch.volcano.sh/v1alpha1"},
                         {"kind", "Job"},
                         {"metadata", Json::object({{"name", base::format("{}-{}", prefix_, made_)}})},
                         {"spec", std::move(spec)}});
  }

  void submit() {
    client::Request request{.verb = client::Verb::kCreate, .resource = api::resources::kJobs, .ns = ns_};
    request.body = job();
    ++made_;
    ask(std::move(request));
  }

  void ask(client::Request request) {
    ++open_;
    ask_until_answered(*person_, request, [this, request](base::Result<Json> result, int attempts) {
      --open_;
      if (result.ok() || (attempts > 1 && result.error().code == base::Code::kAlreadyExists)) return;
      const std::string& message = result.error().message;
      // A queue that is not there yet, or closed, is a good reason, and so is a priority class that is on its way. The
      // job is perfect otherwise.
      if (message.find("queue") == std::string::npos && message.find("priority") == std::string::npos)
        world_.chronicle().violation("gang-jobs", base::format("a good job was refused: {}", message));
      if (stopped_) return;
      world_.chronicle().record(base::format("refused: {}", message));
      person_->env->loop().after(base::seconds(2), [this, request] { ask(request); });
    });
  }

  World& world_;
  base::Random dice_;
  std::string prefix_;
  base::Duration interval_;
  std::int64_t count_max_;
  Settings::Range size_, cpu_milli_, memory_mib_, runs_for_;
  double fails_, whole_;
  std::vector<std::string> queues_;
  std::vector<std::string> priorities_;  // names of classes; empty: none
  std::string ns_;
  std::unique_ptr<Person> person_;
  std::int64_t made_ = 0;
  int open_ = 0;
  bool stopped_ = false;
};

}  // namespace

std::unique_ptr<Workload> make_gang_jobs(World& world, Settings& settings, base::Random& dice) {
  return std::make_unique<GangJobs>(world, settings, dice);
}

}  // namespace sim
