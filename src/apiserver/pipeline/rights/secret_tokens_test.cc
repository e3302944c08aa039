// Tokens that Secrets hold: what is filled in, whose they are, and everything that ends them.
#include "apiserver/pipeline/rights/secret_tokens.h"

#include <gtest/gtest.h>

#include "api/kinds.h"
#include "apiserver/pipeline/api.h"
#include "base/base64.h"
#include "base/format.h"
#include "client/fake_env_for_tests.h"

namespace apiserver {
namespace {

using api::Json;
namespace resources = api::resources;

struct Bench {
  client::testing::FakeEnv env;
  std::unique_ptr<rt::KvStore> kv = rt::make_memory_kv();
  std::unique_ptr<store::Store> store = *store::Store::open(env, *kv);
  std::shared_ptr<const rt::TokenKey> key = *rt::TokenKey::load(*rt::TokenKey::new_pem());
  std::unique_ptr<Api> api;
  std::string ns = "default";

  Bench() { start(); }

  void start() {
    ApiOptions options;
    options.account_tokens = std::make_shared<const AccountTokens>(key);
    options.root_ca = "the CA";
    api = std::make_unique<Api>(env, *store, std::move(options));
    api->bootstrap([](base::Status) {});
    env.settle();
  }
  // The object, or a text: the refusal.
  Json call(Verb verb, const api::ResourceId& id, const std::string& name, Json body = {}) {
    Request r;
    r.verb = verb;
    r.kind = api::find_kind(id);
    r.resource = static_cast<std::uint32_t>(r.kind - api::all_kinds().data());
    r.ns = r.kind->namespaced ? ns : "";
    r.name = name;
    r.body = std::move(body);
    r.default_manager = "test";
    Json answer("no answer");
    api->call(std::move(r),
              [&](base::Result<Answer> a) { answer = a.ok() ? object_of(*std::move(a)) : Json(a.error().message); });
    env.settle();
    return answer;
  }
  void account(const std::string& name, const char* finalizer = nullptr) {
    Json meta = Json::object({{"name", name}});
    if (finalizer != nullptr) meta.set("finalizers", Json::array({Json(finalizer)}));
    const Json made = call(Verb::kCreate, resources::kServiceAccounts, "", Json::object({{"metadata", meta}}));
    EXPECT_TRUE(made.is_object()) << made.dump();
  }
  static Json secret_of(const std::string& name, const std::string& account, Json data = Json::object()) {
    return Json::object(
        {{"metadata", Json::object({{"name", name}, {"annotations", Json::object({{kTokenSecretAccount, account}})}})},
         {"type", kTokenSecretType},
         {"data", std::move(data)}});
  }
  void secret(const Json& body) {
    const Json made = call(Verb::kCreate, resources::kSecrets, "", body);
    EXPECT_TRUE(made.is_object()) << made.dump();
  }
  Json find(const std::string& name) { return call(Verb::kGet, resources::kSecrets, name); }
  std::string held(const std::string& name, const char* what = "token") {
    const auto bytes = base::base64_decode(find(name)["data"][what].as_string());
    return bytes.ok() ? *bytes : "not base64";
  }
  // Whom a token is taken for; empty: for nobody.
  std::string user_of(const std::string& token) {
    const auto claims = api->account_tokens()->read(token, env.now());
    return claims.ok() && is_for_us(*claims) && api->token_holds(*claims) ? claims->user().name : "";
  }
};

TEST(SecretTokens, are_filled_in_and_are_good_without_an_end) {
  Bench b;
  b.account("bot");
  b.secret(b.secret_of("t", "bot"));
  const std::string token = b.held("t");
  EXPECT_EQ(b.held("t", "namespace"), "default");
  EXPECT_EQ(b.held("t", "ca.crt"), "the CA");
  EXPECT_EQ(api::annotation_of(b.find("t"), "kubernetes.io/service-account.uid"),
            api::uid_of(b.call(Verb::kGet, resources::kServiceAccounts, "bot")));
  EXPECT_EQ(b.user_of(token), "system:serviceaccount:default:bot");
  const auto payload =
      base::base64url_decode(token.substr(token.find('.') + 1, token.rfind('.') - token.find('.') - 1));
  ASSERT_TRUE(payload.ok());
  const Json claims = *api::parse_json(*payload);
  EXPECT_EQ(claims["iss"].as_string(), "kubernetes/serviceaccount");
  EXPECT_EQ(claims["kubernetes.io/serviceaccount/secret.name"].as_string(), "t");
  EXPECT_FALSE(claims.has("exp"));
  b.env.run_for(base::hours(24 * 400));
  EXPECT_EQ(b.user_of(token), "system:serviceaccount:default:bot");
  b.start();
  EXPECT_EQ(b.held("t"), token);
}

TEST(SecretTokens, end_with_what_they_are_of) {
  const auto secret = [](Bench& b, std::string_view patch) {
    b.call(Verb::kPatch, resources::kSecrets, "t", *api::parse_json(patch));
  };
  const auto gone = [](Bench& b) { b.call(Verb::kDelete, resources::kSecrets, "t"); };
  const auto without_account = [](Bench& b) { b.call(Verb::kDelete, resources::kServiceAccounts, "bot"); };
  const struct Row {
    const char* what;
    const char* finalizer;  // of the account
    std::function<void(Bench&)> end;
    bool secret_stays;
  } rows[] = {
      {"the Secret is deleted", nullptr, gone, false},
      {"a finalizer holds the Secret", nullptr,
       [&](Bench& b) {
         secret(b, R"({"metadata":{"finalizers":["x.io/y"]}})");
         gone(b);
       },
       true},
      {"the account is deleted", nullptr, without_account, false},
      {"a finalizer holds the account", "x.io/y", without_account, true},
      {"another account has the name", nullptr,
       [&](Bench& b) {
         without_account(b);
         b.account("bot");
       },
       false},
      {"another token is in the Secret", nullptr, [&](Bench& b) { secret(b, R"({"data":{"token":"eA=="}})"); }, true},
      {"the Secret is another account's", nullptr,
       [&](Bench& b) { secret(b, R"({"metadata":{"annotations":{"kubernetes.io/service-account.name":"default"}}})"); },
       false},
      {"the Secret has grown too long to be read with each request", nullptr,
       [&](Bench& b) {
         secret(b, base::format(R"({{"data":{{"more":"{}"}}}})", std::string(kTokenSecretBytesMax, 'A')));
       },
       true},
      {"a Secret of another type has the token", nullptr,
       [&](Bench& b) {
         const Json data = b.find("t")["data"];
         gone(b);
         b.secret(Json::object({{"metadata", Json::object({{"name", "t"}})}, {"data", data}}));
       },
       true},
  };
  for (const Row& row : rows) {
    Bench b;
    b.account("bot", row.finalizer);
    b.secret(b.secret_of("t", "bot"));
    const std::string token = b.held("t");
    ASSERT_NE(b.user_of(token), "") << row.what;
    row.end(b);
    EXPECT_EQ(b.user_of(token), "") << row.what;
    EXPECT_EQ(b.find("t").is_object(), row.secret_stays) << row.what;
  }
}

TEST(SecretTokens, what_somebody_wrote_makes_no_token) {
  Bench b;
  b.account("bot");
  b.secret(b.secret_of("t", "bot"));
  const std::string token = b.held("t");
  const auto written = [&b](const std::string& text) {
    b.secret(b.secret_of("written", "bot", Json::object({{"token", base::base64_encode(text)}})));
    EXPECT_EQ(b.held("written"), text);
    const std::string user = b.user_of(text);
    b.call(Verb::kDelete, resources::kSecrets, "written");
    return user;
  };
  EXPECT_EQ(written("x"), "");
  EXPECT_EQ(written("eyJhbGciOiJub25lIn0" + token.substr(token.find('.'), token.rfind('.') - token.find('.') + 1)), "");
  // A copy is the token that it is a copy of, also in another namespace, and does not outlive it.
  const auto claims_for = [&b](const Json& json) { return b.user_of(*b.key->sign(json.dump())); };
  Json claims = Json::object({{"iss", "kubernetes/serviceaccount"},
                              {"kubernetes.io/serviceaccount/namespace", "default"},
                              {"kubernetes.io/serviceaccount/secret.name", "t"},
                              {"kubernetes.io/serviceaccount/service-account.name", "bot"}});
  EXPECT_EQ(claims_for(claims), "");
  b.call(Verb::kCreate, resources::kNamespaces, "", *api::parse_json(R"({"metadata":{"name":"other"}})"));
  b.ns = "other";
  b.account("bot");
  b.secret(b.secret_of("t", "bot", Json::object({{"token", base::base64_encode(token)}})));
  EXPECT_EQ(b.user_of(token), "system:serviceaccount:default:bot");
  b.ns = "default";
  b.call(Verb::kDelete, resources::kSecrets, "t");
  EXPECT_EQ(b.user_of(token), "");
}

TEST(SecretTokens, all_of_an_account_go_with_it) {
  Bench b;
  b.account("bot");
  constexpr int kMany = 120;  // more than are looked at in one turn
  const auto name = [](int i) { return base::format("t{}", i); };
  for (int i = 0; i < kMany; ++i) b.secret(b.secret_of(name(i), "bot"));
  b.call(Verb::kDelete, resources::kServiceAccounts, "bot");
  for (int i = 0; i < kMany; ++i) EXPECT_FALSE(b.find(name(i)).is_object()) << i;
}

TEST(SecretTokens, a_secret_of_no_account_is_removed) {
  Bench b;
  b.secret(b.secret_of("t", "none"));
  EXPECT_EQ(b.find("t").as_string(), "secrets \"t\" not found");
  Json unnamed = b.secret_of("u", "none");
  unnamed.edit("metadata").erase("annotations");
  EXPECT_EQ(b.call(Verb::kCreate, resources::kSecrets, "", unnamed).as_string(),
            "Secret \"u\" is invalid: metadata.annotations[kubernetes.io/service-account.name]: Required value");
}

}  // namespace
}  // namespace apiserver
