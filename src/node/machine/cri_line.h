// One line of a container's log file. Pure.
#pragma once

#include <string_view>

namespace node {

// One parsed line; views into it.
struct CriLine {
  std::string_view time;
  std::string_view stream;
  bool partial = false;
  std::string_view text;  // without the newline
};
bool parse_cri_line(std::string_view line, CriLine& out);

}  // namespace node
