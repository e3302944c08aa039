// Paths into JSON as kubectl and printer columns write them: ".spec.names[0]", ".status.conditions[?(@.type=="Ready")]
// .status", ".metadata.labels['a.b']", "..name".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"

namespace api {

class JsonPath {
 public:
  // Without the braces of kubectl. Errors say what is wrong with the text.
  static base::Result<JsonPath> parse(std::string_view text);

  // The values at the path, in order: none where something on the way is not there. Pointers live as long as `from`.
  // Looks at so many values at most, and ends there.
  std::vector<const Json*> find(const Json& from) const;

 private:
  struct Step {
    enum class Kind : std::uint8_t { kMember, kIndex, kSlice, kAll, kDeep, kFilter };
    Kind kind = Kind::kMember;
    std::string name = {};  // kMember, kDeep
    std::int64_t begin = 0, end = 0;
    bool has_end = false;
    // kFilter: the two sides; a side without a path is a value.
    std::string compare = {};  // "==", "!=", "<", "<=", ">", ">="; empty: the left side is there
    std::vector<Step> left = {}, right = {};
    bool left_is_path = false, right_is_path = false;
    Json left_value = {}, right_value = {};
  };
  class Parser;
  struct Search;

  std::vector<Step> steps_;
};

}  // namespace api
