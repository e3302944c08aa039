// The most that the rules of a stranger's schema may cost. Estimated when a definition is written, in the units and
// with the limits of the Kubernetes API server: from the sizes that the schema allows and, where it says none, from
// what fits into a request.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema/structural/structural.h"
#include "base/result.h"

namespace api::cel {

// The limit of one rule, for all values in one object that it is asked about; and of all rules of a schema.
inline constexpr std::uint64_t kRuleEstimateMax = 10'000'000;
inline constexpr std::uint64_t kSchemaEstimateMax = 100'000'000;

// The cost of evaluating `rule` once where `schema` is that of `self`; UINT64_MAX where that has no bound, 0 for a text
// that is not an expression.
std::uint64_t estimated_cost(std::string_view rule, const Structural& schema);

// Adds a cause for each rule below `root` whose estimate is above the limit, and for all together, in the words of
// Kubernetes. `path` is where `root` stands.
void check_rule_costs(const Structural& root, const std::string& path, std::vector<base::Cause>& causes);

}  // namespace api::cel
