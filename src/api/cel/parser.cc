// From the text of an expression to its tree.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <set>

#include "api/cel/syntax.h"
#include "base/format.h"

namespace api::cel {
namespace {

constexpr int kNestingMax = 60;  // of parentheses, lists and arguments
constexpr std::size_t kNodesMax = 4000;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append_utf8(std::string& out, std::uint32_t point) {
  if (point < 0x80) {
    out += static_cast<char>(point);
  } else if (point < 0x800) {
    out += static_cast<char>(0xc0 | point >> 6);
    out += static_cast<char>(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    out += static_cast<char>(0xe0 | point >> 12);
    out += static_cast<char>(0x80 | (point >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (point & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | point >> 18);
    out += static_cast<char>(0x80 | (point >> 12 & 0x3f));
    out += static_cast<char>(0x80 | (point >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (point & 0x3f));
  }
}

enum class Kind : std::uint8_t { kEnd, kName, kLiteral, kSymbol };
struct Token {
  Kind kind = Kind::kEnd;
  std::string text;  // of names and symbols
  Value value;       // of literals
  std::size_t at = 0;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  base::Result<Token> next() {
    skip_blanks();
    Token out;
    out.at = at_;
    if (at_ == text_.size()) return out;
    const char c = text_[at_];
    if (const int prefix = string_prefix(); prefix >= 0) return literal_text(out, prefix);
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number(out);
    if (is_letter(c)) {
      while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) out.text += text_[at_++];
      out.kind = Kind::kName;
      return out;
    }
    static constexpr std::string_view kSymbols[] = {"&&", "||", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/",
                                                    "%",  "!",  "?",  ":",  "(",  ")",  "[", "]", "{", "}", ",", "."};
    for (const std::string_view symbol : kSymbols) {
      if (!text_.substr(at_).starts_with(symbol)) continue;
      at_ += symbol.size();
      out.kind = Kind::kSymbol;
      out.text = symbol;
      return out;
    }
    return wrong(base::format("unexpected character '{}'", c));
  }

  base::Error wrong(std::string_view what) const {
    return base::make_error(base::Code::kInvalid, base::format("column {}: {}", at_ + 1, what));
  }

 private:
  char peek(std::size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void skip_blanks() {
    while (at_ < text_.size()) {
      if (text_.substr(at_).starts_with("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r' ||
                 text_[at_] == '\f') {
        ++at_;
      } else {
        return;
      }
    }
  }

  // How many of r and b stand before a quote; -1 when no string begins here.
  int string_prefix() const {
    int length = 0;
    while (length < 2) {
      const char c = peek(static_cast<std::size_t>(length));
      if (c != 'r' && c != 'R' && c != 'b' && c != 'B') break;
      ++length;
    }
    const char quote = peek(static_cast<std::size_t>(length));
    return quote == '"' || quote == '\'' ? length : -1;
  }

  base::Result<Token> literal_text(Token out, int prefix) {
    bool raw = false, bytes = false;
    for (; prefix > 0; --prefix) {
      const char c = text_[at_++];
      raw |= c == 'r' || c == 'R';
      bytes |= c == 'b' || c == 'B';
    }
    const std::string_view rest = text_.substr(at_);
    std::string_view quote = rest.substr(0, 1);
    if (rest.starts_with("\"\"\"") || rest.starts_with("'''")) quote = rest.substr(0, 3);
    at_ += quote.size();
    std::string value;
    while (!text_.substr(at_).starts_with(quote)) {
      if (at_ == text_.size() || (quote.size() == 1 && text_[at_] == '\n')) return wrong("a string is not closed");
      if (text_[at_] != '\\' || raw)
        value += text_[at_++];
      else
        TRY_VOID(escape(value, bytes));
    }
    at_ += quote.size();
    out.kind = Kind::kLiteral;
    if (bytes)
      out.value = Bytes{std::move(value)};
    else
      out.value = Value(std::move(value));
    return out;
  }

  base::Status escape(std::string& out, bool bytes) {
    const char c = peek(1);
    at_ += 2;
    static constexpr std::string_view kPlain = "abfnrtv\\'\"`?", kMeant = "\a\b\f\n\r\t\v\\'\"`?";
    if (const std::size_t found = kPlain.find(c); c != '\0' && found != std::string_view::npos) {
      out += kMeant[found];
      return {};
    }
    const bool octal = c >= '0' && c <= '3';
    const int digits = c == 'x' || c == 'X' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : octal ? 3 : 0;
    if (octal) --at_;
    std::uint32_t point = 0;
    const std::string_view number = text_.substr(std::min(at_, text_.size()), static_cast<std::size_t>(digits));
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), point, octal ? 8 : 16);
    if (digits == 0 || error != std::errc{} || end != number.data() + digits || point > 0x10ffff)
      return wrong("a bad escape");
    at_ += static_cast<std::size_t>(digits);
    if (bytes && digits < 4)
      out += static_cast<char>(point);
    else
      append_utf8(out, point);
    return {};
  }

  base::Result<Token> number(Token out) {
    std::size_t end = at_;
    const bool hex = text_.substr(at_).starts_with("0x") || text_.substr(at_).starts_with("0X");
    bool fraction = false;
    if (hex) end += 2;
    while (end < text_.size()) {
      const char c = text_[end];
      const bool exponent = !hex && (c == 'e' || c == 'E');
      const bool dot = !hex && c == '.' && end + 1 < text_.size() && is_digit(text_[end + 1]);
      if (!is_digit(c) && !exponent && !dot && !(hex && std::isxdigit(static_cast<unsigned char>(c)))) break;
      fraction |= exponent || dot;
      ++end;
      if (exponent && end < text_.size() && (text_[end] == '+' || text_[end] == '-')) ++end;
    }
    const std::string digits(text_.substr(at_, end - at_));
    out.kind = Kind::kLiteral;
    const bool is_unsigned = end < text_.size() && (text_[end] == 'u' || text_[end] == 'U');
    const char* first = digits.data() + (hex ? 2 : 0);
    const char* last = digits.data() + digits.size();
    if (fraction) {
      char* stop = nullptr;
      out.value = std::strtod(digits.c_str(), &stop);
      if (stop != last || is_unsigned) return wrong("a bad number");
    } else {
      std::uint64_t value = 0;
      const auto [stop, error] = std::from_chars(first, last, value, hex ? 16 : 10);
      if (error != std::errc{} || stop != last) return wrong("a bad number");
      if (is_unsigned) out.value = value;
      // One more than the largest integer is only good behind a minus; the parser turns it there.
      else if (value <= std::uint64_t{1} << 63)
        out.value = static_cast<std::int64_t>(value);
      else
        return wrong("a number is too large");
      if (!is_unsigned && value == std::uint64_t{1} << 63) out.text = "lowest";
    }
    at_ = end + (is_unsigned ? 1 : 0);
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

class Parser {
 public:
  Parser(std::string_view text, const std::vector<std::string>& variables) : lexer_(text), variables_(variables) {}

  base::Result<Tree> run() {
    TRY_VOID(advance());
    TRY(tree_.root, expression());
    if (token_.kind != Kind::kEnd) return wrong(base::format("unexpected '{}'", token_.text));
    return std::move(tree_);
  }

 private:
  using Position = base::Result<std::uint32_t>;

  base::Error wrong(std::string_view what) const {
    return base::make_error(base::Code::kInvalid, base::format("column {}: {}", token_.at + 1, what));
  }
  base::Status advance() {
    TRY(token_, lexer_.next());
    return {};
  }
  bool is(std::string_view symbol) const { return token_.kind == Kind::kSymbol && token_.text == symbol; }
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

  Position make(Op op, std::vector<std::uint32_t> children, std::string text = {}, Value constant = {}) {
    Node node{.op = op, .text = std::move(text), .constant = std::move(constant), .children = std::move(children)};
    for (const std::uint32_t child : node.children) node.depth = std::max(node.depth, tree_.nodes[child].depth + 1);
    if (node.depth > kTreeDepthMax || tree_.nodes.size() >= kNodesMax) return wrong("the expression is too complex");
    tree_.nodes.push_back(std::move(node));
    return static_cast<std::uint32_t>(tree_.nodes.size() - 1);
  }

  Position expression() {
    if (++nesting_ > kNestingMax) return wrong("nested too deeply");
    TRY(std::uint32_t out, binary(0));
    TRY(const bool chooses, take("?"));
    if (chooses) {
      TRY(const std::uint32_t yes, binary(0));
      TRY_VOID(expect(":"));
      TRY(const std::uint32_t no, expression());
      TRY(out, make(Op::kChoose, {out, yes, no}));
    }
    --nesting_;
    return out;
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
      if (one.level == level && token_.kind == kind && token_.text == one.symbol) return &one;
    }
    return nullptr;
  }

  Position binary(int level) {
    if (level == 5) return unary();
    TRY(std::uint32_t left, binary(level + 1));
    while (const Operator* op = operator_here(level)) {
      TRY_VOID(advance());
      TRY(const std::uint32_t right, binary(level + 1));
      TRY(left, make(op->op, {left, right}));
    }
    return left;
  }

  Position unary() {
    std::string signs;
    while (is("!") || is("-")) {
      signs += token_.text;
      if (signs.size() > static_cast<std::size_t>(kNestingMax)) return wrong("nested too deeply");
      TRY_VOID(advance());
    }
    const bool number =
        token_.kind == Kind::kLiteral && (token_.value.get<std::int64_t>() || token_.value.get<double>());
    if (number && signs.ends_with('-')) {
      if (const auto* i = token_.value.get<std::int64_t>())
        token_.value = static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(*i));
      else
        token_.value = -*token_.value.get<double>();
      token_.text.clear();
      signs.pop_back();
    } else if (number && token_.text == "lowest") {
      return wrong("a number is too large");
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
      if (is("[")) {
        TRY_VOID(advance());
        TRY(const std::uint32_t index, expression());
        TRY_VOID(expect("]"));
        TRY(out, make(Op::kIndex, {out, index}));
      } else if (is(".")) {
        TRY_VOID(advance());
        if (token_.kind != Kind::kName) return wrong("expected a name");
        std::string name = std::move(token_.text);
        TRY_VOID(advance());
        if (is("(")) {
          TRY(out, method(out, name));
        } else {
          TRY(out, make(Op::kField, {out}, std::move(name)));
        }
      } else {
        return out;
      }
    }
  }

  // The plain name that a macro's variable is.
  base::Result<std::string> variable() {
    if (token_.kind != Kind::kName) return wrong("expected the name of a variable");
    std::string name = std::move(token_.text);
    TRY_VOID(advance());
    TRY_VOID(expect(","));
    return name;
  }

  Position method(std::uint32_t object, const std::string& name) {
    TRY_VOID(expect("("));
    const Op macro = name == "all"          ? Op::kAll
                     : name == "exists"     ? Op::kExists
                     : name == "exists_one" ? Op::kExistsOne
                     : name == "map"        ? Op::kTransform
                     : name == "filter"     ? Op::kFilter
                                            : Op::kMethod;
    if (macro != Op::kMethod) {
      TRY(std::string bound, variable());
      locals_.push_back(bound);
      TRY(const std::uint32_t body, expression());
      std::vector<std::uint32_t> children = {object, body};
      if (macro == Op::kTransform && is(",")) {
        TRY_VOID(advance());
        TRY(const std::uint32_t value, expression());
        children.push_back(value);
      }
      locals_.pop_back();
      TRY_VOID(expect(")"));
      return make(macro, std::move(children), std::move(bound));
    }
    const Node& on = tree_.nodes[object];
    if (on.op == Op::kName && on.text == "cel" && name == "bind") return binding();
    std::string full = name;
    std::vector<std::uint32_t> children;
    const bool is_namespaced = on.op == Op::kName && (on.text == "math" || on.text == "sets" || on.text == "ip");
    if (is_namespaced)
      full = on.text + "." + name;
    else
      children.push_back(object);
    TRY_VOID(arguments(")", children));
    if (is_namespaced ? !is_function(full) : !is_method(full))
      return wrong(base::format("undeclared reference to '{}'", full));
    return make(is_namespaced ? Op::kCall : Op::kMethod, std::move(children), std::move(full));
  }

  Position binding() {
    TRY(std::string bound, variable());
    TRY(const std::uint32_t value, expression());
    TRY_VOID(expect(","));
    locals_.push_back(bound);
    TRY(const std::uint32_t body, expression());
    locals_.pop_back();
    TRY_VOID(expect(")"));
    return make(Op::kBind, {value, body}, std::move(bound));
  }

  // Expressions up to the closing symbol, which is taken too.
  base::Status arguments(std::string_view close, std::vector<std::uint32_t>& out) {
    while (!is(close)) {
      TRY(const std::uint32_t one, expression());
      out.push_back(one);
      TRY(const bool more, take(","));
      if (!more) break;
    }
    return expect(close);
  }

  Position primary() {
    if (token_.kind == Kind::kLiteral) {
      Value value = std::move(token_.value);
      TRY_VOID(advance());
      return make(Op::kConstant, {}, {}, std::move(value));
    }
    if (token_.kind == Kind::kName) return name_or_call();
    if (is("(")) {
      TRY_VOID(advance());
      TRY(const std::uint32_t out, expression());
      TRY_VOID(expect(")"));
      return out;
    }
    if (is("[")) {
      TRY_VOID(advance());
      std::vector<std::uint32_t> items;
      TRY_VOID(arguments("]", items));
      return make(Op::kList, std::move(items));
    }
    if (is("{")) return map();
    return wrong(token_.kind == Kind::kEnd ? "unexpected end" : base::format("unexpected '{}'", token_.text));
  }

  Position map() {
    TRY_VOID(advance());
    std::vector<std::uint32_t> items;
    while (!is("}")) {
      TRY(const std::uint32_t key, expression());
      TRY_VOID(expect(":"));
      TRY(const std::uint32_t value, expression());
      items.insert(items.end(), {key, value});
      TRY(const bool more, take(","));
      if (!more) break;
    }
    TRY_VOID(expect("}"));
    return make(Op::kMap, std::move(items));
  }

  Position name_or_call() {
    std::string name = std::move(token_.text);
    TRY_VOID(advance());
    if (name == "true" || name == "false") return make(Op::kConstant, {}, {}, name == "true");
    if (name == "null") return make(Op::kConstant, {});
    if (is("(")) {
      TRY_VOID(advance());
      std::vector<std::uint32_t> items;
      TRY_VOID(arguments(")", items));
      if (name == "has") {
        if (items.size() != 1 || tree_.nodes[items[0]].op != Op::kField) return wrong("has() takes one field");
        tree_.nodes[items[0]].op = Op::kHas;
        return items[0];
      }
      if (!is_function(name)) return wrong(base::format("undeclared reference to '{}'", name));
      return make(Op::kCall, std::move(items), std::move(name));
    }
    static constexpr std::string_view kTypes[] = {"bool",  "int",  "uint", "double",    "string",
                                                  "bytes", "list", "map",  "null_type", "type"};
    for (const std::string_view type : kTypes) {
      if (name == type) return make(Op::kConstant, {}, {}, TypeName{type});
    }
    const auto known = [&](const std::vector<std::string>& list) {
      return std::find(list.begin(), list.end(), name) != list.end();
    };
    const bool is_space = (name == "cel" || name == "math" || name == "sets" || name == "ip") && is(".");
    if (!known(locals_) && !known(variables_) && !is_space)
      return wrong(base::format("undeclared reference to '{}'", name));
    return make(Op::kName, {}, std::move(name));
  }

  Lexer lexer_;
  Token token_;
  Tree tree_;
  std::vector<std::string> locals_;
  const std::vector<std::string>& variables_;
  int nesting_ = 0;
};

}  // namespace

base::Result<Tree> parse(std::string_view text, const std::vector<std::string>& variables) {
  return Parser(text, variables).run();
}

}  // namespace api::cel
