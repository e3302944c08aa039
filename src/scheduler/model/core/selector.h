// Which nodes or pods does a selector of the Kubernetes API choose?
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json/json.h"
#include "scheduler/model/core/ids.h"
#include "scheduler/model/core/symbols.h"

namespace scheduler {

// Labels as (key, value), sorted by key.
using Labels = std::vector<std::pair<Symbol, Symbol>>;
Labels labels_from(const api::Json& map, Symbols& symbols);
// Unset when the key is absent.
Symbol value_of(const Labels& labels, Symbol key);

struct Requirement {
  enum class Op : std::uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt, kNever };

  Symbol key;
  Op op = Op::kNever;
  std::vector<Symbol> values;
  std::int64_t number = 0;  // of Gt and Lt

  bool operator==(const Requirement&) const = default;
  bool matches(const Labels& labels, const Symbols& symbols) const;
};

// {matchLabels, matchExpressions}: all must hold. Absent selects nothing, empty selects everything.
struct LabelSelector {
  bool present = false;
  std::vector<Requirement> requirements;

  bool operator==(const LabelSelector&) const = default;
  bool matches(const Labels& labels, const Symbols& symbols) const;
  bool is_empty() const { return requirements.empty(); }
};
LabelSelector label_selector_from(const api::Json& json, Symbols& symbols);

// One nodeSelectorTerm: all its expressions and fields must hold; one without either matches nothing.
struct NodeTerm {
  std::vector<Requirement> expressions;
  std::vector<Requirement> fields;  // of metadata.name
  std::int64_t weight = 0;          // of a preferred term

  bool is_empty() const { return expressions.empty() && fields.empty(); }
};
NodeTerm node_term_from(const api::Json& json, Symbols& symbols);

struct Taint {
  enum class Effect : std::uint8_t { kNone, kNoSchedule, kPreferNoSchedule, kNoExecute };
  Symbol key;
  Symbol value;
  Effect effect = Effect::kNone;
  auto operator<=>(const Taint&) const = default;
};
std::vector<Taint> taints_from(const api::Json& list, Symbols& symbols);

struct Toleration {
  Symbol key;  // unset: every key (with Exists)
  bool exists = false;
  Symbol value;
  Taint::Effect effect = Taint::Effect::kNone;  // kNone: every effect
  bool tolerates(const Taint& taint) const;
};
std::vector<Toleration> tolerations_from(const api::Json& list, Symbols& symbols);
bool tolerates(const std::vector<Toleration>& tolerations, const Taint& taint);

}  // namespace scheduler
