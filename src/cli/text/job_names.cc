// Small letters, digits and single dashes.
#include "cli/text/job_names.h"

#include <algorithm>

namespace cli {

std::string job_name_of(std::string_view typed) {
  // The names of pods end with a task and an index, and have 63 letters at most.
  constexpr std::size_t kLengthMax = 45;
  std::string name;
  bool is_valid = typed.size() <= 63;
  for (char c : typed) {
    if (c >= 'A' && c <= 'Z') {
      is_valid = false;
      c = static_cast<char>(c - 'A' + 'a');
    }
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    is_valid = is_valid && (is_letter || c == '-' || c == '.');
    if (is_letter)
      name += c;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  if (is_valid && !typed.empty() && name.front() == typed.front() && name.back() == typed.back() && name.back() != '-')
    return std::string(typed);
  name.resize(std::min(name.size(), kLengthMax));
  while (name.ends_with('-')) name.pop_back();
  return name.empty() ? "job" : name;
}

std::string job_name_of_file(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  if (const std::size_t dot = path.rfind('.'); dot != std::string_view::npos && dot > 0) path = path.substr(0, dot);
  return job_name_of(path);
}

}  // namespace cli
