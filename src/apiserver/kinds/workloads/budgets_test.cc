// Evictions ask budgets, and spend them.
#include <gtest/gtest.h>

#include "apiserver/pipeline/api_for_tests.h"
#include "base/format.h"

namespace apiserver {
namespace {

using api::Json;
using base::Code;
namespace resources = api::resources;

// A disk that has no room but for what gives some.
class FullKv : public rt::KvStore {
 public:
  explicit FullKv(const bool& full) : full_(full) {}
  base::Status commit(const std::function<void(rt::KvWriter&)>& changes) override {
    if (full_) return base::make_error(Code::kUnavailable, "No space left on device");
    return inner_->commit(changes);
  }
  base::Status commit_with_reserve(const std::function<void(rt::KvWriter&)>& changes) override {
    return inner_->commit(changes);
  }
  base::Status scan(std::string_view begin, std::string_view end,
                    const std::function<bool(std::string_view, std::string_view)>& visit) const override {
    return inner_->scan(begin, end, visit);
  }

 private:
  const bool& full_;
  std::unique_ptr<rt::KvStore> inner_ = rt::make_memory_kv();
};

struct Bench : ApiForTests {
  using ApiForTests::ApiForTests;

  base::Result<Json> ask(Verb verb, const api::ResourceId& id, std::string name, std::string_view body,
                         std::string subresource = "", bool dry_run = false) {
    Request request;
    request.verb = verb;
    request.kind = api::find_kind(id);
    request.resource = static_cast<std::uint32_t>(request.kind - api::all_kinds().data());
    request.ns = "default";
    request.name = std::move(name);
    request.subresource = std::move(subresource);
    request.user = {"anna", {"system:masters"}};
    request.default_manager = "test";
    request.dry_run = dry_run;
    if (!body.empty()) request.body = *api::parse_json(body);
    std::optional<base::Result<Answer>> answer;
    api.call(std::move(request), [&](base::Result<Answer> a) { answer.emplace(std::move(a)); });
    env.settle();
    TRY(Answer got, *std::move(answer));
    return object_of(std::move(got));
  }
  void pod(const std::string& name, bool ready) {
    ASSERT_TRUE(ask(Verb::kCreate, resources::kPods, "",
                    base::format(R"({{"metadata": {{"name": "{}", "labels": {{"app": "x"}}}},
                        "spec": {{"nodeName": "n", "containers": [{{"name": "c", "image": "i"}}]}}}})",
                                 name))
                    .ok());
    ASSERT_TRUE(
        ask(Verb::kPatch, resources::kPods, name,
            base::format(R"({{"status": {{"phase": "Running", "conditions": [{{"type": "Ready", "status": "{}"}}]}}}})",
                         ready ? "True" : "False"),
            "status")
            .ok());
  }
  void budget(const std::string& name, std::string_view status, std::string_view more = "") {
    const auto made = ask(Verb::kCreate, resources::kPodDisruptionBudgets, "",
                          base::format(R"({{"metadata": {{"name": "{}"}}, "spec": {{"minAvailable": 1, "selector":
                              {{"matchLabels": {{"app": "x"}}}}{}}}}})",
                                       name, more));
    ASSERT_TRUE(made.ok()) << made.error().message;
    ASSERT_TRUE(
        ask(Verb::kPatch, resources::kPodDisruptionBudgets, name, base::format(R"({{"status": {}}})", status), "status")
            .ok());
  }
  // Empty: it is gone, or on its way.
  std::string evict(const std::string& name, bool dry_run = false) {
    const auto answer = ask(Verb::kCreate, resources::kPods, name, R"({"kind": "Eviction"})", "eviction", dry_run);
    if (answer.ok()) return {};
    std::string text = answer.error().message;
    for (const base::Cause& cause : answer.error().causes) text += " | " + cause.reason + ": " + cause.message;
    return text;
  }
};

constexpr std::string_view kRefused = "Cannot evict pod as it would violate the pod's disruption budget.";

