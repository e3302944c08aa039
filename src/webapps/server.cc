// A handler runs until it lacks a fact, which the API is asked for with the user's rights; then it runs again.
#include "webapps/server.h"

#include <utility>

#include "api/json/json.h"
#include "base/format.h"
#include "base/split.h"
#include "pipelines/rest/body.h"
#include "webapps/answers.h"

namespace webapps {

using api::Json;
using base::Code;

namespace {

constexpr std::size_t kFactsMax = 1'000;  // no request needs more of them
constexpr std::string_view kHealth = "healthz/";

std::string_view path_of(std::string_view target) { return target.substr(0, target.find('?')); }

std::string token_of(base::Random& random) { return base::format("{:016x}{:016x}", random.next(), random.next()); }

// Objects are not looked up by id here.
const Facts::Ids& no_ids() {
  static const Facts::Ids kNone = {[](const auto&, std::string_view) { return std::nullopt; },
                                   [](const auto&, const auto&) { return std::string(); },
                                   [](const auto&, const auto&) { return std::nullopt; }};
  return kNone;
}

// A user's own bindings are in namespaces that the user may not list.
bool are_own_bindings(const client::Request& request, const Call& call) {
  return request.verb == client::Verb::kList && request.resource.plural == "rolebindings" && request.ns.empty() &&
         !call.user.empty() && call.query("user") == call.user;
}

}  // namespace

struct Server::Work {
  const App& app;
  pipelines::rest::Routed routed;
  std::shared_ptr<Asker> asker;
  std::shared_ptr<rt::HttpExchange> exchange;
  base::Time now;
  Facts::Known known = {};

  void fail(const base::Error& error) const { exchange->respond(bad_answer(app, routed.call.user, error)); }
};

bool Server::is_open(std::string_view path) {
  const App* app = app_of(path);
  return app != nullptr && path.substr(app->name.size() + 2).starts_with(kHealth);
}

void Server::serve(rt::HttpRequest http, std::shared_ptr<Asker> asker, std::shared_ptr<rt::HttpExchange> exchange) {
  const App* found = app_of(path_of(http.target));
  if (found == nullptr)  // its name was written in another way
    return exchange->respond({404, {{"Content-Type", "text/plain"}}, "no application has this path", {}});
  const App& app = *found;
  const std::string prefix = base::format("/{}/", app.name);
  const std::string user = asker ? asker->name() : std::string();
  const auto fail = [&](const base::Error& error) { exchange->respond(bad_answer(app, user, error)); };
  if (is_open(path_of(http.target))) return exchange->respond(good_answer(app, user, Json::object()));
  if (!asker) return fail(base::make_error(Code::kUnauthorized, "No user detected."));
  if (app.has_page && http.method == "GET" && path_of(http.target) == prefix)
    return exchange->respond(page_answer(app, token_of(env_.random()), true));
  if (app.has_page)
    if (const base::Status pair = check_pair(http); !pair.ok()) return fail(pair.error());
  const pipelines::rest::RouteTable table{prefix, app.routes};
  auto routed = pipelines::rest::route_in({&table, 1}, http.method, http.target);
  if (!routed.ok()) return fail(routed.error());
  auto work = std::make_shared<Work>(Work{app, *std::move(routed), std::move(asker), std::move(exchange), env_.now()});
  work->routed.call.user = user;
  if (const base::Status read = pipelines::rest::read_body(http, work->routed.call); !read.ok())
    return work->fail(read.error());
  go_on(work);
}

void Server::go_on(const std::shared_ptr<Work>& work) {
  Facts facts(no_ids(), work->known, work->now);
  auto reply = work->routed.handler(work->routed.call, facts);
  if (std::optional<client::Request>& next = facts.next()) {
    if (work->known.answers.size() < kFactsMax) return ask(work, *std::move(next));
    return work->fail(base::make_error(Code::kTooLarge, base::format("more than {} steps are needed", kFactsMax)));
  }
  if (!reply.ok()) return work->fail(reply.error());
  if (!reply->pass.empty()) return serve_lines(work, reply->pass);
  work->exchange->respond(good_answer(work->app, work->routed.call.user, std::move(reply->body)));
}

void Server::ask(const std::shared_ptr<Work>& work, client::Request request) {
  const bool is_own = are_own_bindings(request, work->routed.call);
  auto on_result = [this, alive = std::weak_ptr<int>(alive_), work](base::Result<Json> answer) {
    if (alive.expired()) return;
    work->known.answers.push_back(std::move(answer));
    go_on(work);
  };
  if (is_own) return client_.call(std::move(request), std::move(on_result));
  work->asker->call(std::move(request), std::move(on_result));
}

// {"logs": [line, ...]}, with an empty one behind the last, as Kubeflow answers.
void Server::serve_lines(const std::shared_ptr<Work>& work, std::string target) {
  work->asker->read(std::move(target), [alive = std::weak_ptr<int>(alive_), work](int status, std::string text) {
    if (alive.expired()) return;
    if (status != 200) {
      const auto reported = api::parse_json(text);
      return work->fail(base::make_error(
          base::code_for(reported.ok() ? (*reported)["reason"].as_string() : std::string_view(), status),
          reported.ok() ? (*reported)["message"].str() : text));
    }
    Json lines = Json::array();
    for (const std::string_view line : base::split(text, '\n')) lines.push_back(line);
    work->exchange->respond(good_answer(work->app, work->routed.call.user, Json::object({{"logs", std::move(lines)}})));
  });
}

}  // namespace webapps
