// The loads that the product's goals name, as objects, one JSON line each, from a seed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct Load {
  std::string_view name;
  std::string_view meaning;
  double goal_cpu_s;
  std::string_view config;  // empty: the default
  bool until_idle;
  // Objects of each phase; `scale` 1.0 is the whole size. The last phase is the one measured.
  std::vector<std::string> (*phases)(double scale);
};
const std::vector<Load>& loads();

}  // namespace bench
