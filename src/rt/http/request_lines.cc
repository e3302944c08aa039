// Every byte of what makes up the head of a request.
#include "rt/http/request_lines.h"

#include <algorithm>

#include "base/format.h"

namespace rt {

namespace {

constexpr std::string_view kLineEnds("\r\n\0", 3);

}  // namespace

base::Status check_lines(const HttpRequest& request) {
  const auto invalid = [](std::string why) { return base::make_error(base::Code::kInvalid, std::move(why)); };
  const auto is_word = [](std::string_view text) {
    return std::ranges::none_of(text, [](unsigned char c) { return c <= ' ' || c == 0x7f; });
  };
  const auto is_line = [](std::string_view text) { return text.find_first_of(kLineEnds) == std::string_view::npos; };
  if (!is_word(request.method)) return invalid(base::format("{:?} is not an HTTP method", request.method));
  if (!is_word(request.target))
    return invalid(base::format("the target {:?} has a blank or a control character", request.target));
  for (const auto& [name, value] : request.headers) {
    if (!is_line(name)) return invalid(base::format("{:?} is not a name of a header", name));
    // Its value may be a secret.
    if (!is_line(value)) return invalid(base::format("the header {} has an end of line or a zero byte", name));
  }
  return {};
}

}  // namespace rt
