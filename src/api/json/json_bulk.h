// Questions and edits that concern many members at once: each looks at a value once, however much of it changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"

namespace api {

// Takes out the members for which `gone` says so; the others keep their order. Returns how many went.
std::size_t erase_members(Json& object, const std::function<bool(const Json::Member&)>& gone);
std::size_t erase_members(Json& object, const std::set<std::string, std::less<>>& names);

// How large a value is: as text (about: escapes are not counted), how deeply it is nested (a scalar: 0), and of how
// many values it is made.
struct Extent {
  std::size_t bytes = 0;
  std::size_t levels = 0;
  std::size_t values = 0;
};
struct ExtentLimits {
  std::size_t bytes = SIZE_MAX;
  std::size_t levels = SIZE_MAX;
  std::size_t values = SIZE_MAX;
};
// Empty beyond any limit; stops there, so that a value whose parts are shared a million times costs no more than one at
// the limit.
std::optional<Extent> extent_within(const Json& value, const ExtentLimits& most);

// Appends the path of a key that occurs twice, shortened, unless there are enough already: a body can repeat a key a
// hundred thousand times below a name a megabyte long.
void record_duplicate(std::vector<std::string>& paths, std::string_view path);

// Equal values have equal texts (to look items up by value); different ones different texts.
std::string identity_of(const Json& value);

}  // namespace api
