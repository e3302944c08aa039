// The end of one JSON value in a text that goes on.
#include "scheduler/dump/json_text.h"

#include <algorithm>

namespace scheduler {
namespace {

std::size_t end_of_string(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      return i + 1;
  }
  return text.size();
}

std::size_t end_of_value(std::string_view text) {
  if (text.empty()) return 0;
  if (text[0] == '"') return end_of_string(text);
  if (text[0] != '{' && text[0] != '[') {
    // null, true, false or a number: none of them holds an upper case letter or opens anything.
    const std::size_t end = text.find_first_not_of(text[0] == 'n'   ? "nul"
                                                   : text[0] == 't' ? "true"
                                                   : text[0] == 'f' ? "false"
                                                                    : "0123456789+-.");
    return std::min(end, text.size());
  }
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      i += end_of_string(text.substr(i)) - 1;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return i + 1;
    }
  }
  return text.size();
}

}  // namespace

api::Json take_json(std::string_view& rest) {
  const std::size_t end = end_of_value(rest);
  auto parsed = api::parse_json(rest.substr(0, end));
  rest.remove_prefix(end);
  return parsed.ok() ? *std::move(parsed) : api::Json();
}

}  // namespace scheduler
