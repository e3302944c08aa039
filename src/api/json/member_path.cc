// How such paths are walked.
#include "api/json/member_path.h"

#include <algorithm>

namespace api {

std::string_view next_member(std::string_view& path) {
  path.remove_prefix(1);
  const std::size_t dot = std::min(path.find('.'), path.size());
  const std::string_view name = path.substr(0, dot);
  path.remove_prefix(dot);
  return name;
}

const Json& at_members(const Json& object, std::string_view path) {
  const Json* at = &object;
  while (!path.empty()) at = &(*at)[next_member(path)];
  return *at;
}

}  // namespace api
