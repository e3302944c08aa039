// The asker's own dry runs admit and complete the workloads first, so that the rights to create them are those to ask.
#include "main/host/rehearsal/rehearsal_service.h"

#include <atomic>
#include <mutex>
#include <utility>

#include "api/json/json.h"
#include "base/format.h"
#include "client/client.h"
#include "client/http/request_names.h"
#include "client/http/wire.h"
#include "main/host/rehearsal/proposal.h"
#include "main/host/rehearsal/rehearsal.h"
#include "ui/notebooks/passing_exchange.h"

namespace volcano_main {
namespace {

using api::Json;

constexpr std::string_view kPath = "/debug/rehearsal";
constexpr std::size_t kObjectsMax = 50;

rt::HttpResponse answer(int status, const Json& body) {
  return {status, {{"Content-Type", "application/json"}}, body.dump() + "\n", {}};
}

rt::HttpResponse failure(const base::Error& error) {
  return answer(base::http_status(error.code), Json::object({{"message", error.message}}));
}

// The question: each workload is created in a dry run, and stands in `objects` when that is over.
struct Question {
  std::vector<client::Request> dry_runs;
  RehearsedObjects objects;
};

base::Error refused(std::string message) { return base::make_error(base::Code::kInvalid, std::move(message)); }

base::Result<Question> read_question(const std::string& body) {
  TRY(const Json sent, api::parse_json(body));
  Question question;
  const std::vector<Json> items = sent["kind"].as_string() == "List"
                                      ? std::vector(sent["items"].items().begin(), sent["items"].items().end())
                                      : std::vector{sent};
  if (items.size() > kObjectsMax) return refused(base::format("items: more than {} objects", kObjectsMax));
  for (const Json& item : items) {
    if (item["kind"].as_string() == "PersistentVolumeClaim" && item["apiVersion"].as_string() == "v1") {
      question.objects.claims.push_back(item);
      continue;
    }
    const auto resource = proposed_resource(item);
    if (!resource)
      return refused(
          base::format("kind: {} of {} is not rehearsed; Jobs, training jobs, pods and their PodGroups are, "
                       "and volume claims with them",
                       item["kind"].as_string(), item["apiVersion"].as_string()));
    client::Request dry_run;
    dry_run.verb = client::Verb::kCreate;
    dry_run.resource = *resource;
    dry_run.dry_run = true;
    dry_run.body = item;
    dry_run.ns = std::string(api::namespace_of(item));
    if (dry_run.ns.empty())
      return refused(base::format("metadata.namespace of the {}: required", item["kind"].as_string()));
    TRY_VOID(client::check_names(dry_run));
    question.dry_runs.push_back(std::move(dry_run));
  }
  if (question.dry_runs.empty()) return refused("items: no workload is among them");
  return question;
}

}  // namespace

struct RehearsalService::State {
  const Host& scheduler;
  const scheduler::Options options;
  std::atomic<bool> is_busy = false;
  std::mutex mutex;  // of `env`, which stop() takes away
  std::unique_ptr<rt::RealEnv> env = rt::make_real_env("rehearsal");

  // Runs `work` on the service's own thread; false: the service has stopped.
  bool post(rt::Task work) {
    const std::lock_guard lock(mutex);
    if (!env) return false;
    env->loop().post(std::move(work));
    return true;
  }

