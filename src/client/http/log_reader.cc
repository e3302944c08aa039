// A log is the body of one answer, which may take its time.
#include "client/http/log_reader.h"

#include "api/meta/resource.h"
#include "base/format.h"
#include "client/http/server_connection.h"
#include "client/http/wire.h"

namespace client {
namespace {

// A server answers 204 for a pod that is on no node yet: there is a log, and nothing in it.
bool is_fine(int status) { return status == 200 || status == 204; }

}  // namespace

std::unique_ptr<rt::HttpStream> read_log(ServerConnection& connection, const LogRequest& request,
                                         std::function<void(std::string_view bytes)> on_data,
                                         std::function<void(base::Status)> on_end) {
  rt::HttpRequest http = encode_request({.verb = Verb::kGet,
                                         .resource = api::resources::kPods,
                                         .ns = request.ns,
                                         .name = request.pod,
                                         .subresource = "log"},
                                        {});
  char separator = '?';
  const auto add = [&](std::string_view key, std::string_view value) {
    http.target += base::format("{}{}={}", std::exchange(separator, '&'), key, value);
  };
  if (!request.container.empty()) add("container", rt::percent_encode(request.container));
  if (request.follow) add("follow", "true");
  if (request.tail_lines) add("tailLines", std::to_string(*request.tail_lines));
  connection.complete(http);
  struct Answer {
    rt::HttpResponse refusal;
    std::function<void(std::string_view)> on_data;
    std::function<void(base::Status)> on_end;
  };
  auto answer = std::make_shared<Answer>();
  answer->on_data = std::move(on_data);
  answer->on_end = std::move(on_end);
  return connection.http().stream(std::move(http), {.on_start =
                                                        [answer](int status, const rt::Headers& headers) {
                                                          answer->refusal.status = status;
                                                          answer->refusal.headers = headers;
                                                        },
                                                    .on_data =
                                                        [answer](std::string_view bytes) {
                                                          if (is_fine(answer->refusal.status))
                                                            return answer->on_data(bytes);
                                                          constexpr std::size_t kRefusalMax = 65'536;
                                                          if (answer->refusal.body.size() < kRefusalMax)
                                                            answer->refusal.body.append(bytes);
                                                        },
                                                    .on_end =
                                                        [answer](base::Status end) {
                                                          if (end.ok() && !is_fine(answer->refusal.status)) {
                                                            auto decoded = decode_response(answer->refusal);
                                                            end = decoded.ok() ? base::make_error(base::Code::kInternal,
                                                                                                  "the log was refused")
                                                                               : decoded.take_error();
                                                          }
                                                          answer->on_end(std::move(end));
                                                        }});
}

}  // namespace client
