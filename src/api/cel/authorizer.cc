// May the asker, or an account, do something else, too? Expressions ask:
// authorizer.group('').resource('pods').namespace('n').check('create').allowed().
#include <algorithm>

#include "api/cel/syntax.h"

namespace api::cel {
namespace {

using Values = std::vector<Value>;
using Stage = Authorizer::Stage;

constexpr std::uint64_t kCheckCost = 10;

bool are_texts(const Values& a, std::size_t count) {
  return a.size() == count && std::all_of(a.begin(), a.end(), [](const Value& v) { return v.get<std::string>(); });
}

// One word more of a question that has come to `at`.
Value with(const Value& object, const Values& a, std::string_view what, Stage at, Stage next,
           std::string AccessQuestion::*word) {
  const Authorizer* one = object.get<Authorizer>();
  if (one == nullptr || one->stage != at || !are_texts(a, 1)) return no_overload(what);
  const std::string& text = *a[0].get<std::string>();
  const bool needed = next == Stage::kPath || (at == Stage::kGroup && next == Stage::kResource);
  if (needed && text.empty()) return fail(std::string(what) + " must not be empty");
  Authorizer out = *one;
  out.stage = next;
  if (word != nullptr) out.question.*word = text;
  return out;
}
Value narrowed(const Value& object, const Values& a, std::string_view what, std::string AccessQuestion::*word) {
  return with(object, a, what, Stage::kResource, Stage::kResource, word);
}

Value of_account(const Value& object, const Values& a) {
  const Authorizer* one = object.get<Authorizer>();
  if (one == nullptr || one->stage != Stage::kWhom || !are_texts(a, 2)) return no_overload("serviceAccount");
  Authorizer out = *one;
  out.account = {*a[0].get<std::string>(), *a[1].get<std::string>()};
  if (out.account.ns.empty() || out.account.name.empty()) return fail("Invalid service account name");
  return out;
}

Value decided(const Value& object, const Values& a, std::uint64_t& cost) {
  const Authorizer* one = object.get<Authorizer>();
  const bool complete = one != nullptr && (one->stage == Stage::kPath || one->stage == Stage::kResource);
  if (!complete || !are_texts(a, 1)) return no_overload("check");
  Authorizer out = *one;
  out.stage = Stage::kDecision;
  out.question.verb = *a[0].get<std::string>();
  cost += kCheckCost + (out.judge ? out.judge->cost : 0);
  out.allowed = out.judge && out.judge->may(out.account, out.question);
  return out;
}

Value of_decision(const Value& object, const Values& a, std::string_view what, Value (*read)(const Authorizer&)) {
  const Authorizer* one = object.get<Authorizer>();
  return one != nullptr && one->stage == Stage::kDecision && a.empty() ? read(*one) : no_overload(what);
}

using Question = AccessQuestion;

constexpr MethodRow kMethods[] = {
    {"path", [](const Value& o, const Values& a,
                std::uint64_t&) { return with(o, a, "path", Stage::kWhom, Stage::kPath, &Question::path); }},
    {"group", [](const Value& o, const Values& a,
                 std::uint64_t&) { return with(o, a, "group", Stage::kWhom, Stage::kGroup, &Question::group); }},
    {"resource",
     [](const Value& o, const Values& a, std::uint64_t&) {
       return with(o, a, "resource", Stage::kGroup, Stage::kResource, &Question::resource);
     }},
    {"subresource", [](const Value& o, const Values& a,
                       std::uint64_t&) { return narrowed(o, a, "subresource", &Question::subresource); }},
    {"namespace",
     [](const Value& o, const Values& a, std::uint64_t&) { return narrowed(o, a, "namespace", &Question::ns); }},
    {"name", [](const Value& o, const Values& a, std::uint64_t&) { return narrowed(o, a, "name", &Question::name); }},
    // Roles know no selectors: who may see all may see some.
    {"fieldSelector",
     [](const Value& o, const Values& a, std::uint64_t&) { return narrowed(o, a, "fieldSelector", nullptr); }},
    {"labelSelector",
     [](const Value& o, const Values& a, std::uint64_t&) { return narrowed(o, a, "labelSelector", nullptr); }},
    {"serviceAccount", [](const Value& o, const Values& a, std::uint64_t&) { return of_account(o, a); }},
    {"check", decided},
    {"allowed",
     [](const Value& o, const Values& a, std::uint64_t&) {
       return of_decision(o, a, "allowed", [](const Authorizer& one) { return Value(one.allowed); });
     }},
    {"reason", [](const Value& o, const Values& a,
                  std::uint64_t&) { return of_decision(o, a, "reason", [](const Authorizer&) { return Value(""); }); }},
    {"errored",
     [](const Value& o, const Values& a, std::uint64_t&) {
       return of_decision(o, a, "errored", [](const Authorizer&) { return Value(false); });
     }},
    {"error", [](const Value& o, const Values& a,
                 std::uint64_t&) { return of_decision(o, a, "error", [](const Authorizer&) { return Value(""); }); }},
};

}  // namespace

Library authorizer_library() { return {{}, kMethods}; }

Value of_request(const Authorizer& whom) {
  if (whom.stage != Stage::kWhom) return no_overload("select requestResource");
  Authorizer out = whom;
  out.question = whom.of_request;
  out.stage = Stage::kResource;
  return out;
}

}  // namespace api::cel
