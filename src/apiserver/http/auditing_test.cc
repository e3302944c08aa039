// The audit log's entries about answers.
#include "apiserver/http/auditing.h"

#include <gtest/gtest.h>

#include "api/protobuf/protobuf.h"
#include "apiserver/http/recording_exchange_for_tests.h"
#include "client/fake_env_for_tests.h"

namespace apiserver {
namespace {

using api::Json;

struct Lines final : rt::LineLog {
  std::vector<Json> lines;

  void append(std::size_t, std::function<std::string()> make) override { lines.push_back(*api::parse_json(make())); }
  void reopen() override {}
};

TEST(Auditing, answers_are_read_whatever_their_form) {
  const auto policy = read_audit_policy(
      *api::parse_json(R"({"apiVersion":"audit.k8s.io/v1","kind":"Policy","rules":[{"level":"RequestResponse"}]})"));
  ASSERT_TRUE(policy.ok());
  client::testing::FakeEnv env;
  const auto log = std::make_shared<Lines>();
  const Auditing auditing(env, *policy, log);
  const Json one =
      *api::parse_json(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"v"}})");
  const Json list = *api::parse_json(
      R"({"apiVersion":"v1","kind":"ConfigMapList","metadata":{"resourceVersion":"7"},"items":[{"data":{"k":"v"}}]})");
  const Json names = *api::parse_json(
      R"({"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadataList","metadata":{},"items":[{"metadata":{"name":"a"}}]})");
  for (const Json* answer : {&one, &list, &names}) {
    rt::HttpRequest request;
    request.method = "GET";
    request.target = "/api/v1/namespaces/n/configmaps";
    std::shared_ptr<std::vector<std::string>> audit_annotations;
    const auto exchange = auditing.watch(request, rt::parse_target(request.target), {{"jane", {}}},
                                         std::make_shared<RecordingExchange>(), audit_annotations);
    exchange->respond({200, {{"Content-Type", "application/vnd.kubernetes.protobuf"}}, api::to_protobuf(*answer)});
    ASSERT_FALSE(log->lines.empty());
    EXPECT_EQ(log->lines.back()["responseObject"].sorted().dump(), answer->sorted().dump());
  }
}

}  // namespace
}  // namespace apiserver
