// The asker's own dry runs go through the API server beside which this stands.
#include "main/host/rehearsal/rehearsal_service.h"

#include <utility>

#include "main/host/rehearsal/question.h"

namespace volcano_main {

class RehearsalService::Door final : public apiserver::Beside {
 public:
  explicit Door(std::shared_ptr<RehearsalDesk> desk) : desk_(std::move(desk)) {}

  bool has(std::string_view path) const override { return path == kRehearsalPath; }
  bool is_open(std::string_view) const override { return false; }
  std::string_view audience() const override { return {}; }
  rt::HttpResponse refusal(const base::Error& error) const override { return rehearsal_failure(error); }

  void serve(rt::HttpRequest http, std::optional<apiserver::BesideCaller> caller,
             std::shared_ptr<rt::HttpExchange> exchange) const override {
    if (http.method != "POST")
      return exchange->respond(
          rehearsal_failure(base::make_error(base::Code::kMethodNotAllowed, "workloads are sent with POST")));
    auto question = read_question(http.body);
    if (!question.ok()) return exchange->respond(rehearsal_failure(question.error()));
    auto turn = desk_->begin(std::move(exchange));
    if (!turn) return;
    dry_run(*std::move(question), std::move(caller->send),
            [desk = desk_, turn](base::Result<RehearsedObjects> objects) { desk->rehearse(turn, std::move(objects)); });
  }

 private:
  const std::shared_ptr<RehearsalDesk> desk_;
};

RehearsalService::RehearsalService(const Host& scheduler, scheduler::Options options)
    : desk_(std::make_shared<RehearsalDesk>(
          [&scheduler](std::function<void(base::Result<std::string>)> done) {
            if (!scheduler.env) return done(base::make_error(base::Code::kUnavailable, "no scheduler runs here"));
            scheduler.env->loop().post(
                [&scheduler, done = std::move(done)] { done(dump_to_rehearse(scheduler.part.get())); });
          },
          std::move(options))) {}

RehearsalService::~RehearsalService() { stop(); }

std::shared_ptr<const apiserver::Beside> RehearsalService::beside() const { return std::make_shared<Door>(desk_); }

}  // namespace volcano_main
