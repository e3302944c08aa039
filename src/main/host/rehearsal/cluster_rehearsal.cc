// Dry runs at the API server, and then the scheduler's own page.
#include "main/host/rehearsal/cluster_rehearsal.h"

#include <utility>

#include "base/format.h"
#include "ui/notebooks/passing_exchange.h"

namespace volcano_main {
namespace {

constexpr int kForbidden = 403, kNotFound = 404;

}  // namespace

void rehearse_on_cluster(const std::string& body, SendAsUser send, AskScheduler ask,
                         std::shared_ptr<rt::HttpExchange> exchange) {
  auto question = read_question(body);
  if (!question.ok()) return exchange->respond(rehearsal_failure(question.error()));
  dry_run(*std::move(question), std::move(send),
          [ask = std::move(ask), exchange = std::move(exchange)](base::Result<RehearsedObjects> objects) {
            if (!objects.ok()) return exchange->respond(rehearsal_failure(objects.error()));
            ask(text_of(*objects), exchange);
          });
}

void rehearse_through_server(const std::string& body, const SendAsUser& send, const std::string& service,
                             std::shared_ptr<rt::HttpExchange> exchange) {
  const std::size_t slash = service.find('/');
  std::string path = base::format("/api/v1/namespaces/{}/services/{}/proxy{}", service.substr(0, slash),
                                  service.substr(slash + 1), kRehearsalPath);
  const auto on_answer = [body, send, exchange, path = std::move(path)](int status, std::string answer) {
    // A server without that page says 404, or 403 to users who may not read its pages.
    if (status != kNotFound && status != kForbidden)
      return exchange->respond({status, {{"Content-Type", "application/json"}}, std::move(answer), {}});
    rehearse_on_cluster(
        body, send,
        [send, path](std::string question, std::shared_ptr<rt::HttpExchange> to) {
          send(rehearsal_request(path, std::move(question)), std::move(to));
        },
        exchange);
  };
  send(rehearsal_request(std::string(kRehearsalPath), body), ui::kept_answer(on_answer));
}

rt::HttpRequest rehearsal_request(std::string target, std::string body) {
  return {.method = "POST",
          .target = std::move(target),
          .headers = {{"Accept", "application/json"}, {"Content-Type", "application/json"}},
          .body = std::move(body)};
}

}  // namespace volcano_main
