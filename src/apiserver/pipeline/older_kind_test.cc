// Requests by a definition that is replaced while they wait: their kind stays as long as somebody reads it.
#include <gtest/gtest.h>

#include "apiserver/custom/custom_for_tests.h"
#include "apiserver/webhooks/caller.h"

namespace apiserver {
namespace {

// Makes another definition of the widgets the one in force.
void replace_definition(CustomBench& bench) {
  Request patch =
      bench.request(Verb::kPatch, kDefinitions, "widgets.example.com", yaml("{spec: {names: {shortNames: [other]}}}"));
  patch.patch_type = PatchType::kMerge;
  bench.ok(std::move(patch));
}

TEST(OlderKind, stays_until_what_is_answered_is_durable) {
  CustomBench bench;
  bench.define_widgets();
  Request remove = bench.request(Verb::kDelete, kWidgetsV1, "none");
  const std::weak_ptr<const void> kind = remove.holds_kind;
  replace_definition(bench);
  ASSERT_NE(bench.api.kinds()->find(kWidgetsV1).custom, kind.lock());
  bench.api.call(bench.request(Verb::kCreate, api::resources::kConfigMaps, "", yaml("{metadata: {name: a}}")),
                 [](base::Result<Answer>) {});
  std::optional<base::Result<Answer>> answer;
  bench.api.call(std::move(remove), [&](base::Result<Answer> one) { answer.emplace(std::move(one)); });
  remove = Request();
  ASSERT_FALSE(answer.has_value());
  EXPECT_FALSE(kind.expired());
  bench.env.settle();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->error().code, base::Code::kNotFound);
  EXPECT_TRUE(kind.expired());
}

// Answers when a test says so.
struct SlowCaller final : WebhookCaller {
  void call(const api::ObjectReader&, const api::policies::WebhookAddress&, std::string body, base::Duration,
            OnReply on_reply) override {
    review = yaml(body);
    reply = std::move(on_reply);
  }
  Json review;
  OnReply reply;
};

TEST(OlderKind, stays_until_a_webhook_has_answered_a_watch_that_is_over) {
  CustomBench bench;
  Json definition = yaml(kWidgets);
  definition.edit("spec").set("conversion", yaml("{strategy: Webhook, webhook: {conversionReviewVersions: [v1], "
                                                 "clientConfig: {url: 'https://converts/'}}}"));
  bench.define(definition);
  Request watched = bench.request(Verb::kWatch, kWidgetsBeta, "");
  const std::weak_ptr<const void> kind = watched.holds_kind;
  replace_definition(bench);
  ASSERT_NE(bench.api.kinds()->find(kWidgetsBeta).custom, kind.lock());
  SlowCaller caller;
  Api asks(bench.env, *bench.store, ApiOptions{.webhook_caller = &caller});
  asks.bootstrap([](base::Status) {});
  bench.env.settle();
  auto watch =
      asks.watch(watched, {.on_events = [](const WatchSlicePtr&) { return true; }, .on_bookmark = {}, .on_end = [] {}});
  ASSERT_TRUE(watch.ok());
  ASSERT_TRUE((*watch)->resume().ok());
  watched = Request();
  bench.ok(bench.request(Verb::kCreate, kWidgetsV1, "", bench.widget("{size: small}")));
  ASSERT_TRUE(caller.reply);
  watch->reset();
  EXPECT_FALSE(kind.expired());
  Json converted = caller.review["request"]["objects"];
  converted.edit(std::size_t{0}).set("apiVersion", "example.com/v2beta1");
  std::exchange(caller.reply,
                nullptr)(Json::object({{"kind", "ConversionReview"},
                                       {"apiVersion", "apiextensions.k8s.io/v1"},
                                       {"response", Json::object({{"uid", caller.review["request"]["uid"]},
                                                                  {"result", Json::object({{"status", "Success"}})},
                                                                  {"convertedObjects", converted}})}})
                             .dump());
  bench.env.settle();
  EXPECT_TRUE(kind.expired());
}

}  // namespace
}  // namespace apiserver
