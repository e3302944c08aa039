// Kubernetes' codes stand for those of RPCs, from which the HTTP status follows as the gateway maps it.
#include "pipelines/rest/answers.h"

namespace pipelines::rest {

using api::Json;
using base::Code;

namespace {

struct RpcCode {
  int number;  // google.rpc.Code
  int http;
};

RpcCode rpc_code(Code code) {
  switch (code) {
    case Code::kBadRequest:
    case Code::kDenied:
    case Code::kInvalid:
    case Code::kNotAcceptable:
    case Code::kUnsupportedMediaType: return {3, 400};
    case Code::kTooLarge: return {3, 413};
    case Code::kUnauthorized: return {16, 401};
    case Code::kForbidden: return {7, 403};
    case Code::kNotFound: return {5, 404};
    case Code::kMethodNotAllowed: return {12, 501};
    case Code::kAlreadyExists: return {6, 409};
    case Code::kConflict: return {10, 409};
    case Code::kExpired:
    case Code::kGone: return {9, 400};
    case Code::kTooManyRequests: return {8, 429};
    case Code::kUnavailable: return {14, 503};
    case Code::kTimeout: return {4, 504};
    case Code::kInternal: break;
  }
  return {13, 500};
}

}  // namespace

rt::HttpResponse json_answer(const Json& body) {
  return {200, {{"Content-Type", "application/json"}, {"X-Content-Type-Options", "nosniff"}}, body.dump(), {}};
}

rt::HttpResponse frame_answer(std::string html) {
  return {200,
          {{"Content-Type", "text/html; charset=utf-8"},
           {"Content-Security-Policy",
            "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"},
           {"X-Content-Type-Options", "nosniff"},
           {"Referrer-Policy", "no-referrer"},
           {"Cross-Origin-Resource-Policy", "same-origin"},
           {"Cache-Control", "no-store"}},
          std::move(html),
          {}};
}

Json failure(std::string_view message) {
  constexpr int kUnknown = 2;
  return Json::object({{"code", kUnknown}, {"message", message}});
}

rt::HttpResponse error_answer(const base::Error& error) {
  const RpcCode code = rpc_code(error.code);
  Json detail = Json::object(
      {{"@type", "type.googleapis.com/google.rpc.Status"}, {"code", code.number}, {"message", error.message}});
  Json body = Json::object({{"error", error.message},
                            {"code", code.number},
                            {"message", error.message},
                            {"details", Json::array({std::move(detail)})}});
  rt::HttpResponse response = json_answer(body);
  response.status = code.http;
  if (error.retry_after_seconds > 0)
    response.headers.emplace_back("Retry-After", std::to_string(error.retry_after_seconds));
  return response;
}

}  // namespace pipelines::rest
