// The expressions of a policy: compiled, and judged by what Kubernetes demands of each.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "api/cel/patterns.h"
#include "api/policies/policy.h"
#include "api/policies/problems.h"
#include "api/policies/reading.h"
#include "api/schema/names.h"
#include "base/format.h"
#include "base/trim.h"

namespace api::policies {

namespace {

using base::Cause;

constexpr std::size_t kConditionsMax = 64, kAuditAnnotationsMax = 20, kAuditAnnotationBytesMax = 5 * 1024;
constexpr std::string_view kReasons[] = {"Forbidden", "Invalid", "RequestEntityTooLarge"};
constexpr std::string_view kPatchTypes[] = {"ApplyConfiguration", "JSONPatch"};

bool is_identifier(std::string_view text) {
  static constexpr std::string_view kReserved[] = {
      "as",  "break", "const", "continue", "else",      "false",  "for",  "function", "if",   "import", "in",
      "let", "loop",  "null",  "package",  "namespace", "return", "true", "var",      "void", "while"};
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return std::all_of(text.begin(), text.end(), allowed) &&
         std::find(std::begin(kReserved), std::end(kReserved), text) == std::end(kReserved);
}

// "column 9: what" as the API server prints it: line and column, the line, and a mark below it.
std::string compile_message(std::string_view text, std::string_view problem) {
  std::size_t at = 0;
  constexpr std::string_view kColumn = "column ";
  if (problem.starts_with(kColumn)) {
    std::size_t i = kColumn.size();
    for (; i < problem.size() && problem[i] >= '0' && problem[i] <= '9'; ++i)
      at = at * 10 + static_cast<std::size_t>(problem[i] - '0');
    problem.remove_prefix(std::min(i + 2, problem.size()));
    at = std::min(at > 0 ? at - 1 : 0, text.size());
  }
  const std::size_t line_start = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // npos + 1 is 0
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(line_start), '\n');
  const std::string_view shown =
      text.substr(line_start, std::min(text.find('\n', line_start), text.size()) - line_start);
  const std::size_t column = at - line_start;
  const std::string_view where = problem.starts_with("undeclared reference") ? " (in container '')" : "";
  if (shown.size() > 200 || column > 200)
    return base::format("compilation failed: ERROR: <input>:{}:{}: {}{}", line, column + 1, problem, where);
  return base::format("compilation failed: ERROR: <input>:{}:{}: {}{}\n | {}\n | {}^", line, column + 1, problem, where,
                      shown, std::string(column, '.'));
}

// The subject of an expression, and the type that its value must have.
struct Wanted {
  std::vector<std::string> types;
  bool variables = true;
  bool authorizer = true;
  bool messages = false;
};

class Reader {
 public:
  Reader(Policy& policy, Problems& problems) : policy_(policy), problems_(problems) {}

  std::optional<Program> read(const Json& text, const std::string& path, const Wanted& wanted) {
    const std::string content = text.str();
    bytes_ += content.size();
    if (++count_ > kPolicyExpressionsMax) {
      if (count_ == kPolicyExpressionsMax + 1)
        problems_.invalid(path, "", base::format("a policy may have {} expressions", kPolicyExpressionsMax));
      return std::nullopt;
    }
    if (bytes_ > kPolicyBytesMax) {
      if (bytes_ - content.size() <= kPolicyBytesMax)
        problems_.invalid(path, "",
                          base::format("the expressions of a policy may have {} bytes together", kPolicyBytesMax));
      return std::nullopt;
    }
    auto compiled = cel::Expression::compile(content, names(wanted), &patterns_);
    if (!compiled.ok()) {
      problems_.invalid(path, content, compile_message(content, compiled.error().message));
      return std::nullopt;
    }
    Program out{*std::move(compiled)};
    if (!read_variables(out, content, path, wanted) || !check_type(out.expression, content, path, wanted))
      return std::nullopt;
    return out;
  }

  // The variable that comes next; null: it could not be read, which is said once and not wherever it is used.
  void declare(const std::string& name, const Program* program) {
    types_[name] = program == nullptr ? std::string() : program->expression.type(types_);
    places_[name] = policy_.variables.size();
  }

 private:
  std::vector<std::string> names(const Wanted& wanted) const {
    std::vector<std::string> out = {"object", "oldObject", "request", "namespaceObject"};
    if (!policy_.param_kind.empty()) out.emplace_back("params");
    if (wanted.authorizer) out.emplace_back("authorizer");
    if (wanted.variables) out.emplace_back("variables");
    if (wanted.messages) out.insert(out.end(), {"Object", "JSONPatch"});
    return out;
  }

