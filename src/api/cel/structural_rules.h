// The rules of a stranger's schema that are expressions (x-kubernetes-validations): compiled once, judged as the
// Kubernetes API server judges them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "api/cel/expression.h"
#include "api/cel/patterns.h"
#include "api/schema/structural/structural.h"
#include "base/result.h"

namespace api::cel {

// The limit of all rules of one object together.
inline constexpr std::uint64_t kRulesCostMax = 10 * kCostMax;

class StructuralRules {
 public:
  // Compiles the rules of `root`, which must outlive this; adds what is wrong with them, and with defaults that break
  // them, by their place below `path` (empty: a stored schema, judged before). `patterns`: of the whole definition.
  StructuralRules(const Structural& root, const std::string& path, Patterns& patterns,
                  std::vector<base::Cause>& causes);

  bool empty() const { return rules_.empty(); }
  // Adds what the rules say of an object, behind what api::validate() found; `before` is null for a new one. False:
  // they cost more than `cost_max`, and were not all asked.
  bool check(const Json& object, const Json& before, std::uint64_t cost_max, std::vector<base::Cause>& causes) const;

 private:
  struct Rule {
    const StructuralRule* text;
    Expression expression;
    std::vector<Expression> message;  // none or one
    bool compares = false;            // asks for the value before the change
  };
  struct Walk;

  struct Compiler;

  const Structural& root_;
  std::map<const Structural*, std::vector<Rule>> rules_;
  std::map<const Structural*, bool> leads_;  // whether there are rules at or below it
};

}  // namespace api::cel
