// From the text of an expression to its tree.
#include <algorithm>

#include "api/cel/lexer.h"
#include "api/cel/patterns.h"
#include "api/cel/syntax.h"
#include "base/format.h"

namespace api::cel {
namespace {

constexpr int kNestingMax = 60;  // of parentheses, lists and arguments
constexpr std::size_t kNodesMax = 4000;

bool is_word_of_the_language(std::string_view name) {
  return name == "true" || name == "false" || name == "null" || name == "in";
}

// How a macro binds: one variable, two, or (where both are read) as many as stand before its body.
enum class Variables : std::uint8_t { kOne, kTwo, kEither };
struct Macro {
  std::string_view name;
  Op op;
  Variables variables;
  bool filters;  // takes a test before its body
};
const Macro* macro_of(std::string_view name) {
  static constexpr Macro kMacros[] = {
      {"all", Op::kAll, Variables::kEither, false},
      {"exists", Op::kExists, Variables::kEither, false},
      {"exists_one", Op::kExistsOne, Variables::kEither, false},
      {"existsOne", Op::kExistsOne, Variables::kTwo, false},
      {"map", Op::kTransform, Variables::kOne, true},
      {"filter", Op::kFilter, Variables::kOne, false},
      {"sortBy", Op::kSortBy, Variables::kOne, false},
      {"transformList", Op::kTransform, Variables::kTwo, true},
      {"transformMap", Op::kTransformMap, Variables::kTwo, true},
      {"transformMapEntry", Op::kTransformMapEntry, Variables::kTwo, true},
      {"optMap", Op::kOptionalMap, Variables::kOne, false},
      {"optFlatMap", Op::kOptionalFlatMap, Variables::kOne, false},
  };
  for (const Macro& one : kMacros) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

// The words of an expression, one ahead.
class TokenReader {
 public:
  explicit TokenReader(std::string_view text) : lexer_(text) {}

  base::Error wrong(std::string_view what) const {
    return base::make_error(base::Code::kInvalid, base::format("column {}: {}", token.at + 1, what));
  }
  base::Status advance() {
    TRY(token, lexer_.next());
    return {};
  }
  bool is(std::string_view symbol) const { return token.kind == Kind::kSymbol && token.text == symbol; }
  base::Result<bool> take(std::string_view symbol) {
    if (!is(symbol)) return false;
    TRY_VOID(advance());
    return true;
  }
  base::Status expect(std::string_view symbol) {
    TRY(const bool there, take(symbol));
    if (!there) return wrong(base::format("expected '{}'", symbol));
    return {};
  }

  struct Operator {
    std::string_view symbol;
    int level;
    Op op;
  };
  const Operator* operator_here(int level) const {
    static constexpr Operator kOperators[] = {
        {"||", 0, Op::kOr},    {"&&", 1, Op::kAnd},       {"==", 2, Op::kEqual},   {"!=", 2, Op::kUnequal},
        {"<", 2, Op::kLess},   {"<=", 2, Op::kLessEqual}, {">", 2, Op::kGreater},  {">=", 2, Op::kGreaterEqual},
        {"in", 2, Op::kIn},    {"+", 3, Op::kAdd},        {"-", 3, Op::kSubtract}, {"*", 4, Op::kMultiply},
        {"/", 4, Op::kDivide}, {"%", 4, Op::kModulo}};
    for (const Operator& one : kOperators) {
      const Kind kind = one.op == Op::kIn ? Kind::kName : Kind::kSymbol;
      if (one.level == level && token.kind == kind && token.text == one.symbol) return &one;
    }
    return nullptr;
  }

  // Whether a name and a comma follow: the second variable of a macro that may have one.
  bool is_variable() const {
    Lexer ahead = lexer_;
    if (token.kind != Kind::kName) return false;
    const base::Result<Token> next = ahead.next();
    return next.ok() && next->kind == Kind::kSymbol && next->text == ",";
  }

  Token token;

 private:
  Lexer lexer_;
};

class Parser {
 public:
  Parser(std::string_view text, const std::vector<std::string>& variables, Patterns* patterns)
      : in_(text), variables_(variables), patterns_(patterns) {}

  base::Result<Tree> run() {
    TRY_VOID(in_.advance());
    TRY(tree_.root, expression());
    if (in_.token.kind != Kind::kEnd) return in_.wrong(base::format("unexpected '{}'", in_.token.text));
    return std::move(tree_);
  }

 private:
  using Position = base::Result<std::uint32_t>;

  Position make(Op op, std::vector<std::uint32_t> children, std::string text = {}, Value constant = {}) {
    Node node{.op = op, .text = std::move(text), .constant = std::move(constant), .children = std::move(children)};
    for (const std::uint32_t child : node.children) node.depth = std::max(node.depth, tree_.nodes[child].depth + 1);
    if (node.depth > kTreeDepthMax || tree_.nodes.size() >= kNodesMax)
      return in_.wrong("the expression is too complex");
    tree_.nodes.push_back(std::move(node));
    return static_cast<std::uint32_t>(tree_.nodes.size() - 1);
  }

  Position expression() {
    if (++nesting_ > kNestingMax) return in_.wrong("nested too deeply");
    TRY(std::uint32_t out, binary(0));
    TRY(const bool chooses, in_.take("?"));
    if (chooses) {
      TRY(const std::uint32_t yes, binary(0));
      TRY_VOID(in_.expect(":"));
      TRY(const std::uint32_t no, expression());
      TRY(out, make(Op::kChoose, {out, yes, no}));
    }
    --nesting_;
    return out;
  }

  Position binary(int level) {
    if (level == 5) return unary();
    if (level < 2) return chain(level);
    TRY(std::uint32_t left, binary(level + 1));
    while (const TokenReader::Operator* op = in_.operator_here(level)) {
      TRY_VOID(in_.advance());
      TRY(const std::uint32_t right, binary(level + 1));
      TRY(left, make(op->op, {left, right}));
    }
    return left;
  }

  // "a || b || c || ...": as a balanced tree, for long ones are written and trees are bounded in depth. The order in
  // which the parts are looked at stays.
  Position chain(int level) {
    TRY(const std::uint32_t first, binary(level + 1));
    std::vector<std::uint32_t> parts = {first};
    const TokenReader::Operator* op = in_.operator_here(level);
    for (; in_.operator_here(level) != nullptr;) {
      TRY_VOID(in_.advance());
      TRY(const std::uint32_t next, binary(level + 1));
      parts.push_back(next);
    }
    return op == nullptr ? Position(first) : balanced(op->op, parts);
  }
  Position balanced(Op op, std::span<const std::uint32_t> parts) {
    if (parts.size() == 1) return parts.front();
    const std::size_t half = (parts.size() + 1) / 2;
    TRY(const std::uint32_t left, balanced(op, parts.first(half)));
    TRY(const std::uint32_t right, balanced(op, parts.subspan(half)));
    return make(op, {left, right});
  }

  Position unary() {
    std::string signs;
    while (in_.is("!") || in_.is("-")) {
      signs += in_.token.text;
      if (signs.size() > static_cast<std::size_t>(kNestingMax)) return in_.wrong("nested too deeply");
      TRY_VOID(in_.advance());
    }
    const bool number =
        in_.token.kind == Kind::kLiteral && (in_.token.value.get<std::int64_t>() || in_.token.value.get<double>());
    if (number && signs.ends_with('-')) {
      if (const auto* i = in_.token.value.get<std::int64_t>())
        in_.token.value = static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(*i));
      else
        in_.token.value = -*in_.token.value.get<double>();
      in_.token.text.clear();
      signs.pop_back();
    } else if (number && in_.token.text == "lowest") {
      return in_.wrong("a number is too large");
    }
    TRY(std::uint32_t out, member());
    for (; !signs.empty(); signs.pop_back()) {
      TRY(out, make(signs.back() == '!' ? Op::kNot : Op::kNegate, {out}));
    }
    return out;
  }

  Position member() {
    TRY(std::uint32_t out, primary());
    for (;;) {
      if (in_.is("[")) {
        TRY_VOID(in_.advance());
        TRY(const bool optional, in_.take("?"));
        TRY(const std::uint32_t index, expression());
        TRY_VOID(in_.expect("]"));
        TRY(out, make(optional ? Op::kOptionalIndex : Op::kIndex, {out, index}));
      } else if (in_.is(".")) {
        TRY_VOID(in_.advance());
        TRY(const bool optional, in_.take("?"));
        if (in_.token.kind != Kind::kName || is_word_of_the_language(in_.token.text))
          return in_.wrong("expected a name");
        std::string name = std::move(in_.token.text);
        TRY_VOID(in_.advance());
        if (in_.is("(") && !optional) {
          TRY(out, method(out, name));
        } else {
          TRY(out, make(optional ? Op::kOptionalField : Op::kField, {out}, std::move(name)));
        }
      } else {
        return out;
      }
    }
  }

  // The plain name that a macro's variable is.
  base::Result<std::string> variable() {
    if (in_.token.kind != Kind::kName) return in_.wrong("expected the name of a variable");
    std::string name = std::move(in_.token.text);
    TRY_VOID(in_.advance());
    TRY_VOID(in_.expect(","));
    return name;
  }

  Position macro(std::uint32_t object, const Macro& what) {
    const std::size_t outside = locals_.size();
    std::string second;
    TRY(std::string first, variable());
    if (what.variables == Variables::kTwo || (what.variables == Variables::kEither && in_.is_variable())) {
      TRY(second, variable());
      if (second == first) return in_.wrong("the two variables have one name");
    }
    locals_.push_back(first);
    if (!second.empty()) locals_.push_back(second);
    TRY(const std::uint32_t body, expression());
    std::vector<std::uint32_t> children = {object, body};
    if (what.filters && in_.is(",")) {
      TRY_VOID(in_.advance());
      TRY(const std::uint32_t value, expression());
      children.push_back(value);
    }
    locals_.resize(outside);
    TRY_VOID(in_.expect(")"));
    TRY(const std::uint32_t out, make(what.op, std::move(children), std::move(first)));
    tree_.nodes[out].second = std::move(second);
    return out;
  }

  // Names that functions live under; a variable of the same name goes first.
  bool is_space(const std::string& name) const {
    static constexpr std::string_view kSpaces[] = {"cel",    "math",    "sets",      "ip",   "optional",
                                                   "format", "strings", "jsonpatch", "lists"};
    return !is_known(name) && std::find(std::begin(kSpaces), std::end(kSpaces), name) != std::end(kSpaces);
  }
  bool is_known(const std::string& name) const {
    return std::find(locals_.begin(), locals_.end(), name) != locals_.end() ||
           std::find(variables_.begin(), variables_.end(), name) != variables_.end();
  }

  Position method(std::uint32_t object, const std::string& name) {
    TRY_VOID(in_.expect("("));
    const Node& on = tree_.nodes[object];
    std::vector<std::uint32_t> children;
    if (on.op == Op::kName && is_space(on.text)) {
      if (on.text == "cel" && name == "bind") return binding();
      std::string full = on.text + "." + name;
      TRY_VOID(arguments(")", children));
      if (!is_function(full)) return in_.wrong(base::format("undeclared reference to '{}'", full));
      return make(Op::kCall, std::move(children), std::move(full));
    }
    if (const Macro* found = macro_of(name)) return macro(object, *found);
    children.push_back(object);
    TRY_VOID(arguments(")", children));
    if (name == "or" || name == "orValue") {
      if (children.size() != 2) return in_.wrong(base::format("{}() takes one argument", name));
      return make(name == "or" ? Op::kOptionalOr : Op::kOptionalOrValue, std::move(children), name);
    }
    if (!is_method(name)) return in_.wrong(base::format("undeclared reference to '{}'", name));
    TRY(const std::uint32_t out, make(Op::kMethod, std::move(children), name));
    return with_pattern(out);
  }

  // Constant patterns are read once, and found wrong before anything is evaluated.
  Position with_pattern(std::uint32_t at) {
    Node& node = tree_.nodes[at];
    if (node.text != "matches" || node.children.size() != 2) return at;
    const Node& last = tree_.nodes[node.children[1]];
    const std::string* text = last.op == Op::kConstant ? last.constant.get<std::string>() : nullptr;
    if (text == nullptr || patterns_ == nullptr) return at;
    node.pattern = patterns_->read(*text);
    if (!node.pattern)
      return in_.wrong(patterns_->is_full() ? "the regular expressions are too large together"
                                            : "invalid matches argument");
    return at;
  }

  Position binding() {
    TRY(std::string bound, variable());
    TRY(const std::uint32_t value, expression());
    TRY_VOID(in_.expect(","));
    locals_.push_back(bound);
    TRY(const std::uint32_t body, expression());
    locals_.pop_back();
    TRY_VOID(in_.expect(")"));
    return make(Op::kBind, {value, body}, std::move(bound));
  }

  // Expressions up to the closing symbol, which is taken too.
  base::Status arguments(std::string_view close, std::vector<std::uint32_t>& out) {
    while (!in_.is(close)) {
      TRY(const std::uint32_t one, expression());
      out.push_back(one);
      TRY(const bool more, in_.take(","));
      if (!more) break;
    }
    return in_.expect(close);
  }

  Position primary() {
    if (in_.token.kind == Kind::kLiteral) {
      Value value = std::move(in_.token.value);
      TRY_VOID(in_.advance());
      return make(Op::kConstant, {}, {}, std::move(value));
    }
    if (in_.token.kind == Kind::kName) return name_or_call();
    if (in_.is("(")) {
      TRY_VOID(in_.advance());
      TRY(const std::uint32_t out, expression());
      TRY_VOID(in_.expect(")"));
      return out;
    }
    if (in_.is("[")) return list();
    if (in_.is("{")) return map();
    return in_.wrong(in_.token.kind == Kind::kEnd ? "unexpected end" : base::format("unexpected '{}'", in_.token.text));
  }

  // An expression; one behind a question mark may turn out to be absent.
  Position item(bool optional) {
    TRY(const std::uint32_t out, expression());
    return optional ? make(Op::kOptionalItem, {out}) : Position(out);
  }

  Position list() {
    TRY_VOID(in_.advance());
    std::vector<std::uint32_t> items;
    while (!in_.is("]")) {
      TRY(const bool optional, in_.take("?"));
      TRY(const std::uint32_t one, item(optional));
      items.push_back(one);
      TRY(const bool more, in_.take(","));
      if (!more) break;
    }
    TRY_VOID(in_.expect("]"));
    return make(Op::kList, std::move(items));
  }

  Position map() {
    TRY_VOID(in_.advance());
    std::vector<std::uint32_t> items;
    while (!in_.is("}")) {
      TRY(const bool optional, in_.take("?"));
      TRY(const std::uint32_t key, expression());
      TRY_VOID(in_.expect(":"));
      TRY(const std::uint32_t value, item(optional));
      items.insert(items.end(), {key, value});
      TRY(const bool more, in_.take(","));
      if (!more) break;
    }
    TRY_VOID(in_.expect("}"));
    return make(Op::kMap, std::move(items));
  }

  // The type that begins with this word and goes on behind a dot; empty when none does.
  base::Result<std::string_view> dotted_type(const std::string& first) {
    static constexpr std::string_view kTypes[] = {"net.IP",
                                                  "net.CIDR",
                                                  "kubernetes.Quantity",
                                                  "kubernetes.Semver",
                                                  "kubernetes.URL",
                                                  "kubernetes.Image",
                                                  "kubernetes.NamedFormat",
                                                  "google.protobuf.Duration",
                                                  "google.protobuf.Timestamp"};
    if ((first != "net" && first != "kubernetes" && first != "google") || is_known(first)) return std::string_view();
    std::string name = first;
    while (in_.is(".")) {
      TRY_VOID(in_.advance());
      name += "." + in_.token.text;
      TRY_VOID(in_.advance());
      for (const std::string_view type : kTypes) {
        if (name == type) return type;
      }
    }
    return in_.wrong(base::format("undeclared reference to '{}'", name));
  }

  // The known messages: parts of objects, by the way to them ("Object.spec.template"), and operations of a patch.
  base::Status check_message_field(const std::string& type, const std::string& name, std::uint32_t value) const {
    static constexpr std::string_view kPatchFields[] = {"op", "path", "from", "value"};
    const Node& node = tree_.nodes[value];
    if (type == "JSONPatch") {
      if (std::find(std::begin(kPatchFields), std::end(kPatchFields), name) == std::end(kPatchFields))
        return in_.wrong(base::format("undefined field '{}'", name));
      return {};
    }
    if (node.op == Op::kMap && !node.text.empty() && node.text != type + "." + name)
      return in_.wrong(base::format("expected type of field '{}' is '{}.{}' but provided type is '{}'", name, type,
                                    name, node.text));
    return {};
  }

  Position message(std::string type) {
    while (in_.is(".")) {
      TRY_VOID(in_.advance());
      if (in_.token.kind != Kind::kName || type == "JSONPatch") return in_.wrong("expected the name of a field");
      type += "." + in_.token.text;
      TRY_VOID(in_.advance());
    }
    TRY_VOID(in_.expect("{"));
    std::vector<std::uint32_t> items;
    while (!in_.is("}")) {
      TRY(const bool optional, in_.take("?"));
      if (in_.token.kind != Kind::kName) return in_.wrong("expected the name of a field");
      const std::string name = std::move(in_.token.text);
      TRY_VOID(in_.advance());
      TRY(const std::uint32_t key, make(Op::kConstant, {}, {}, Value(name)));
      TRY_VOID(in_.expect(":"));
      TRY(const std::uint32_t value, item(optional));
      TRY_VOID(check_message_field(type, name, value));
      items.insert(items.end(), {key, value});
      TRY(const bool more, in_.take(","));
      if (!more) break;
    }
    TRY_VOID(in_.expect("}"));
    return make(Op::kMap, std::move(items), std::move(type));
  }

  Position name_or_call() {
    std::string name = std::move(in_.token.text);
    TRY_VOID(in_.advance());
    if ((name == "Object" || name == "JSONPatch") && is_known(name)) return message(std::move(name));
    if (name == "true" || name == "false") return make(Op::kConstant, {}, {}, name == "true");
    if (name == "null") return make(Op::kConstant, {});
    if (in_.is("(")) {
      TRY_VOID(in_.advance());
      std::vector<std::uint32_t> items;
      TRY_VOID(arguments(")", items));
      if (name == "has") {
        if (items.size() != 1 || tree_.nodes[items[0]].op != Op::kField) return in_.wrong("has() takes one field");
        tree_.nodes[items[0]].op = Op::kHas;
        return items[0];
      }
      if (!is_function(name)) return in_.wrong(base::format("undeclared reference to '{}'", name));
      return make(Op::kCall, std::move(items), std::move(name));
    }
    static constexpr std::string_view kTypes[] = {"bool", "int", "uint", "double",    "string",       "bytes",
                                                  "list", "map", "type", "null_type", "optional_type"};
    for (const std::string_view type : kTypes) {
      if (name == type) return make(Op::kConstant, {}, {}, TypeName{type});
    }
    TRY(const std::string_view dotted, dotted_type(name));
    if (!dotted.empty()) return make(Op::kConstant, {}, {}, TypeName{dotted});
    if (!is_known(name) && !(is_space(name) && in_.is(".")))
      return in_.wrong(base::format("undeclared reference to '{}'", name));
    return make(Op::kName, {}, std::move(name));
  }

  TokenReader in_;
  Tree tree_;
  std::vector<std::string> locals_;
  const std::vector<std::string>& variables_;
  Patterns* patterns_;
  int nesting_ = 0;
};

}  // namespace

base::Result<Tree> parse(std::string_view text, const std::vector<std::string>& variables, Patterns* patterns) {
  return Parser(text, variables, patterns).run();
}

}  // namespace api::cel
