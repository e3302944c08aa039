// How does the API write the selectors, labels and amounts that the model keeps?
#include "scheduler/dump/dump_parts.h"

namespace scheduler {
namespace {

using api::Json;

std::string_view op_name(Requirement::Op op) {
  using Op = Requirement::Op;
  switch (op) {
    case Op::kIn: return "In";
    case Op::kNotIn: return "NotIn";
    case Op::kExists: return "Exists";
    case Op::kDoesNotExist: return "DoesNotExist";
    case Op::kGt: return "Gt";
    case Op::kLt: return "Lt";
    case Op::kNever: break;
  }
  return "Never";
}

Json requirements_json(const std::vector<Requirement>& list, const Symbols& symbols) {
  std::vector<Json> out;
  for (const Requirement& one : list) {
    std::vector<Json> values;
    for (const Symbol value : one.values) values.emplace_back(symbols.text(value));
    Json item = Json::object({{"key", symbols.text(one.key)}, {"operator", op_name(one.op)}});
    if (!values.empty()) item.set("values", Json::array(std::move(values)));
    out.push_back(std::move(item));
  }
  return Json::array(std::move(out));
}

}  // namespace

Json selector_json(const LabelSelector& selector, const Symbols& symbols) {
  if (!selector.present) return {};
  Json out = Json::object();
  if (!selector.requirements.empty()) out.set("matchExpressions", requirements_json(selector.requirements, symbols));
  return out;
}

Json terms_json(const std::vector<NodeTerm>& terms, const Symbols& symbols) {
  std::vector<Json> out;
  for (const NodeTerm& term : terms) {
    Json item = Json::object();
    if (!term.expressions.empty()) item.set("matchExpressions", requirements_json(term.expressions, symbols));
    if (!term.fields.empty()) item.set("matchFields", requirements_json(term.fields, symbols));
    out.push_back(std::move(item));
  }
  return Json::array(std::move(out));
}

Json labels_json(const Labels& labels, const Symbols& symbols) {
  Json out = Json::object();
  for (const auto& [key, value] : labels) out.set(symbols.text(key), symbols.text(value));
  return out.sorted();
}

Json resource_json(const Request& request, const Dimensions& dimensions) {
  Json out = Json::object();
  for (const Part& part : request.parts) {
    out.set(dimensions.name(part.dim), Dimensions::quantity_of(part.dim, static_cast<double>(part.amount)).to_json());
  }
  return out;
}

std::string_view effect_name(Taint::Effect effect) {
  switch (effect) {
    case Taint::Effect::kNoSchedule: return "NoSchedule";
    case Taint::Effect::kPreferNoSchedule: return "PreferNoSchedule";
    case Taint::Effect::kNoExecute: return "NoExecute";
    case Taint::Effect::kNone: break;
  }
  return "";
}

}  // namespace scheduler
