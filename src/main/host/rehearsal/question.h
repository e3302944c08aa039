// The question of a rehearsal: the workloads of a request's body, and how their user's dry runs complete them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/client.h"
#include "main/host/rehearsal/rehearsal.h"
#include "rt/http/http.h"

namespace volcano_main {

inline constexpr std::string_view kRehearsalPath = "/debug/rehearsal";

// Each workload is created in a dry run, and stands in `objects` when that is over.
struct RehearsalQuestion {
  std::vector<client::Request> dry_runs;
  RehearsedObjects objects;
};

// `body`: a Job, a training job, a Job of batch/v1, a pod, or a List of them with their PodGroups and volume claims.
// The error names the field, or the kind that is not rehearsed.
base::Result<RehearsalQuestion> read_question(const std::string& body);
// The objects of a body that was completed already, by dry runs of another program.
base::Result<RehearsedObjects> read_completed(const std::string& body);
// The text that read_completed() reads.
std::string text_of(const RehearsedObjects& objects);

// Makes a request to the API with the rights of the user who asks.
using SendAsUser = std::function<void(rt::HttpRequest, std::shared_ptr<rt::HttpExchange>)>;
// Dry runs one after the other. The first that the server refuses is the result. `done` comes once, from any thread.
void dry_run(RehearsalQuestion question, SendAsUser send, std::function<void(base::Result<RehearsedObjects>)> done);

// Answers of the path, as JSON.
rt::HttpResponse rehearsal_answer(int status, const api::Json& body);
rt::HttpResponse rehearsal_failure(const base::Error& error);

}  // namespace volcano_main
