// A handler runs until it lacks a fact, which the API is asked for with the user's rights; then it runs again.
#include "pipelines/rest/server.h"

#include <utility>

#include "base/format.h"
#include "pipelines/rest/answers.h"
#include "pipelines/rest/body.h"
#include "pipelines/rest/routes.h"

namespace pipelines::rest {

using base::Code;

namespace {

constexpr std::string_view kInternal = "/pipeline/internal/", kBearer = "Bearer ";
constexpr std::size_t kFactsMax = 10'000;  // no request needs more of them

std::string_view path_of(std::string_view target) { return target.substr(0, target.find('?')); }

bool is_write(client::Verb verb) { return verb != client::Verb::kGet && verb != client::Verb::kList; }

}  // namespace

struct Server::Work {
  Routed routed;
  std::shared_ptr<Asker> asker;
  std::shared_ptr<rt::HttpExchange> exchange;
  base::Time now;
  Facts::Known known = {};
};

Server::Server(rt::Env& env, client::Client& client, ServerOptions options)
    : env_(env), index_(client, env, options.ns) {
  ids_ = {[this](const api::ResourceId& resource, std::string_view id) { return index_.find(resource, id); },
          [this](const api::ResourceId& resource, const ObjectKey& key) { return index_.id_of(resource, key); }};
  if (options.reports) reports_ = options.reports(env, client);
}

bool Server::has(std::string_view path) { return path == kPrefix || path.starts_with(std::string(kPrefix) + "/"); }

bool Server::is_open(std::string_view path) {
  return path == "/pipeline/apis/v2beta1/healthz" || path == "/pipeline/apis/v1beta1/healthz";
}

void Server::serve(rt::HttpRequest http, std::shared_ptr<Asker> asker, std::shared_ptr<rt::HttpExchange> exchange) {
  if (http.target.starts_with(kInternal)) return serve_task(http, exchange);
  auto routed = route(http.method, std::string_view(http.target).substr(kPrefix.size()));
  if (!routed.ok()) return exchange->respond(error_answer(routed.error()));
  if (!asker && !is_open(path_of(http.target)))
    return exchange->respond(error_answer(base::make_error(Code::kUnauthorized, "Unauthorized")));
  auto work = std::make_shared<Work>(Work{*std::move(routed), std::move(asker), std::move(exchange), env_.now()});
  if (work->asker) work->routed.call.own_namespace = work->asker->own_namespace();
  if (base::Status read = read_body(http, work->routed.call); !read.ok())
    return work->exchange->respond(error_answer(read.error()));
  begin(work);
}

// Before all names are known, an id would be said to be unknown that is not.
void Server::begin(const std::shared_ptr<Work>& work) {
  if (!work->asker || index_.synced()) return go_on(work);
  index_.on_synced([this, work] { go_on(work); });
}

void Server::go_on(const std::shared_ptr<Work>& work) {
  Facts facts(ids_, work->known, work->now);
  auto reply = work->routed.handler(work->routed.call, facts);
  if (std::optional<client::Request>& next = facts.next()) {
    if (work->known.answers.size() >= kFactsMax)
      return work->exchange->respond(
          error_answer(base::make_error(Code::kTooLarge, base::format("more than {} steps are needed", kFactsMax))));
    const api::ResourceId resource = next->resource;
    const bool is_made = is_write(next->verb) && !next->dry_run;
    return work->asker->call(*std::move(next), [this, alive = std::weak_ptr<int>(alive_), work, resource,
                                                is_made](base::Result<api::Json> answer) {
      if (alive.expired()) return;
      if (is_made && answer.ok()) index_.note(resource, *answer);
      work->known.answers.push_back(std::move(answer));
      go_on(work);
    });
  }
  if (!reply.ok()) return work->exchange->respond(error_answer(reply.error()));
  if (!reply->pass.empty()) return work->asker->pass(reply->pass, work->exchange);
  if (reply->bytes)
    return work->exchange->respond({200, {{"Content-Type", "application/octet-stream"}}, *std::move(reply->bytes), {}});
  work->exchange->respond(json_answer(reply->body));
}

void Server::serve_task(const rt::HttpRequest& http, const std::shared_ptr<rt::HttpExchange>& exchange) {
  if (!reports_)
    return exchange->respond(error_answer(base::make_error(Code::kNotFound, "no reports of launchers are taken here")));
  const std::string_view authorization = rt::header(http.headers, "Authorization");
  TaskRequest request{
      .method = http.method,
      .path = rt::parse_target(http.target).path.substr(kInternal.size()),
      .token = authorization.starts_with(kBearer) ? std::string(authorization.substr(kBearer.size())) : std::string(),
      .body = http.body};
  reports_->take(std::move(request), [exchange](rt::HttpResponse answer) { exchange->respond(std::move(answer)); });
}

}  // namespace pipelines::rest
