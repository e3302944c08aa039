// How is a line of a scenario read?
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json/json.h"
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

// The parts between `by` that are not empty.
std::vector<std::string> split(std::string_view text, char by);
// As split(), by spaces that stand in no parentheses.
std::vector<std::string> words_of(std::string_view text);
// "a-{0..1}(cpu=2 shared) b": a line for each, without a verb. A word in parentheses within those is a field whose key
// is the whole word.
std::vector<Line> items_of(std::string_view text);
// "cpu:2,memory:4Gi"; the values as texts, or as numbers.
api::Json map_from(std::string_view text, bool numbers = false);

}  // namespace scenario
