// Admission policies, written to the server and then in force: refusals, warnings, notes, parameters, mutations.
#include <gtest/gtest.h>

#include "api/policies/policy.h"
#include "apiserver/pipeline/api_for_tests.h"
#include "base/format.h"

namespace apiserver {
namespace {

using api::Json;
using base::Code;

Json json(std::string_view text) {
  auto parsed = api::parse_json(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.ok() ? *parsed : Json();
}

struct Bench : ApiForTests {
  Request request(Verb verb, const api::ResourceId& id, std::string_view body) {
    Request r;
    r.verb = verb;
    r.kind = api::find_kind(id);
    r.resource = static_cast<std::uint32_t>(r.kind - api::all_kinds().data());
    if (r.kind->namespaced) r.ns = "default";
    r.body = json(body);
    r.default_manager = "test";
    r.user = {"anna", {"system:masters"}};
    if (verb != Verb::kCreate) r.name = api::name_of(r.body);
    return r;
  }
  base::Result<Answer> call(Request r) {
    std::optional<base::Result<Answer>> answer;
    api.call(std::move(r), [&](base::Result<Answer> a) { answer.emplace(std::move(a)); });
    env.settle();
    EXPECT_TRUE(answer.has_value());
    return *std::move(answer);
  }
  base::Result<Answer> create(const api::ResourceId& id, std::string_view body) {
    return call(request(Verb::kCreate, id, body));
  }
  void made(const api::ResourceId& id, std::string_view body) {
    const auto answer = create(id, body);
    EXPECT_TRUE(answer.ok()) << (answer.ok() ? "" : answer.error().message);
  }
  std::string refusal(const api::ResourceId& id, std::string_view body) {
    const auto answer = create(id, body);
    return answer.ok() ? "" : answer.error().message;
  }

  // A policy about ConfigMaps, and a binding that puts it in force.
  void policy(std::string_view spec, std::string_view binding = R"j("validationActions": ["Deny"])j") {
    made(api::policies::kValidatingPolicies,
         base::format(R"j({{"metadata": {{"name": "p"}}, "spec": {{"matchConstraints": {{"resourceRules": [
           {{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}}]}}, {}}}}})j",
                      spec));
    made(api::policies::kValidatingBindings,
         base::format(R"j({{"metadata": {{"name": "b"}}, "spec": {{"policyName": "p", {}}}}})j", binding));
  }
  void mutation(std::string_view mutations, std::string_view more = "", std::string_view name = "m") {
    made(
        api::policies::kMutatingPolicies,
        base::format(R"j({{"metadata": {{"name": "{}"}}, "spec": {{"reinvocationPolicy": "Never", {} "matchConstraints":
           {{"resourceRules": [{{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
           "resources": ["configmaps"]}}]}}, "mutations": {}}}}})j",
                     name, more, mutations));
    made(api::policies::kMutatingBindings,
         base::format(R"j({{"metadata": {{"name": "{0}"}}, "spec": {{"policyName": "{0}"}}}})j", name));
  }
};

const api::ResourceId& kMaps = api::resources::kConfigMaps;

TEST(Policies, refuse_what_they_are_about_once_they_are_bound) {
  Bench bench;
  bench.policy(R"j("validations": [{"expression": "object.metadata.name != 'evil'", "message": "no evil"}])j");
  EXPECT_EQ(bench.refusal(kMaps, R"j({"metadata": {"name": "good"}})j"), "");
  const auto refused = bench.create(kMaps, R"j({"metadata": {"name": "evil"}})j");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kInvalid);
  EXPECT_EQ(refused.error().message,
            "configmaps \"evil\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no evil");
  // A policy refuses nothing once its binding is gone.
  Request gone = bench.request(Verb::kDelete, api::policies::kValidatingBindings, R"j({"metadata": {"name": "b"}})j");
  gone.body = {};
  EXPECT_TRUE(bench.call(std::move(gone)).ok());
  EXPECT_EQ(bench.refusal(kMaps, R"j({"metadata": {"name": "evil"}})j"), "");
}

