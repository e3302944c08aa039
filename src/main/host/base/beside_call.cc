// Answers come on other threads, and are posted to the loop whole.
#include "main/host/base/beside_call.h"

#include <utility>

#include "client/http/request_names.h"
#include "client/http/wire.h"
#include "ui/notebooks/passing_exchange.h"

namespace volcano_main {

void call_beside(const apiserver::BesideCaller& caller, rt::Loop& loop, const std::string& manager,
                 client::Request request, client::Client::OnResult on_result) {
  if (base::Status names = client::check_names(request); !names.ok())
    return loop.post([error = names.take_error(), on_result = std::move(on_result)] { on_result(error); });
  rt::HttpRequest http = client::encode_request(request, manager);
  http.headers.emplace_back("User-Agent", manager);
  const bool is_list = request.verb == client::Verb::kList;
  caller.send(std::move(http), ui::kept_answer([&loop, only = request.only, is_list, on_result = std::move(on_result)](
                                                   int status, std::string body) {
                loop.post([only, is_list, on_result, status, body = std::move(body)] {
                  on_result(client::decode_response({status, {}, body, {}}, only, is_list));
                });
              }));
}

void read_beside(const apiserver::BesideCaller& caller, rt::Loop& loop, std::string target,
                 std::function<void(int status, std::string body)> on_text) {
  caller.send({.method = "GET", .target = std::move(target)},
              ui::kept_answer([&loop, on_text = std::move(on_text)](int status, std::string body) {
                loop.post([on_text, status, body = std::move(body)]() mutable { on_text(status, std::move(body)); });
              }));
}

}  // namespace volcano_main
