// The user's own dry runs admit and complete the workloads, so that the rights to create them are those to ask.
#include "main/host/rehearsal/question.h"

#include <utility>

#include "api/json/json.h"
#include "base/format.h"
#include "client/http/request_names.h"
#include "client/http/wire.h"
#include "main/host/rehearsal/proposal.h"
#include "ui/notebooks/passing_exchange.h"

namespace volcano_main {
namespace {

using api::Json;

constexpr std::size_t kObjectsMax = 50;

base::Error refused(std::string message) { return base::make_error(base::Code::kInvalid, std::move(message)); }

bool is_claim(const Json& item) {
  return item["kind"].as_string() == "PersistentVolumeClaim" && item["apiVersion"].as_string() == "v1";
}

base::Result<std::vector<Json>> read_items(const std::string& body) {
  TRY(const Json sent, api::parse_json(body));
  std::vector<Json> items = sent["kind"].as_string() == "List"
                                ? std::vector(sent["items"].items().begin(), sent["items"].items().end())
                                : std::vector{sent};
  if (items.size() > kObjectsMax) return refused(base::format("items: more than {} objects", kObjectsMax));
  for (const Json& item : items) {
    if (is_claim(item)) continue;
    if (!proposed_resource(item))
      return refused(
          base::format("kind: {} of {} is not rehearsed; Jobs, training jobs, pods and their PodGroups are, "
                       "and volume claims with them",
                       item["kind"].as_string(), item["apiVersion"].as_string()));
    if (api::namespace_of(item).empty())
      return refused(base::format("metadata.namespace of the {}: required", item["kind"].as_string()));
  }
  return items;
}

// Dry runs that are under way.
class DryRuns : public std::enable_shared_from_this<DryRuns> {
 public:
  DryRuns(RehearsalQuestion question, SendAsUser send, std::function<void(base::Result<RehearsedObjects>)> done)
      : question_(std::move(question)), send_(std::move(send)), done_(std::move(done)) {}

  void next() {
    const std::size_t at = question_.objects.workloads.size();
    if (at == question_.dry_runs.size()) return done_(std::move(question_.objects));
    send_(client::encode_request(question_.dry_runs[at], "volcano-rehearsal"),
          ui::kept_answer([self = shared_from_this()](int status, const std::string& body) {
            auto made = client::decode_response({status, {}, body, {}}, nullptr, false);
            if (!made.ok()) return self->done_(made.take_error());
            self->question_.objects.workloads.push_back(*std::move(made));
            self->next();
          }));
  }

 private:
  RehearsalQuestion question_;
  const SendAsUser send_;
  const std::function<void(base::Result<RehearsedObjects>)> done_;
};

}  // namespace

base::Result<RehearsalQuestion> read_question(const std::string& body) {
  TRY(const std::vector<Json> items, read_items(body));
  RehearsalQuestion question;
  for (const Json& item : items) {
    if (is_claim(item)) {
      question.objects.claims.push_back(item);
      continue;
    }
    client::Request dry_run;
    dry_run.verb = client::Verb::kCreate;
    dry_run.resource = *proposed_resource(item);
    dry_run.dry_run = true;
    dry_run.body = item;
    dry_run.ns = std::string(api::namespace_of(item));
    TRY_VOID(client::check_names(dry_run));
    question.dry_runs.push_back(std::move(dry_run));
  }
  if (question.dry_runs.empty()) return refused("items: no workload is among them");
  return question;
}

base::Result<RehearsedObjects> read_completed(const std::string& body) {
  TRY(std::vector<Json> items, read_items(body));
  RehearsedObjects objects;
  for (Json& item : items) (is_claim(item) ? objects.claims : objects.workloads).push_back(std::move(item));
  if (objects.workloads.empty()) return refused("items: no workload is among them");
  return objects;
}

std::string text_of(const RehearsedObjects& objects) {
  std::vector<Json> items = objects.workloads;
  items.insert(items.end(), objects.claims.begin(), objects.claims.end());
  return Json::object({{"apiVersion", "v1"}, {"kind", "List"}, {"items", Json::array(std::move(items))}}).dump();
}

void dry_run(RehearsalQuestion question, SendAsUser send, std::function<void(base::Result<RehearsedObjects>)> done) {
  std::make_shared<DryRuns>(std::move(question), std::move(send), std::move(done))->next();
}

rt::HttpResponse rehearsal_answer(int status, const Json& body) {
  return {status, {{"Content-Type", "application/json"}}, body.dump() + "\n", {}};
}

rt::HttpResponse rehearsal_failure(const base::Error& error) {
  return rehearsal_answer(base::http_status(error.code), Json::object({{"message", error.message}}));
}

}  // namespace volcano_main