TEST(Policies, do_not_keep_a_server_from_starting_nor_themselves_from_being_deleted) {
  Bench bench;
  bench.made(api::policies::kValidatingPolicies,
             R"j({"metadata": {"name": "p"}, "spec": {"matchConstraints": {"resourceRules": [{"apiGroups": ["*"],
               "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}]}, "validations": [{"expression": "false"}]}})j");
  bench.made(api::policies::kValidatingBindings,
             R"j({"metadata": {"name": "b"}, "spec": {"policyName": "p", "validationActions": ["Deny"]}})j");
  EXPECT_NE(bench.refusal(kMaps, R"({"metadata": {"name": "a"}})"), "");
  std::optional<base::Status> started;
  bench.api.bootstrap([&](base::Status status) { started = std::move(status); });
  bench.env.settle();
  ASSERT_TRUE(started.has_value());
  EXPECT_TRUE(started->ok()) << (started->ok() ? "" : started->error().message);
  for (const auto& [id, name] :
       {std::pair{api::policies::kValidatingBindings, "b"}, {api::policies::kValidatingPolicies, "p"}}) {
    Request gone = bench.request(Verb::kDelete, id, base::format(R"({{"metadata": {{"name": "{}"}}}})", name));
    gone.body = {};
    EXPECT_TRUE(bench.call(std::move(gone)).ok()) << name;
  }
  EXPECT_EQ(bench.refusal(kMaps, R"({"metadata": {"name": "a"}})"), "");
}

// Each by its own rules: a write of the status is not a write of the object, and what goes away is seen as it was.
TEST(Policies, see_updates_deletions_and_subresources) {
  Bench bench;
  bench.made(api::policies::kValidatingPolicies,
             R"j({"metadata": {"name": "p"}, "spec": {"matchConstraints": {"resourceRules": [
               {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE", "DELETE"], "resources": ["configmaps"]},
               {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["namespaces/status"]}]},
               "validations": [{"expression": "request.operation != 'UPDATE' || request.subResource != '' || oldObject.data == object.data",
               "message": "data stays"}, {"expression": "request.operation != 'DELETE' || (object == null && oldObject.data.x != 'keep')",
               "message": "kept"}, {"expression": "request.subResource != 'status'", "message": "no status"}]}})j");
  bench.made(api::policies::kValidatingBindings,
             R"j({"metadata": {"name": "b"}, "spec": {"policyName": "p", "validationActions": ["Deny"]}})j");
  EXPECT_EQ(bench.refusal(kMaps, R"({"metadata": {"name": "a"}, "data": {"x": "keep"}})"), "");
  const auto message_of = [&](Request request) {
    const auto answer = bench.call(std::move(request));
    const std::string text = answer.ok() ? "" : answer.error().message;
    return text.substr(std::min(text.size(), text.find("denied request: ") + 16));
  };
  EXPECT_EQ(message_of(bench.request(Verb::kPatch, kMaps, R"({"metadata": {"name": "a"}, "data": {"x": "2"}})")),
            "data stays");
  EXPECT_TRUE(
      bench.call(bench.request(Verb::kPatch, kMaps, R"({"metadata": {"name": "a", "labels": {"b": "c"}}})")).ok());
  Request gone = bench.request(Verb::kDelete, kMaps, R"({"metadata": {"name": "a"}})");
  gone.body = {};
  EXPECT_EQ(message_of(std::move(gone)), "kept");
  Request status = bench.request(Verb::kPatch, api::resources::kNamespaces,
                                 R"({"metadata": {"name": "default"}, "status": {"conditions": []}})");
  status.subresource = "status";
  EXPECT_EQ(message_of(std::move(status)), "no status");
}

struct Row {
  const char* spec;
  const char* object;
  const char* message;  // behind "denied request: "; empty: allowed
};

