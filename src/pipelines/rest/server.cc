// A handler runs until it lacks a fact, which the API is asked for with the user's rights; then it runs again.
#include "pipelines/rest/server.h"

#include <utility>

#include "base/base64.h"
#include "base/format.h"
#include "pipelines/rest/answers.h"
#include "pipelines/rest/body.h"
#include "pipelines/rest/nodes.h"
#include "pipelines/rest/routes.h"

namespace pipelines::rest {

using base::Code;

namespace {

constexpr base::Duration kNamesMax = base::seconds(10);  // so long a request waits for the names of objects
constexpr std::size_t kFactsMax = 10'000;                // no request needs more of them

std::string_view path_of(std::string_view target) { return target.substr(0, target.find('?')); }

bool is_write(client::Verb verb) { return verb != client::Verb::kGet && verb != client::Verb::kList; }

}  // namespace

struct Server::Work {
  Routed routed;
  std::shared_ptr<Asker> asker;
  std::shared_ptr<rt::HttpExchange> exchange;
  base::Time now;
  Facts::Known known = {};
  bool has_begun = false;
};

Server::Server(rt::Env& env, client::Client& client, ServerOptions options)
    : env_(env), index_(client, env, options.ns), objects_(env), more_(options.more) {
  ids_ = {[this](const api::ResourceId& resource, std::string_view id) { return index_.find(resource, id); },
          [this](const api::ResourceId& resource, const ObjectKey& key) { return index_.id_of(resource, key); },
          [this](const api::ResourceId& resource, const std::string& ns) { return index_.rows(resource, ns); }};
  read_file_ = options.read_file;
}

bool Server::has(std::string_view path) { return path == kPrefix || path.starts_with(std::string(kPrefix) + "/"); }

bool Server::is_open(std::string_view path) {
  return path == "/pipeline/apis/v2beta1/healthz" || path == "/pipeline/apis/v1beta1/healthz";
}

void Server::serve(rt::HttpRequest http, std::shared_ptr<Asker> asker, std::shared_ptr<rt::HttpExchange> exchange) {
  auto routed = route(http.method, std::string_view(http.target).substr(kPrefix.size()), more_);
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
  index_.on_synced([this, work] {
    if (!std::exchange(work->has_begun, true)) go_on(work);
  });
  env_.loop().after(kNamesMax, [this, alive = std::weak_ptr<int>(alive_), work] {
    if (alive.expired() || std::exchange(work->has_begun, true)) return;
    const std::string why = index_.trouble();
    work->exchange->respond(error_answer(base::make_error(
        Code::kUnavailable, "the names of objects are not known yet" + (why.empty() ? why : ": " + why))));
  });
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
      if (is_made && answer.ok()) index_.record(resource, *answer);
      work->known.answers.push_back(std::move(answer));
      go_on(work);
    });
  }
  if (!reply.ok()) return work->exchange->respond(error_answer(reply.error()));
  if (!reply->pass.empty()) return work->asker->pass(reply->pass, work->exchange);
  if (reply->file) return serve_file(*reply->file, work->exchange);
  if (reply->object) return serve_object(*reply->object, work->exchange);
  work->exchange->respond(json_answer(reply->body));
}

namespace {

// The bytes in base64, as the gateway writes them.
rt::HttpResponse answer_of(const base::Result<StoredBytes>& bytes, bool is_page) {
  if (!bytes.ok()) return error_answer(bytes.error());
  if (is_page) return frame_answer(bytes->bytes);
  api::Json answer = api::Json::object(
      {{"data", base::base64_encode(bytes->bytes)}, {"size", static_cast<std::int64_t>(bytes->size)}});
  if (bytes->is_folder) answer.set("archive", "tar");
  return json_answer(answer);
}

}  // namespace

void Server::serve_object(const StoredObject& object, const std::shared_ptr<rt::HttpExchange>& exchange) {
  objects_.read(object, [exchange, is_page = object.is_page](const base::Result<StoredBytes>& bytes) {
    exchange->respond(answer_of(bytes, is_page));
  });
}

void Server::serve_file(const StoredFile& file, const std::shared_ptr<rt::HttpExchange>& exchange) {
  if (!read_file_)
    return exchange->respond(error_answer(
        base::make_error(Code::kMethodNotAllowed,
                         base::format("the artifact is in the volume of the claim {}/{}, which is not mounted here. "
                                      "This reads it as you, with any image that has tar: {}",
                                      file.ns, file.claim, command_to_read(file)))));
  const auto answer = std::make_shared<rt::HttpResponse>();
  env_.offload([answer, file, read = read_file_] { *answer = answer_of(read(file), file.is_page); },
               [answer, exchange] { exchange->respond(std::move(*answer)); });
}

}  // namespace pipelines::rest