  bool read_variables(Program& program, const std::string& text, const std::string& path, const Wanted& wanted) {
    if (!wanted.variables) return true;
    const cel::Expression::Uses uses = program.expression.uses_of("variables");
    if (uses.otherwise) {
      problems_.invalid(path, text, "compilation failed: variables can only be selected by their names");
      return false;
    }
    for (const std::string& name : uses.fields) {
      if (const auto place = places_.find(name); place != places_.end()) {
        program.variables.push_back(place->second);
        continue;
      }
      problems_.invalid(path, text, base::format("compilation failed: ERROR: undefined field '{}'", name));
      return false;
    }
    return true;
  }

  bool check_type(const cel::Expression& expression, const std::string& text, const std::string& path,
                  const Wanted& wanted) {
    const std::string type = expression.type(types_);
    if (type.empty() || wanted.types.empty()) return true;
    for (const std::string& one : wanted.types)
      if (type == one || (type == "list()" && one.starts_with("list("))) return true;
    std::string all;
    for (const std::string& one : wanted.types) all += (all.empty() ? "" : " ") + one;
    problems_.invalid(path, text,
                      wanted.types.size() == 1 ? base::format("must evaluate to {} but got {}", all, type)
                                               : base::format("must evaluate to one of [{}] but got {}", all, type));
    return false;
  }

  Policy& policy_;
  Problems& problems_;
  cel::Expression::Types types_;
  cel::Patterns patterns_;
  std::map<std::string, std::size_t, std::less<>> places_;
  std::size_t bytes_ = 0, count_ = 0;
};

void read_conditions(const Json& list, const std::string& at, Reader& reader, Policy& out, Problems& problems) {
  if (list.size() > kConditionsMax) problems.too_many(at, list.size(), kConditionsMax);
  std::set<std::string> seen;
  for (std::size_t i = 0; i < std::min(list.size(), kConditionsMax); ++i) {
    const std::string path = base::format("{}[{}]", at, i);
    const std::string name = list[i]["name"].str();
    if (base::trim(list[i]["expression"].as_string(), base::kAllBlanks).empty()) {
      problems.required(path + ".expression");
    } else if (auto one = reader.read(list[i]["expression"], path + ".expression", {{"bool"}, false, true, false})) {
      out.conditions.push_back({name, *std::move(one)});
    }
    if (name.empty()) {
      problems.required(path + ".name");
      continue;
    }
    for (const std::string& problem : check_qualified_name(name)) problems.invalid(path + ".name", name, problem);
    if (!seen.insert(name).second) problems.duplicate(path + ".name", name);
  }
}

void read_variables(const Json& list, Reader& reader, Policy& out, Problems& problems) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string path = base::format("spec.variables[{}]", i);
    const std::string name = list[i]["name"].str();
    if (base::trim(name, base::kAllBlanks).empty())
      problems.required(path + ".name", "name is not specified");
    else if (!is_identifier(name))
      problems.invalid(path + ".name", name, "must be a valid CEL identifier");
    if (base::trim(list[i]["expression"].as_string(), base::kAllBlanks).empty()) {
      problems.required(path + ".expression", "expression is not specified");
      continue;
    }
    auto one = reader.read(list[i]["expression"], path + ".expression", {{}, true, true, out.mutating});
    reader.declare(name, one ? &*one : nullptr);
    if (one) out.variables.push_back({name, *std::move(one)});
  }
}

void check_message(const Json& given, const std::string& path, Problems& problems) {
  if (!given.is_string() || given.as_string().empty()) return;
  const std::string_view message = base::trim(given.as_string(), base::kAllBlanks);
  if (message.empty()) problems.invalid(path, given, "must be non-empty if specified");
  if (message.find_first_of("\r\n") != std::string_view::npos)
    problems.invalid(path, given, "must not contain line breaks");
}

void read_validations(const Json& list, Reader& reader, Policy& out, Problems& problems) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string path = base::format("spec.validations[{}]", i);
    const Json& given = list[i];
    Validation validation;
    check_message(given["message"], path + ".message", problems);
    validation.message = base::trim(given["message"].as_string(), base::kAllBlanks);
    const std::string_view reason = given["reason"].as_string();
    if (given["reason"].is_string()) problems.one_of(path + ".reason", given["reason"], kReasons);
    validation.code = reason == "Forbidden"               ? base::Code::kForbidden
                      : reason == "RequestEntityTooLarge" ? base::Code::kTooLarge
                                                          : base::Code::kInvalid;
    const Json& message = given["messageExpression"];
    if (message.is_string() && !message.as_string().empty()) {
      if (base::trim(message.as_string(), base::kAllBlanks).empty())
        problems.invalid(path + ".messageExpression", message, "must be non-empty if specified");
      else
        validation.message_program =
            reader.read(message, path + ".messageExpression", {{"string"}, true, false, false});
    }
    if (base::trim(given["expression"].as_string(), base::kAllBlanks).empty()) {
      problems.required(path + ".expression", "expression is not specified");
      continue;
    }
    auto one = reader.read(given["expression"], path + ".expression", {{"bool"}, true, true, false});
    if (!one) continue;
    validation.program = *std::move(one);
    out.validations.push_back(std::move(validation));
  }
}