TEST(Policies, say_what_they_refuse_and_why) {
  constexpr Row kRows[] = {
      {R"j("validations": [{"expression": "has(object.data)"}])j", R"j({"metadata": {"name": "a"}})j",
       "failed expression: has(object.data)"},
      {R"j("validations": [{"expression": "has(object.data)", "message": "m", "messageExpression": "'no data in ' + object.metadata.name"}])j",
       R"j({"metadata": {"name": "a"}})j", "no data in a"},
      {R"j("validations": [{"expression": "has(object.data)", "message": "m", "messageExpression": "string(object.data.x)"}])j",
       R"j({"metadata": {"name": "a"}})j", "m"},
      {R"j("variables": [{"name": "n", "expression": "size(object.metadata.name)"}, {"name": "big", "expression": "variables.n > 3"}],
          "validations": [{"expression": "!variables.big", "messageExpression": "string(variables.n) + ' letters'"}])j",
       R"j({"metadata": {"name": "abcd"}})j", "4 letters"},
      {R"j("matchConditions": [{"name": "c", "expression": "object.metadata.name == 'x'"}], "validations": [{"expression": "false"}])j",
       R"j({"metadata": {"name": "a"}})j", ""},
      {R"j("validations": [{"expression": "object.data.x == '1'"}])j", R"j({"metadata": {"name": "a"}})j",
       "expression 'object.data.x == '1'' resulted in error: no such key: data"},
      {R"j("failurePolicy": "Ignore", "validations": [{"expression": "object.data.x == '1'"}])j",
       R"j({"metadata": {"name": "a"}})j", ""},
      {R"j("validations": [{"expression": "request.operation == 'UPDATE' || request.userInfo.username == 'bert'", "message": "op"}])j",
       R"j({"metadata": {"name": "a"}})j", "op"},
      {R"j("validations": [{"expression": "namespaceObject.metadata.name == 'default' && oldObject == null && authorizer.group('').resource('pods').check('get').allowed()"}])j",
       R"j({"metadata": {"name": "a"}})j", ""},
      {R"j("validations": [{"expression": "false", "message": "f", "reason": "Forbidden"}])j",
       R"j({"metadata": {"name": "a"}})j", "f"},
  };
  for (const Row& row : kRows) {
    Bench bench;
    bench.policy(row.spec);
    const std::string message = bench.refusal(kMaps, row.object);
    const std::size_t at = message.find("denied request: ");
    EXPECT_EQ(at == std::string::npos ? message : message.substr(at + 16), row.message) << row.spec;
  }
}

TEST(Policies, ask_what_roles_allow) {
  struct Case {
    const char* expression;
    bool holds;
  };
  constexpr Case kCases[] = {
      {"authorizer.group('').resource('pods').namespace('default').check('get').allowed()", true},
      {"authorizer.group('').resource('pods').namespace('other').check('get').allowed()", false},
      {"authorizer.group('').resource('pods').check('get').allowed()", false},
      {"authorizer.group('').resource('pods').namespace('default').name('a').check('get').allowed()", true},
      {"authorizer.group('').resource('pods').subresource('log').namespace('default').check('get').allowed()", false},
      {"authorizer.group('apps').resource('pods').namespace('default').check('get').allowed()", false},
      {"authorizer.requestResource.check('create').allowed()", true},
      {"authorizer.requestResource.check('delete').allowed()", false},
      {"authorizer.path('/metrics').check('get').allowed()", false},
      {"authorizer.path('/metrics').check('get').reason() == ''", true},
      {"authorizer.serviceAccount('other', "
       "'robot').group('').resource('pods').namespace('default').check('get').allowed()",
       true},
      {"authorizer.serviceAccount('default', "
       "'robot').group('').resource('pods').namespace('default').check('get').allowed()",
       false},
  };
  for (const Case& one : kCases) {
    Bench bench;
    bench.made({"rbac.authorization.k8s.io", "v1", "roles"}, R"j({"metadata": {"name": "reads"}, "rules": [
      {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]},
      {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]}]})j");
    bench.made({"rbac.authorization.k8s.io", "v1", "rolebindings"}, R"j({"metadata": {"name": "reads"},
      "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reads"},
      "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "jane"},
                   {"kind": "ServiceAccount", "namespace": "other", "name": "robot"}]})j");
    bench.policy(base::format(R"j("validations": [{{"expression": "{}"}}])j", one.expression));
    Request request = bench.request(Verb::kCreate, kMaps, R"j({"metadata": {"name": "a"}})j");
    request.user = {"jane", {}};
    const auto answer = bench.call(std::move(request));
    EXPECT_EQ(answer.ok(), one.holds) << one.expression << (answer.ok() ? "" : answer.error().message);
  }
}

