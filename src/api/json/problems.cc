// Values in messages.
#include "api/json/problems.h"

#include "base/quote.h"
#include "base/utf8.h"

namespace api {

std::string shortened(std::string_view text, std::size_t bytes_max) {
  const std::string_view kept = base::utf8_prefix(text, bytes_max);
  std::string out(kept);
  if (kept.size() < text.size()) out += "...";
  return out;
}

std::string shown(const Json& value) {
  return shortened(value.is_string() ? base::go_quoted(value.as_string()) : value.dump());
}

}  // namespace api
