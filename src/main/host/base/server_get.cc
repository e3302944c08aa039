// One request on a connection of its own.
#include "main/host/base/server_get.h"

#include <memory>
#include <utility>

#include "base/format.h"
#include "client/http/server_connection.h"
#include "main/host/base/component.h"

namespace volcano_main {

base::Result<rt::HttpResponse> ask_server(const client::ServerAccess& access, rt::HttpRequest request) {
  auto env = rt::make_real_env("ask");
  using Answer = base::Result<rt::HttpResponse>;
  std::unique_ptr<client::ServerConnection> connection;
  Answer answer = on_loop<Answer>(*env, [&](auto done) {
    auto opened = client::ServerConnection::open(access, "volcano", *env);
    if (!opened.ok()) return done(opened.take_error());
    connection = *std::move(opened);
    connection->complete(request);
    connection->http().send(std::move(request), [done](Answer found) { done(std::move(found)); });
  });
  on_loop<bool>(*env, [&connection](auto done) {
    connection.reset();
    done(true);
  });
  env->stop();
  return answer;
}

base::Result<api::Json> object_of(const rt::HttpResponse& answer, const std::string& server,
                                  const std::string& target) {
  const auto body = api::parse_json(answer.body);
  if (answer.status == 200 && body.ok()) return *body;
  const std::string server_text = body.ok() ? (*body)["message"].str() : std::string();
  if (server_text.empty())
    return base::make_error(base::Code::kNotFound, base::format("{} does not serve {}: {}", server,
                                                                target.substr(0, target.find('?')), answer.status));
  return base::make_error(base::Code::kInvalid, server_text);
}

base::Result<api::Json> get_from_server(const client::ServerAccess& access, const std::string& target) {
  TRY(const rt::HttpResponse answer, ask_server(access, {.method = "GET", .target = target}));
  return object_of(answer, access.server, target);
}

}  // namespace volcano_main