TEST(Policies, warn_and_note) {
  Bench bench;
  bench.policy(R"j("validations": [{"expression": "false", "message": "careful"}])j",
               R"j("validationActions": ["Warn", "Audit"])j");
  const auto answer = bench.create(kMaps, R"j({"metadata": {"name": "a"}})j");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->warnings,
            std::vector<std::string>{"Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': careful"});
}

TEST(Policies, have_parameters) {
  const std::string spec = R"j("paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
    "matchConditions": [{"name": "others", "expression": "object.metadata.name != params.metadata.name"}],
    "validations": [{"expression": "size(object.metadata.name) <= int(params.data.most)",
                     "messageExpression": "'at most ' + params.data.most"}])j";
  const std::string by_name =
      R"j("validationActions": ["Deny"], "paramRef": {"name": "limits", "parameterNotFoundAction": "Deny"})j";
  const std::string by_label =
      R"j("validationActions": ["Deny"], "paramRef": {"selector": {"matchLabels": {"limits": "yes"}},
    "parameterNotFoundAction": "Allow"})j";
  const char* const kLimits =
      R"j({"metadata": {"name": "limits", "labels": {"limits": "yes"}}, "data": {"most": "3"}})j";
  for (const std::string& binding : {by_name, by_label}) {
    Bench bench;
    bench.made(kMaps, kLimits);
    bench.policy(spec, binding);
    EXPECT_EQ(bench.refusal(kMaps, R"j({"metadata": {"name": "abc"}})j"), "");
    EXPECT_NE(bench.refusal(kMaps, R"j({"metadata": {"name": "abcd"}})j").find("at most 3"), std::string::npos);
  }
  for (const auto& [binding, refused] : {std::pair{by_name, true}, {by_label, false}}) {
    Bench bench;
    bench.policy(spec, binding);
    const std::string message = bench.refusal(kMaps, R"j({"metadata": {"name": "abcd"}})j");
    EXPECT_EQ(
        message.find("no params found for policy binding with `Deny` parameterNotFoundAction") != std::string::npos,
        refused)
        << message;
  }
}

TEST(Policies, match_by_rules_and_selectors) {
  struct Case {
    const char* match;
    bool refuses;
  };
  constexpr Case kCases[] = {
      {R"j("resourceRules": [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["*"]}])j",
       true},
      {R"j("resourceRules": [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}])j",
       true},
      {R"j("resourceRules": [{"apiGroups": ["apps"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}])j",
       false},
      {R"j("resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["DELETE"], "resources": ["configmaps"]}])j",
       false},
      {R"j("resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps/status"]}])j",
       false},
      {R"j("resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"], "scope": "Cluster"}])j",
       false},
      {R"j("resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"], "resourceNames": ["b"]}])j",
       false},
      {R"j("resourceRules": [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}],
          "excludeResourceRules": [{"apiGroups": [""], "apiVersions": ["*"], "operations": ["*"], "resources": ["configmaps"]}])j",
       false},
      {R"j("namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "other"}}, "resourceRules": [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}])j",
       false},
      {R"j("objectSelector": {"matchLabels": {"app": "web"}}, "resourceRules": [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}])j",
       true},
      {R"j("objectSelector": {"matchLabels": {"app": "db"}}, "resourceRules": [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}])j",
       false},
  };
  for (const Case& one : kCases) {
    Bench bench;
    bench.made(api::policies::kValidatingBindings,
               R"j({"metadata": {"name": "b"}, "spec": {"policyName": "p", "validationActions": ["Deny"]}})j");
    bench.made(
        api::policies::kValidatingPolicies,
        base::format(
            R"j({{"metadata": {{"name": "p"}}, "spec": {{"matchConstraints": {{{}}}, "validations": [{{"expression": "false"}}]}}}})j",
            one.match));
    EXPECT_EQ(!bench.refusal(kMaps, R"j({"metadata": {"name": "a", "labels": {"app": "web"}}})j").empty(), one.refuses)
        << one.match;
  }
}

