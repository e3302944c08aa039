// Facts of an expression without evaluating it: which fields it reads, and of which type its value is.
#include <algorithm>
#include <array>

#include "api/cel/expression.h"
#include "api/cel/syntax.h"

namespace api::cel {
namespace {

using Types = Expression::Types;

struct TypeRow {
  std::string_view type;
  std::vector<std::string_view> names;
};

// Functions and methods whose value is of one type, whatever they are given.
const std::vector<TypeRow>& result_types() {
  static const std::vector<TypeRow> kRows = {
      {"bool", {"bool",       "matches",      "contains",      "startsWith",      "endsWith",       "isSorted",
                "isQuantity", "isSemver",     "isIP",          "isCIDR",          "isURL",          "isImage",
                "isInteger",  "isLessThan",   "isGreaterThan", "containsIP",      "hasValue",       "allowed",
                "errored",    "containsCIDR", "sets.contains", "sets.intersects", "sets.equivalent"}},
      {"int", {"int", "size", "indexOf", "lastIndexOf", "compareTo", "sign"}},
      {"uint", {"uint"}},
      {"double", {"double", "asApproximateFloat"}},
      {"string",
       {"string", "lowerAscii", "upperAscii", "trim", "substring", "replace", "join", "format", "charAt", "find",
        "strings.quote", "jsonpatch.escapeKey"}},
      {"list(string)", {"split", "findAll"}},
      {"dyn", {"dyn"}},
  };
  return kRows;
}

std::string type_of_call(std::string_view name) {
  for (const TypeRow& row : result_types())
    if (std::find(row.names.begin(), row.names.end(), name) != row.names.end()) return std::string(row.type);
  return {};
}

class Reader {
 public:
  Reader(const std::vector<Node>& nodes, const Types& fields) : nodes_(nodes), fields_(fields) {}

  std::string run(std::uint32_t at) {
    const Node& node = nodes_[at];
    switch (node.op) {
      case Op::kConstant: return std::string(node.constant.type_name());
      case Op::kName: return name(node.text);
      case Op::kField: return field(node);
      case Op::kIndex: return element(run(node.children[0]));
      case Op::kHas:
      case Op::kAll:
      case Op::kExists:
      case Op::kExistsOne:
      case Op::kAnd:
      case Op::kOr:
      case Op::kNot:
      case Op::kEqual:
      case Op::kUnequal:
      case Op::kLess:
      case Op::kLessEqual:
      case Op::kGreater:
      case Op::kGreaterEqual:
      case Op::kIn: return "bool";
      case Op::kChoose: return common(run(node.children[1]), run(node.children[2]));
      case Op::kCall:
      case Op::kMethod: return type_of_call(node.text);
      case Op::kList: return list(node);
      case Op::kMap: return node.text.empty() ? "map" : node.text;
      case Op::kFilter: return filtered(run(node.children[0]));
      case Op::kTransform: return transformed(node);
      case Op::kBind: return bound(node);
      case Op::kNegate: return run(node.children[0]);
      case Op::kAdd:
      case Op::kSubtract:
      case Op::kMultiply:
      case Op::kDivide:
      case Op::kModulo: return arithmetic(node);
      default: return {};
    }
  }

 private:
  std::string name(const std::string& text) const {
    for (std::size_t i = locals_.size(); i-- > 0;)
      if (locals_[i].first == text) return locals_[i].second;
    return text == "object" || text == "oldObject" || text == "params" ? "dyn" : "";
  }

  std::string field(const Node& node) {
    const Node& of = nodes_[node.children[0]];
    if (of.op == Op::kName && of.text == "variables") {
      const auto found = fields_.find(node.text);
      return found == fields_.end() ? std::string() : found->second;
    }
    return run(node.children[0]) == "dyn" ? "dyn" : "";
  }

  static std::string element(const std::string& of) {
    if (of == "dyn") return of;
    return of.starts_with("list(") ? of.substr(5, of.size() - 6) : std::string();
  }

  static std::string common(std::string a, const std::string& b) {
    if (a == b || b == "list()") return a;
    return a == "list()" && b.starts_with("list(") ? b : std::string();
  }

  std::string list(const Node& node) {
    if (node.children.empty()) return "list()";
    std::string of = run(node.children[0]);
    for (std::size_t i = 1; i < node.children.size(); ++i) of = common(std::move(of), run(node.children[i]));
    return of.empty() ? std::string() : "list(" + of + ")";
  }

  static std::string filtered(std::string of) { return of == "dyn" ? "list(dyn)" : of.starts_with("list(") ? of : ""; }

  std::string with(std::string_view local, std::string type, std::uint32_t body) {
    locals_.emplace_back(local, std::move(type));
    std::string out = run(body);
    locals_.pop_back();
    return out;
  }

  std::string transformed(const Node& node) {
    if (!node.second.empty()) return {};
    const std::string body = with(node.text, element(run(node.children[0])), node.children.back());
    return body.empty() ? std::string() : "list(" + body + ")";
  }

  std::string bound(const Node& node) { return with(node.text, run(node.children[0]), node.children[1]); }

  std::string arithmetic(const Node& node) {
    const std::string a = run(node.children[0]), b = run(node.children[1]);
    return common(a, b);
  }

  const std::vector<Node>& nodes_;
  const Types& fields_;
  std::vector<std::pair<std::string_view, std::string>> locals_;
};

}  // namespace

Expression::Uses Expression::uses_of(std::string_view variable) const {
  Uses out;
  std::vector<bool> selected(nodes_->size());
  for (const Node& node : *nodes_) {
    const bool selects = node.op == Op::kField || node.op == Op::kHas || node.op == Op::kOptionalField;
    if (!selects) continue;
    const Node& of = (*nodes_)[node.children[0]];
    if (of.op != Op::kName || of.text != variable) continue;
    selected[node.children[0]] = true;
    out.fields.insert(node.text);
  }
  for (std::size_t i = 0; i < nodes_->size(); ++i)
    out.otherwise = out.otherwise || ((*nodes_)[i].op == Op::kName && (*nodes_)[i].text == variable && !selected[i]);
  return out;
}

std::string Expression::type(const Types& fields) const { return Reader(*nodes_, fields).run(root_); }

}  // namespace api::cel
