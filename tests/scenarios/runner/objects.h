// How do the short lines of a scenario become API objects?
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json/json.h"
#include "api/resource.h"
#include "base/result.h"

namespace scenario {

// "pod ml/a-{0..2} cpu=2 node=n1" without its ranges: words, and key=value pairs in their order.
struct Line {
  std::string verb;
  std::string name;
  std::vector<std::pair<std::string, std::string>> fields;
  api::Json patch;  // merged over the object that the line makes
  int number = 0;

  const std::string* find(std::string_view key) const;
  std::string get(std::string_view key, std::string_view fallback = "") const;
};

base::Result<Line> parse_line(std::string_view text, int number);
// "a-{0..2}" gives three names; others one.
std::vector<std::string> expand(const std::string& name);

struct Made {
  api::ResourceId resource;
  api::Json object;
};
// Nothing when the verb does not make an object.
base::Result<std::optional<Made>> object_for(const Line& line, const std::string& name, std::int64_t order);

}  // namespace scenario