TEST(Policies, change_what_is_made) {
  struct Case {
    const char* mutations;
    const char* object;
    const char* data;
    const char* message;
  };
  constexpr Case kCases[] = {
      {R"j([{"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 'add', path: '/data', value: {'a': '1'}}]"}}])j",
       R"j({"metadata": {"name": "x"}})j", R"j({"a":"1"})j", ""},
      {R"j([{"patchType": "JSONPatch", "jsonPatch": {"expression": "has(object.data) ? [] : [JSONPatch{op: 'add', path: '/metadata/annotations', value: {'a/b': 'old'}}]"}},
           {"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 'replace', path: '/metadata/annotations/' + jsonpatch.escapeKey('a/b'), value: 'new'}]"}},
           {"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 'add', path: '/data', value: {'x': object.metadata.annotations['a/b']}}]"}}])j",
       R"j({"metadata": {"name": "x"}})j", R"j({"x":"new"})j", ""},
      {R"j([{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{data: {'b': '2'}}"}}])j",
       R"j({"metadata": {"name": "x"}, "data": {"a": "1"}})j", R"j({"a":"1","b":"2"})j", ""},
      {R"j([{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{metadata: Object.metadata{name: 'other'}}"}}])j",
       R"j({"metadata": {"name": "x"}})j", "null",
       "policy 'm' with binding 'm' denied request: metadata.name may not be changed"},
      {R"j([{"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 'test', path: '/data', value: 1}]"}}])j",
       R"j({"metadata": {"name": "x"}})j", "null", "JSON Patch: "},
  };
  for (const Case& one : kCases) {
    Bench bench;
    bench.mutation(one.mutations);
    const auto answer = bench.create(kMaps, one.object);
    if (answer.ok())
      EXPECT_EQ(object_of(*answer)["data"].dump(), one.data) << one.mutations;
    else
      EXPECT_NE(answer.error().message.find(one.message), std::string::npos) << answer.error().message;
    EXPECT_EQ(answer.ok(), *one.message == '\0') << one.mutations;
  }
}

TEST(Policies, see_again_what_others_changed_if_they_ask_for_it) {
  for (const bool again : {false, true}) {
    Bench bench;
    // The first in order counts what is there when it is asked.
    bench.made(api::policies::kMutatingPolicies,
               base::format(R"j({{"metadata": {{"name": "a"}}, "spec": {{"reinvocationPolicy": "{}", "matchConstraints":
        {{"resourceRules": [{{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}}]}},
        "mutations": [{{"patchType": "ApplyConfiguration", "applyConfiguration": {{"expression":
        "Object{{data: {{'count': string(size(object.data))}}}}"}}}}]}}}})j",
                            again ? "IfNeeded" : "Never"));
    bench.made(api::policies::kMutatingBindings, R"j({"metadata": {"name": "a"}, "spec": {"policyName": "a"}})j");
    bench.mutation(
        R"j([{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{data: {'b': '2'}}"}}])j",
        "", "z");
    const auto answer = bench.create(kMaps, R"j({"metadata": {"name": "x"}, "data": {"a": "1"}})j");
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(object_of(*answer)["data"]["count"].as_string(), again ? "3" : "1");
  }
}

