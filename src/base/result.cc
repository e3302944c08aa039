// Codes, reasons and HTTP statuses: one row each.
#include "base/result.h"

#include <array>

namespace base {
namespace {

struct Row {
  Code code;
  std::string_view reason;
  int http;
};

constexpr std::array kRows{
    Row{Code::kBadRequest, "BadRequest", 400},
    Row{Code::kDenied, "", 400},
    Row{Code::kUnauthorized, "Unauthorized", 401},
    Row{Code::kForbidden, "Forbidden", 403},
    Row{Code::kNotFound, "NotFound", 404},
    Row{Code::kMethodNotAllowed, "MethodNotAllowed", 405},
    Row{Code::kNotAcceptable, "NotAcceptable", 406},
    Row{Code::kAlreadyExists, "AlreadyExists", 409},
    Row{Code::kConflict, "Conflict", 409},
    Row{Code::kExpired, "Expired", 410},
    Row{Code::kGone, "Gone", 410},
    Row{Code::kTooLarge, "RequestEntityTooLarge", 413},
    Row{Code::kUnsupportedMediaType, "UnsupportedMediaType", 415},
    Row{Code::kInvalid, "Invalid", 422},
    Row{Code::kTooManyRequests, "TooManyRequests", 429},
    Row{Code::kInternal, "InternalError", 500},
    Row{Code::kUnavailable, "ServiceUnavailable", 503},
    Row{Code::kTimeout, "Timeout", 504},
};

}  // namespace

std::string_view reason(Code code) {
  for (const Row& row : kRows)
    if (row.code == code) return row.reason;
  return "InternalError";
}

int http_status(Code code) {
  for (const Row& row : kRows)
    if (row.code == code) return row.http;
  return 500;
}

Code code_for(std::string_view reason, int http_status) {
  for (const Row& row : kRows)
    if (!reason.empty() && row.reason == reason) return row.code;
  if (http_status == 409) return Code::kConflict;
  for (const Row& row : kRows)
    if (row.http == http_status) return row.code;
  return Code::kInternal;
}

Error make_error(Code code, std::string message) { return Error{.code = code, .message = std::move(message)}; }

Error within(Error error, std::string_view where) {
  error.message = std::string(where) + ": " + error.message;
  return error;
}

}  // namespace base