TEST(Evictions, spend_the_budget_and_are_refused_without_one) {
  Bench b;
  for (const char* name : {"a", "b", "c"}) b.pod(name, true);
  b.budget(
      "web",
      R"({"observedGeneration": 1, "disruptionsAllowed": 1, "currentHealthy": 3, "desiredHealthy": 2, "expectedPods": 3})");
  EXPECT_EQ(b.evict("a", true), "");  // a dry run spends nothing
  EXPECT_EQ(b.evict("a"), "");
  const Json status = (*b.ask(Verb::kGet, resources::kPodDisruptionBudgets, "web", ""))["status"];
  EXPECT_EQ(status["disruptionsAllowed"].as_int(), 0);
  EXPECT_TRUE(status["disruptedPods"].has("a"));
  EXPECT_EQ(b.evict("b"),
            std::string(kRefused) +
                " | DisruptionBudget: The disruption budget web needs 2 healthy pods and has 3 currently");
  EXPECT_TRUE(b.ask(Verb::kGet, resources::kPods, "b", "").ok());
  EXPECT_FALSE(api::is_deleting(*b.ask(Verb::kGet, resources::kPods, "b", "")));
  EXPECT_EQ(b.evict("a"), "");  // it is on its way already
}

// The deletion gives room and went through, the budget's write did not.
TEST(Evictions, that_cannot_spend_their_budget_are_none) {
  bool full = false;
  Bench b(std::make_unique<FullKv>(full));
  for (const char* name : {"a", "b"}) b.pod(name, true);
  b.budget(
      "web",
      R"({"observedGeneration": 1, "disruptionsAllowed": 1, "currentHealthy": 3, "desiredHealthy": 2, "expectedPods": 3})");
  full = true;
  EXPECT_FALSE(b.ask(Verb::kPatch, resources::kPods, "a", R"({"metadata": {"labels": {"x": "y"}}})").ok());
  for (const char* name : {"a", "b"}) {
    EXPECT_EQ(b.evict(name), "No space left on device");
    EXPECT_FALSE(api::is_deleting(*b.ask(Verb::kGet, resources::kPods, name, "")));
  }
  full = false;
  b.env.run_for(base::seconds(2));
  EXPECT_EQ(b.evict("a"), "");
  EXPECT_NE(b.evict("b"), "");
}

TEST(Evictions, of_pods_that_serve_nobody_need_no_budget) {
  Bench b;
  b.pod("ill", false);
  b.budget(
      "web",
      R"({"observedGeneration": 1, "disruptionsAllowed": 0, "currentHealthy": 2, "desiredHealthy": 2, "expectedPods": 3})");
  EXPECT_EQ(b.evict("ill"), "");
  Bench few;
  few.pod("ill", false);
  few.budget(
      "web",
      R"({"observedGeneration": 1, "disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 2, "expectedPods": 3})");
  EXPECT_NE(few.evict("ill"), "");
  Bench always;
  always.pod("ill", false);
  always.budget(
      "web",
      R"({"observedGeneration": 1, "disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 2, "expectedPods": 3})",
      R"(, "unhealthyPodEvictionPolicy": "AlwaysAllow")");
  EXPECT_EQ(always.evict("ill"), "");
}

TEST(Evictions, wait_for_a_budget_that_was_not_looked_at_and_take_no_two) {
  Bench b;
  b.pod("a", true);
  b.budget(
      "web",
      R"({"observedGeneration": 0, "disruptionsAllowed": 1, "currentHealthy": 1, "desiredHealthy": 0, "expectedPods": 1})");
  EXPECT_EQ(b.evict("a"), std::string(kRefused) +
                              " | DisruptionBudget: The disruption budget web is still being processed by the server.");
  b.budget("other", "{}");
  EXPECT_EQ(b.evict("a"),
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.");
}

TEST(Budgets, say_one_number) {
  Bench b;
  for (const char* spec :
       {R"({"minAvailable": 1, "maxUnavailable": 1})", R"({"minAvailable": -1})", R"({"maxUnavailable": "x"})",
        R"({"maxUnavailable": "%"})", R"({"unhealthyPodEvictionPolicy": "Never"})"})
    EXPECT_EQ(b.ask(Verb::kCreate, resources::kPodDisruptionBudgets, "",
                    base::format(R"({{"metadata": {{"name": "b"}}, "spec": {}}})", spec))
                  .error()
                  .code,
              Code::kInvalid)
        << spec;
}

}  // namespace
}  // namespace apiserver
