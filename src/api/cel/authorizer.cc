// May the asker do something else, too? Expressions ask:
// authorizer.group('').resource('pods').check('create').allowed().
//
// There are administrators, who may do everything, and others, who may do nothing; so the words between only say what
// is asked about.
#include <algorithm>

#include "api/cel/syntax.h"

namespace api::cel {
namespace {

using Values = std::vector<Value>;

bool are_texts(const Values& a, std::size_t count) {
  return a.size() == count && std::all_of(a.begin(), a.end(), [](const Value& v) { return v.get<std::string>(); });
}

Value narrowed(const Value& object, const Values& a, std::string_view what) {
  const Authorizer* one = object.get<Authorizer>();
  return one != nullptr && !one->decided && are_texts(a, 1) ? Value(*one) : no_overload(what);
}

Value of_decision(const Value& object, const Values& a, std::string_view what, Value (*read)(const Authorizer&)) {
  const Authorizer* one = object.get<Authorizer>();
  return one != nullptr && one->decided && a.empty() ? read(*one) : no_overload(what);
}

constexpr MethodRow kMethods[] = {
    {"path", [](const Value& o, const Values& a, std::uint64_t&) { return narrowed(o, a, "path"); }},
    {"group", [](const Value& o, const Values& a, std::uint64_t&) { return narrowed(o, a, "group"); }},
    {"resource", [](const Value& o, const Values& a, std::uint64_t&) { return narrowed(o, a, "resource"); }},
    {"subresource", [](const Value& o, const Values& a, std::uint64_t&) { return narrowed(o, a, "subresource"); }},
    {"namespace", [](const Value& o, const Values& a, std::uint64_t&) { return narrowed(o, a, "namespace"); }},
    {"name", [](const Value& o, const Values& a, std::uint64_t&) { return narrowed(o, a, "name"); }},
    {"fieldSelector", [](const Value& o, const Values& a, std::uint64_t&) { return narrowed(o, a, "fieldSelector"); }},
    {"labelSelector", [](const Value& o, const Values& a, std::uint64_t&) { return narrowed(o, a, "labelSelector"); }},
    // No service account may do anything.
    {"serviceAccount",
     [](const Value& o, const Values& a, std::uint64_t&) {
       const Authorizer* one = o.get<Authorizer>();
       return one && !one->decided && are_texts(a, 2) ? Value(Authorizer{}) : no_overload("serviceAccount");
     }},
    {"check",
     [](const Value& o, const Values& a, std::uint64_t& cost) {
       const Authorizer* one = o.get<Authorizer>();
       cost += 10;
       return one && !one->decided && are_texts(a, 1) ? Value(Authorizer{one->allowed, true}) : no_overload("check");
     }},
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

}  // namespace api::cel
