// One POST, with the asker's own credentials.
#include "main/host/base/page_link.h"

#include <memory>
#include <utility>

#include "api/json/json.h"
#include "base/format.h"
#include "client/http/server_connection.h"
#include "main/host/base/component.h"

namespace volcano_main {

using base::Result;

Result<PageLink> page_link(const client::ServerAccess& access, const std::string& as_user, const std::string& to) {
  auto env = rt::make_real_env("link");
  using Answer = Result<rt::HttpResponse>;
  std::unique_ptr<client::ServerConnection> connection;
  const Answer answer = on_loop<Answer>(*env, [&](auto done) {
    auto opened = client::ServerConnection::open(access, "volcano-ui", *env);
    if (!opened.ok()) return done(opened.take_error());
    connection = *std::move(opened);
    rt::HttpRequest request{.method = "POST", .target = "/ui/link"};
    if (!as_user.empty()) request.headers.emplace_back("Impersonate-User", as_user);
    connection->complete(request);
    connection->http().send(std::move(request), [done](Answer found) { done(std::move(found)); });
  });
  on_loop<bool>(*env, [&connection](auto done) {
    connection.reset();
    done(true);
  });
  env->stop();
  if (!answer.ok()) return answer.error();
  if (answer->status == 404)
    return base::make_error(base::Code::kNotFound, base::format("{} serves no page; `volcano ui` does", access.server));
  if (answer->status != 200)
    return base::make_error(base::Code::kInvalid,
                            base::format("{} gives no link: {} {}", access.server, answer->status, answer->body));
  TRY(const api::Json body, api::parse_json(answer->body));
  std::string server = access.server;
  while (server.ends_with('/')) server.pop_back();
  server += body["link"].as_string();
  if (!to.empty()) server += "&to=" + rt::percent_encode(to);
  return PageLink{server, body["user"].str()};
}

}  // namespace volcano_main