void read_audit_annotations(const Json& list, Reader& reader, Policy& out, Problems& problems) {
  if (list.size() > kAuditAnnotationsMax)
    problems.invalid("spec.auditAnnotations", list,
                     base::format("must not have more than {} auditAnnotations", kAuditAnnotationsMax));
  std::set<std::string> seen;
  for (std::size_t i = 0; i < std::min(list.size(), kAuditAnnotationsMax); ++i) {
    const std::string path = base::format("spec.auditAnnotations[{}]", i);
    const std::string key = list[i]["key"].str();
    for (const std::string& problem : check_qualified_name(out.name + "/" + key))
      problems.invalid(path + ".key", out.name + "/" + key, problem);
    if (!seen.insert(key).second) problems.duplicate(path + ".key", key);
    const std::string_view text = base::trim(list[i]["valueExpression"].as_string(), base::kAllBlanks);
    if (text.empty()) {
      problems.required(path + ".valueExpression", "valueExpression is not specified");
    } else if (text.size() > kAuditAnnotationBytesMax) {
      problems.required(path + ".valueExpression",
                        base::format("must not exceed {} bytes in length", kAuditAnnotationBytesMax));
    } else if (auto one = reader.read(list[i]["valueExpression"], path + ".valueExpression",
                                      {{"string", "null_type"}, true, true, false})) {
      out.audit_annotations.push_back({key, *std::move(one)});
    }
  }
}

void read_mutations(const Json& list, Reader& reader, Policy& out, Problems& problems) {
  if (list.empty()) problems.required("spec.mutations", "mutations must contain at least one item");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string path = base::format("spec.mutations[{}]", i);
    const std::string type = list[i]["patchType"].str();
    if (type.empty()) {
      problems.required(path + ".patchType");
      continue;
    }
    problems.one_of(path + ".patchType", list[i]["patchType"], kPatchTypes);
    if (type != "JSONPatch" && type != "ApplyConfiguration") continue;
    const bool applies = type == "ApplyConfiguration";
    const std::string wanted = applies ? "applyConfiguration" : "jsonPatch";
    const std::string other = applies ? "jsonPatch" : "applyConfiguration";
    if (!list[i][other].is_null())
      problems.invalid(base::format("{}.{}", path, other), "{" + other + "}",
                       base::format("must not be specified when patchType is {}", type));
    const std::string at = base::format("{}.{}", path, wanted);
    if (list[i][wanted].is_null()) {
      problems.required(at, base::format("must be specified when patchType is {}", type));
      continue;
    }
    const Json& text = list[i][wanted]["expression"];
    if (base::trim(text.as_string(), base::kAllBlanks).empty()) {
      problems.required(at + ".expression");
      continue;
    }
    auto one = reader.read(text, at + ".expression", {{applies ? "Object" : "list(JSONPatch)"}, true, true, true});
    if (one) out.mutations.push_back({applies, *std::move(one)});
  }
}

}  // namespace

void policy_detail::read_plain_conditions(const Json& list, const std::string& path, Policy& out, Problems& problems) {
  Reader reader(out, problems);
  read_conditions(list, path, reader, out, problems);
}

std::shared_ptr<const Policy> read_policy(const Json& object, std::vector<Cause>& causes) {
  Problems problems(causes);
  const std::size_t before = causes.size();
  auto out = std::make_shared<Policy>();
  out->name = name_of(object);
  out->mutating = kind_of(object) == "MutatingAdmissionPolicy";
  const Json& spec = object["spec"];
  policy_detail::read_frame(spec, *out, problems);
  Reader reader(*out, problems);
  read_conditions(spec["matchConditions"], "spec.matchConditions", reader, *out, problems);
  read_variables(spec["variables"], reader, *out, problems);
  if (out->mutating) {
    read_mutations(spec["mutations"], reader, *out, problems);
  } else {
    if (spec["validations"].empty() && spec["auditAnnotations"].empty())
      for (const char* path : {"spec.validations", "spec.auditAnnotations"})
        problems.required(path, "validations or auditAnnotations must contain at least one item");
    read_validations(spec["validations"], reader, *out, problems);
    read_audit_annotations(spec["auditAnnotations"], reader, *out, problems);
  }
  if (causes.size() > before) out->problem = causes[before].field + ": " + causes[before].message;
  return out;
}

}  // namespace api::policies
