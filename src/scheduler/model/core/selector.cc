// Which nodes or pods does a selector of the Kubernetes API choose?
#include "scheduler/model/core/selector.h"

#include <algorithm>
#include <string>

#include "base/number.h"

namespace scheduler {
namespace {

Requirement::Op op_from(std::string_view op) {
  using Op = Requirement::Op;
  if (op == "In") return Op::kIn;
  if (op == "NotIn") return Op::kNotIn;
  if (op == "Exists") return Op::kExists;
  if (op == "DoesNotExist") return Op::kDoesNotExist;
  if (op == "Gt") return Op::kGt;
  if (op == "Lt") return Op::kLt;
  return Op::kNever;
}

Requirement requirement_from(const api::Json& json, Symbols& symbols) {
  Requirement out;
  out.key = symbols.intern(json["key"].as_string());
  out.op = op_from(json["operator"].as_string());
  for (const api::Json& value : json["values"].items()) out.values.push_back(symbols.intern(value.as_string()));
  std::sort(out.values.begin(), out.values.end());
  if (out.op == Requirement::Op::kGt || out.op == Requirement::Op::kLt) {
    const auto number =
        out.values.size() == 1 ? base::parse_number<std::int64_t>(symbols.text(out.values[0])) : std::nullopt;
    if (!number) out.op = Requirement::Op::kNever;
    out.number = number.value_or(0);
  }
  return out;
}

Taint::Effect effect_from(std::string_view effect) {
  if (effect == "NoSchedule") return Taint::Effect::kNoSchedule;
  if (effect == "PreferNoSchedule") return Taint::Effect::kPreferNoSchedule;
  if (effect == "NoExecute") return Taint::Effect::kNoExecute;
  return Taint::Effect::kNone;
}

}  // namespace

Labels labels_from(const api::Json& map, Symbols& symbols) {
  Labels out;
  for (const auto& member : map.members()) {
    out.emplace_back(symbols.intern(member.name()), symbols.intern(member.value.as_string()));
  }
  std::sort(out.begin(), out.end());
  return out;
}

Symbol value_of(const Labels& labels, Symbol key) {
  auto at =
      std::lower_bound(labels.begin(), labels.end(), key, [](const auto& pair, Symbol k) { return pair.first < k; });
  return at != labels.end() && at->first == key ? at->second : Symbol{};
}

bool Requirement::matches(const Labels& labels, const Symbols& symbols) const {
  const Symbol value = value_of(labels, key);
  const bool listed = std::binary_search(values.begin(), values.end(), value);
  switch (op) {
    case Op::kIn: return value.is_set() && listed;
    case Op::kNotIn: return !value.is_set() || !listed;
    case Op::kExists: return value.is_set();
    case Op::kDoesNotExist: return !value.is_set();
    case Op::kGt:
    case Op::kLt: {
      if (!value.is_set()) return false;
      const auto have = base::parse_number<std::int64_t>(symbols.text(value));
      return have && (op == Op::kGt ? *have > number : *have < number);
    }
    case Op::kNever: return false;
  }
  return false;
}

bool LabelSelector::matches(const Labels& labels, const Symbols& symbols) const {
  return present && std::all_of(requirements.begin(), requirements.end(),
                                [&](const Requirement& r) { return r.matches(labels, symbols); });
}

LabelSelector label_selector_from(const api::Json& json, Symbols& symbols) {
  LabelSelector out;
  out.present = json.is_object();
  for (const auto& member : json["matchLabels"].members()) {
    out.requirements.push_back({.key = symbols.intern(member.name()),
                                .op = Requirement::Op::kIn,
                                .values = {symbols.intern(member.value.as_string())}});
  }
  for (const api::Json& item : json["matchExpressions"].items())
    out.requirements.push_back(requirement_from(item, symbols));
  return out;
}

NodeTerm node_term_from(const api::Json& json, Symbols& symbols) {
  NodeTerm out;
  for (const api::Json& item : json["matchExpressions"].items())
    out.expressions.push_back(requirement_from(item, symbols));
  for (const api::Json& item : json["matchFields"].items()) {
    Requirement field = requirement_from(item, symbols);
    if (item["key"].as_string() != "metadata.name") field.op = Requirement::Op::kNever;
    out.fields.push_back(std::move(field));
  }
  return out;
}

std::vector<Taint> taints_from(const api::Json& list, Symbols& symbols) {
  std::vector<Taint> out;
  for (const api::Json& item : list.items()) {
    out.push_back({symbols.intern(item["key"].as_string()), symbols.intern(item["value"].as_string()),
                   effect_from(item["effect"].as_string())});
  }
  return out;
}

bool Toleration::tolerates(const Taint& taint) const {
  if (effect != Taint::Effect::kNone && effect != taint.effect) return false;
  if (key.is_set() && key != taint.key) return false;
  return exists || (key.is_set() && value == taint.value);
}

std::vector<Toleration> tolerations_from(const api::Json& list, Symbols& symbols) {
  std::vector<Toleration> out;
  for (const api::Json& item : list.items()) {
    Toleration one;
    if (const std::string_view key = item["key"].as_string(); !key.empty()) one.key = symbols.intern(key);
    const std::string_view op = item["operator"].as_string();
    one.exists = op == "Exists";
    if (!op.empty() && op != "Equal" && op != "Exists") continue;
    one.value = symbols.intern(item["value"].as_string());
    one.effect = effect_from(item["effect"].as_string());
    out.push_back(one);
  }
  return out;
}

bool tolerates(const std::vector<Toleration>& tolerations, const Taint& taint) {
  return std::any_of(tolerations.begin(), tolerations.end(), [&](const Toleration& t) { return t.tolerates(taint); });
}

}  // namespace scheduler
