// One POST, with the asker's own credentials.
#include "main/host/base/page_link.h"

#include <utility>

#include "api/json/json.h"
#include "base/format.h"
#include "main/host/base/server_get.h"

namespace volcano_main {

using base::Result;

Result<PageLink> page_link(const client::ServerAccess& access, const std::string& as_user, const std::string& to) {
  rt::HttpRequest request{.method = "POST", .target = "/ui/link"};
  if (!as_user.empty()) request.headers.emplace_back("Impersonate-User", as_user);
  const Result<rt::HttpResponse> answer = ask_server(access, std::move(request));
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
