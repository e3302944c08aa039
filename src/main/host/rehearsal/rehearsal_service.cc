// The asker's own dry run admits and completes the Job first, so that the rights to create it are those to ask.
#include "main/host/rehearsal/rehearsal_service.h"

#include <atomic>
#include <mutex>
#include <utility>

#include "api/json/json.h"
#include "base/format.h"
#include "client/client.h"
#include "client/http/request_names.h"
#include "client/http/wire.h"
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

// The Job that is asked about, and the volume claims that come with it.
struct Question {
  client::Request dry_run;
  std::vector<Json> claims;
};

base::Error refused(std::string message) { return base::make_error(base::Code::kInvalid, std::move(message)); }

base::Result<Question> read_question(const std::string& body) {
  TRY(const Json sent, api::parse_json(body));
  Question question;
  question.dry_run.verb = client::Verb::kCreate;
  question.dry_run.resource = api::resources::kJobs;
  question.dry_run.dry_run = true;
  const std::vector<Json> items = sent["kind"].as_string() == "List"
                                      ? std::vector(sent["items"].items().begin(), sent["items"].items().end())
                                      : std::vector{sent};
  if (items.size() > kObjectsMax) return refused(base::format("items: more than {} objects", kObjectsMax));
  for (const Json& item : items) {
    if (item["kind"].as_string() == "PersistentVolumeClaim" && item["apiVersion"].as_string() == "v1") {
      question.claims.push_back(item);
    } else if (item["kind"].as_string() == "Job" && item["apiVersion"].as_string() == "batch.volcano.sh/v1alpha1" &&
               question.dry_run.body.is_null()) {
      question.dry_run.body = item;
    } else {
      return refused("kind: one Job of batch.volcano.sh/v1alpha1 is rehearsed, and volume claims with it");
    }
  }
  question.dry_run.ns = std::string(api::namespace_of(question.dry_run.body));
  if (question.dry_run.ns.empty()) return refused("metadata.namespace of the Job: required");
  TRY_VOID(client::check_names(question.dry_run));
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
      return exchange->respond(failure(base::make_error(base::Code::kMethodNotAllowed, "a Job is sent with POST")));
    auto question = read_question(http.body);
    if (!question.ok()) return exchange->respond(failure(question.error()));
    if (state_->is_busy.exchange(true))
      return exchange->respond(
          failure(base::make_error(base::Code::kTooManyRequests, "another job is rehearsed now; try again")));
    auto turn = std::make_shared<Turn>(state_->is_busy, std::move(exchange));
    rt::HttpRequest dry_run = client::encode_request(question->dry_run, "volcano-rehearsal");
    caller->send(std::move(dry_run), ui::kept_answer([state = state_, turn, claims = std::move(question->claims)](
                                                         int status, const std::string& body) {
                   auto made = client::decode_response({status, {}, body, {}}, nullptr, false);
                   if (!made.ok()) return turn->end(failure(made.error()));
                   rehearse_soon(state, turn, *std::move(made), claims);
                 }));
  }

 private:
  static void rehearse_soon(const std::shared_ptr<State>& state, const std::shared_ptr<Turn>& turn, Json job,
                            std::vector<Json> claims) {
    state->ask_dump([state, turn, job = std::move(job), claims = std::move(claims)](base::Result<std::string> dump) {
      if (!dump.ok()) return turn->end(failure(dump.error()));
      state->post([&options = state->options, turn, job, claims, dump = *std::move(dump)] {
        const auto result = rehearse(dump, job, claims, options);
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