  // Calls back on the scheduler's loop with its dump, or says why there is none.
  void ask_dump(std::function<void(base::Result<std::string>)> done) const {
    if (!scheduler.env) return done(base::make_error(base::Code::kUnavailable, "no scheduler runs here"));
    scheduler.env->loop().post([&scheduler = scheduler, done = std::move(done)] {
      if (!scheduler.part) return done(base::make_error(base::Code::kUnavailable, "the scheduler starts, or stops"));
      if (scheduler.part->pods() > kRehearsedPodsMax)
        return done(base::make_error(base::Code::kTooLarge, "the cluster has more pods than are rehearsed"));
      done(scheduler.part->dump({}));
    });
  }
};

// Answers an asker once, and lets the next one in.
class Turn {
 public:
  Turn(std::atomic<bool>& is_busy, std::shared_ptr<rt::HttpExchange> exchange)
      : is_busy_(is_busy), exchange_(std::move(exchange)) {}
  ~Turn() {
    if (exchange_) end(failure(base::make_error(base::Code::kUnavailable, "the server stops")));
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  void end(rt::HttpResponse response) {
    is_busy_ = false;
    std::exchange(exchange_, nullptr)->respond(std::move(response));
  }

 private:
  std::atomic<bool>& is_busy_;
  std::shared_ptr<rt::HttpExchange> exchange_;
};

class RehearsalService::Door final : public apiserver::Beside {
 public:
  explicit Door(std::shared_ptr<State> state) : state_(std::move(state)) {}

  bool has(std::string_view path) const override { return path == kPath; }
  bool is_open(std::string_view) const override { return false; }
  std::string_view audience() const override { return {}; }
  rt::HttpResponse refusal(const base::Error& error) const override { return failure(error); }

  void serve(rt::HttpRequest http, std::optional<apiserver::BesideCaller> caller,
             std::shared_ptr<rt::HttpExchange> exchange) const override {
    if (http.method != "POST")
      return exchange->respond(
          failure(base::make_error(base::Code::kMethodNotAllowed, "workloads are sent with POST")));
    auto question = read_question(http.body);
    if (!question.ok()) return exchange->respond(failure(question.error()));
    if (state_->is_busy.exchange(true))
      return exchange->respond(
          failure(base::make_error(base::Code::kTooManyRequests, "another question is rehearsed now; try again")));
    auto turn = std::make_shared<Turn>(state_->is_busy, std::move(exchange));
    dry_run_next(state_, turn, *std::move(caller), std::make_shared<Question>(*std::move(question)));
  }

 private:
  // One after the other; the first that the server refuses is the answer.
  static void dry_run_next(const std::shared_ptr<State>& state, const std::shared_ptr<Turn>& turn,
                           const apiserver::BesideCaller& caller, const std::shared_ptr<Question>& question) {
    const std::size_t at = question->objects.workloads.size();
    if (at == question->dry_runs.size()) return rehearse_soon(state, turn, question);
    caller.send(client::encode_request(question->dry_runs[at], "volcano-rehearsal"),
                ui::kept_answer([state, turn, caller, question](int status, const std::string& body) {
                  auto made = client::decode_response({status, {}, body, {}}, nullptr, false);
                  if (!made.ok()) return turn->end(failure(made.error()));
                  question->objects.workloads.push_back(*std::move(made));
                  dry_run_next(state, turn, caller, question);
                }));
  }

  static void rehearse_soon(const std::shared_ptr<State>& state, const std::shared_ptr<Turn>& turn,
                            const std::shared_ptr<Question>& question) {
    state->ask_dump([state, turn, question](base::Result<std::string> dump) {
      if (!dump.ok()) return turn->end(failure(dump.error()));
      state->post([&options = state->options, turn, question, dump = *std::move(dump)] {
        const auto result = rehearse(dump, question->objects, options);
        turn->end(result.ok() ? answer(200, *result) : failure(result.error()));
      });
    });
  }

  const std::shared_ptr<State> state_;
};

RehearsalService::RehearsalService(const Host& scheduler, scheduler::Options options)
    : state_(new State{.scheduler = scheduler, .options = std::move(options)}) {}

RehearsalService::~RehearsalService() { stop(); }

std::shared_ptr<const apiserver::Beside> RehearsalService::beside() const { return std::make_shared<Door>(state_); }

void RehearsalService::stop() {
  std::unique_ptr<rt::RealEnv> env;
  {
    const std::lock_guard lock(state_->mutex);
    env = std::move(state_->env);
  }
  if (env) env->stop();
}

}  // namespace volcano_main
