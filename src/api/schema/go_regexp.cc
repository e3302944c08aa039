// A parenthesis in a class of letters, behind a backslash or between \Q and \E begins no group.
#include "api/schema/go_regexp.h"

#include <algorithm>
#include <cstddef>

namespace api {

std::string re2_syntax(std::string_view expression) {
  std::string out;
  bool in_class = false;
  for (std::size_t i = 0; i < expression.size(); ++i) {
    const std::string_view rest = expression.substr(i);
    if (rest.starts_with("\\Q") && !in_class) {  // as it stands, up to \E
      const std::size_t end = std::min(rest.find("\\E"), rest.size());
      out += rest.substr(0, end);
      i += end - 1;
    } else if (rest[0] == '\\') {
      out += rest.substr(0, 2);
      ++i;
    } else if (in_class && rest.starts_with("[:")) {
      const std::size_t end = std::min(rest.find(":]"), rest.size() - 2) + 2;
      out += rest.substr(0, end);
      i += end - 1;
    } else if (in_class || rest[0] == '[') {
      // A ']' that comes first is a letter of the class.
      const std::size_t first = in_class ? 0 : rest.starts_with("[^") ? 2 : 1;
      const bool letter = !in_class && rest.size() > first && rest[first] == ']';
      in_class = in_class ? rest[0] != ']' : true;
      const std::size_t taken = std::max<std::size_t>(1, first + (letter ? 1 : 0));
      out += rest.substr(0, taken);
      i += taken - 1;
    } else if (rest.starts_with("(?<") && !rest.starts_with("(?<=") && !rest.starts_with("(?<!")) {
      out += "(?P<";
      i += 2;
    } else {
      out += rest[0];
    }
  }
  return out;
}

}  // namespace api