TEST(Policies, that_cost_much_are_judged_beside_the_loop_and_come_to_an_end) {
  Bench bench;
  const std::string ten = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]";
  const auto nested = [&](int depth) {
    std::string out = "true";
    for (int i = 0; i < depth; ++i) out = base::format("{}.all(x{}, {})", ten, i, out);
    return base::format("\"validations\": [{{\"expression\": \"{}\"}}]", out);
  };
  // Some hundred thousand steps: more than the loop has for a write, and little beside it.
  bench.policy(nested(4));
  EXPECT_EQ(bench.refusal(kMaps, R"({"metadata": {"name": "a"}})"), "");
  Bench worse;
  worse.policy(nested(6));
  EXPECT_NE(
      worse.refusal(kMaps, R"({"metadata": {"name": "a"}})").find("operation cancelled: actual cost limit exceeded"),
      std::string::npos);
}

TEST(Policies, are_checked_when_they_are_written) {
  constexpr const char* kFrame = R"j({{"metadata": {{"name": "p"}}, "spec": {{"matchConstraints": {{"resourceRules": [
    {{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}}]}}, {}}}}})j";
  struct Case {
    const char* spec;
    const char* message;
  };
  constexpr Case kCases[] = {
      {R"j("validations": [{"expression": "object.x ==="}])j",
       "spec.validations[0].expression: Invalid value: \"object.x ===\": compilation failed: ERROR: <input>:1:12: "},
      {R"j("validations": [{"expression": "objekt.x == 1"}])j", "undeclared reference to 'objekt' (in container '')"},
      {R"j("validations": [{"expression": "object.x"}])j", "must evaluate to bool but got dyn"},
      {R"j("validations": [{"expression": "params.x == 1"}])j", "undeclared reference to 'params'"},
      {R"j("validations": [{"expression": "variables.x == 1"}])j", "undefined field 'x'"},
      {R"j("matchConditions": [{"name": "c", "expression": "variables.x"}], "variables": [{"name": "x", "expression": "true"}], "validations": [{"expression": "true"}])j",
       "spec.matchConditions[0].expression: Invalid value: \"variables.x\": compilation failed: "},
      {R"j("variables": [{"name": "in", "expression": "true"}], "validations": [{"expression": "true"}])j",
       "spec.variables[0].name: Invalid value: \"in\": must be a valid CEL identifier"},
      {R"j("validations": [{"expression": "true", "messageExpression": "1 + 1"}])j",
       "must evaluate to string but got int"},
      {R"j("validations": [{"expression": "true", "reason": "Sad"}])j",
       "spec.validations[0].reason: Unsupported value: \"Sad\": supported values: \"Forbidden\", \"Invalid\", "
       "\"RequestEntityTooLarge\""},
      {R"j("failurePolicy": "Maybe", "validations": [{"expression": "true"}])j",
       "spec.failurePolicy: Unsupported value: \"Maybe\": supported values: \"Fail\", \"Ignore\""},
      {R"j("paramKind": {"apiVersion": "a/b/c", "kind": "X"}, "validations": [{"expression": "true"}])j",
       "spec.paramKind.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c"},
      {R"j("validations": [])j", "validations or auditAnnotations must contain at least one item"},
      {R"j("validations": [{"expression": "'a'.matches('(')"}])j", "invalid matches argument"},
  };
  Bench bench;
  for (const Case& one : kCases) {
    const std::string message = bench.refusal(api::policies::kValidatingPolicies, base::format(kFrame, one.spec));
    EXPECT_NE(message.find(one.message), std::string::npos) << one.spec << "\n" << message;
  }
  EXPECT_NE(
      bench
          .refusal(
              api::policies::kValidatingBindings,
              R"j({"metadata": {"name": "b"}, "spec": {"policyName": "p", "validationActions": ["Deny", "Warn"]}})j")
          .find("must not contain both Deny and Warn"),
      std::string::npos);
  EXPECT_NE(
      bench
          .refusal(
              api::policies::kMutatingPolicies,
              R"j({"metadata": {"name": "m"}, "spec": {"mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": "Object{a: Object.b{}}"}}]}})j")
          .find("expected type of field 'a' is 'Object.a' but provided type is 'Object.b'"),
      std::string::npos);
}

}  // namespace
}  // namespace apiserver
