// Taking a log line apart.
#include "node/machine/cri_line.h"

namespace node {

bool parse_cri_line(std::string_view line, CriLine& out) {
  const std::size_t first = line.find(' ');
  if (first == std::string_view::npos) return false;
  const std::size_t second = line.find(' ', first + 1);
  if (second == std::string_view::npos || second + 2 > line.size()) return false;
  const std::size_t third = line.find(' ', second + 1);
  out.time = line.substr(0, first);
  out.stream = line.substr(first + 1, second - first - 1);
  out.partial = line[second + 1] == 'P';
  out.text = third == std::string_view::npos ? std::string_view() : line.substr(third + 1);
  return true;
}

}  // namespace node
