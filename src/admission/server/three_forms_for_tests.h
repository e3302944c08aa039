// One object, judged in three forms: by the rules in this process, by the webhook server, and by the policies that
// `volcano policies` prints, evaluated as an API server evaluates them.
#pragma once

#include <gtest/gtest.h>

#include "admission/policies/policy_objects.h"
#include "admission/rules/fake_objects_for_tests.h"
#include "admission/server/review.h"
#include "admission/server/server.h"
#include "api/kinds.h"
#include "api/policies/judge.h"
#include "api/policies/policy.h"
#include "base/format.h"

namespace admission {

using api::Json;
using api::Operation;

inline const api::policies::Set& policies() {
  static const api::policies::Set all = [] {
    std::vector<std::shared_ptr<const api::policies::Policy>> read;
    std::vector<std::shared_ptr<const api::policies::Binding>> bindings;
    std::vector<Json> objects = validating_policy_objects();
    for (Json& one : mutating_policy_objects("v1")) objects.push_back(std::move(one));
    for (Json& object : objects) {
      std::vector<base::Cause> causes;
      api::policies::apply_defaults(object);
      if (api::kind_of(object).ends_with("Binding"))
        bindings.push_back(api::policies::read_binding(object, causes));
      else
        read.push_back(api::policies::read_policy(object, causes));
      const api::KindInfo* kind = api::find_kind_named(object["apiVersion"].as_string(), api::kind_of(object));
      api::validate(*kind->schema, object, {}, causes);
      for (const base::Cause& cause : causes)
        ADD_FAILURE() << api::name_of(object) << ": " << cause.field << ": " << cause.message;
    }
    return api::policies::bind(read, bindings);
  }();
  return all;
}

inline const FakeObjects& world() {
  static const FakeObjects objects = [] {
    FakeObjects all;
    all.add(api::resources::kQueues, R"j({"metadata": {"name": "default"}, "spec": {}, "status": {"state": "Open"}})j");
    all.add(api::resources::kQueues, R"j({"metadata": {"name": "root"}, "spec": {}, "status": {"state": "Open"}})j");
    all.add(api::resources::kQueues, R"j({"kind": "Queue", "metadata": {"name": "lab", "annotations":
      {"volcano.sh/allowed-namespaces": "lab, ml", "volcano.sh/allowed-users": "anna"}}, "spec": {}})j");
    all.add(api::resources::kQueues, R"j({"kind": "Queue", "metadata": {"name": "others", "annotations":
      {"volcano.sh/allowed-namespaces": "lab"}}, "spec": {}})j");
    all.add(api::resources::kQueues, R"j({"kind": "Queue", "metadata": {"name": "team", "annotations":
      {"volcano.sh/allowed-users": "ben,carl", "volcano.sh/allowed-groups": "team a"}}, "spec": {}})j");
    all.add(api::resources::kNamespaces, R"j({"metadata": {"name": "ml", "annotations":
      {"scheduling.volcano.sh/queue-name": "special"}}})j");
    all.add(api::resources::kNamespaces, R"j({"metadata": {"name": "default"}})j");
    all.add(api::resources::kNamespaces, R"j({"metadata": {"name": "none", "annotations":
      {"scheduling.volcano.sh/queue-name": ""}}})j");
    return all;
  }();
  return objects;
}

inline api::AdmissionRequest request_for(const api::ResourceId& resource, Operation operation, const Json& object,
                                         const Json& old_object) {
  const Json& about = object.is_null() ? old_object : object;
  return {.operation = operation,
          .resource = resource,
          .kind = api::find_kind(resource)->kind,
          .subresource = {},
          .ns = api::find_kind(resource)->namespaced ? std::string(api::namespace_of(about)) : "",
          .name = std::string(api::name_of(about)),
          .object = object,
          .old_object = old_object,
          .user = "anna",
          .groups = {}};
}

inline const api::AdmissionHook& hook_at(const std::vector<api::AdmissionHook>& all, std::string_view path) {
  for (const api::AdmissionHook& one : all)
    if (one.path == path) return one;
  ADD_FAILURE() << path;
  return all.front();
}

// The webhook server's answers over HTTP.
inline std::string webhook_message(std::string_view path, const api::AdmissionRequest& request) {
  constexpr const char* kWords[] = {"CREATE", "UPDATE", "DELETE", "CONNECT"};
  const Json review =
      Json::object({{"apiVersion", "admission.k8s.io/v1"},
                    {"kind", "AdmissionReview"},
                    {"request", Json::object({{"uid", "1"},
                                              {"kind", Json::object({{"kind", request.kind}})},
                                              {"resource", Json::object({{"group", request.resource.group},
                                                                         {"version", request.resource.version},
                                                                         {"resource", request.resource.plural}})},
                                              {"operation", kWords[static_cast<std::size_t>(request.operation)]},
                                              {"name", request.name},
                                              {"namespace", request.ns},
                                              {"object", request.object},
                                              {"oldObject", request.old_object}})}});
  const rt::HttpRequest http{.method = "POST",
                             .target = std::string(path),
                             .headers = {{"Content-Type", "application/json"}},
                             .body = review.dump(),
                             .peer_common_name = {},
                             .peer_organizations = {}};
  const Json answer = json(answer_http(http, hooks({.in_process = false}), world()).body);
  return answer["response"]["status"]["message"].str();
}

inline std::string policy_message(const api::AdmissionRequest& request) {
  api::policies::Budget budget;
  const auto judgement = api::policies::validate(policies(), request, world(), budget);
  if (!judgement.refusal) return "";
  EXPECT_EQ(judgement.refusal->code, base::Code::kInvalid);
  const std::string& text = judgement.refusal->message;
  const std::size_t at = text.find("denied request: ");
  return at == std::string::npos ? text : text.substr(at + 16);
}

// The reason why a policy does not refuse an object that a webhook refuses.
inline constexpr const char* kOtherObjects = "webhook: it takes other objects to know";
inline constexpr const char* kTemplates = "webhook: the rules of pod templates are more than expressions hold";
inline constexpr const char* kGraphs = "webhook: a graph has no depth that is known before";
inline constexpr const char* kWords = "webhook: it takes equality of quantities in other words";

inline bool is_left_out(const char* policy) { return std::string_view(policy).starts_with("webhook: "); }

struct Row {
  const char* object;   // of the kind of the test; spec, or more
  const char* webhook;  // part of what rules and webhooks say; empty: allowed
  const char* policy;   // what the policy says; one of the reasons above; null: part of what webhooks say
};

inline void compare(std::string_view path, const api::ResourceId& resource, Operation operation, const Json& object,
                    const Json& old_object, const Row& row) {
  const api::AdmissionRequest request = request_for(resource, operation, object, old_object);
  const std::string in_process = hook_at(hooks({}), path).review(request, world()).message;
  if (*row.webhook == '\0')
    EXPECT_EQ(in_process, "") << row.object;
  else
    EXPECT_NE(in_process.find(row.webhook), std::string::npos) << row.object << "\n" << in_process;
  EXPECT_EQ(webhook_message(path, request), in_process) << row.object;
  const char* expected = row.policy == nullptr ? row.webhook : is_left_out(row.policy) ? "" : row.policy;
  EXPECT_EQ(policy_message(request), expected) << row.object;
}

}  // namespace admission
