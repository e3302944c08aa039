// Which keys are taken from a Secret, which are made anew, and that several servers agree on them.
#include "admission/server/server_keys.h"

#include <gtest/gtest.h>

#include "admission/server/server_secret.h"
#include "api/meta/resource.h"
#include "base/base64.h"
#include "client/fake_client_for_tests.h"
#include "client/fake_env_for_tests.h"

namespace admission {
namespace {

using api::Json;
using base::hours;

constexpr base::Time kNow{1'767'225'600'000'000'000};  // when FakeEnv begins
const ServiceName kService{"volcano-system", "volcano-admission-service"};
const SecretName kSecret{"volcano-system", "volcano-admission-secret"};

Json data_with(const ServerKeys& keys) {
  return Json::object({{"ca.crt", base::base64_encode(keys.ca_pem)},
                       {"tls.crt", base::base64_encode(keys.pair.certificate_pem)},
                       {"tls.key", base::base64_encode(keys.pair.key_pem)}});
}
Json secret_of(Json data) {
  return Json::object(
      {{"metadata", Json::object({{"name", kSecret.name}, {"namespace", kSecret.ns}})}, {"data", std::move(data)}});
}
// As another installation may have left them.
ServerKeys keys_for(const std::vector<std::string>& names, base::Time from, base::Duration life) {
  const auto ca = rt::make_ca("somebody", from, life * 2);
  rt::CertificateSubject subject;
  subject.common_name = "server";
  subject.dns_names = names;
  subject.server = true;
  const auto pair = rt::issue_certificate(*ca, subject, from, life);
  return {ca->certificate_pem, *pair};
}
ServerKeys sound_keys() { return keys_for(kService.dns_names(), kNow - hours(1), hours(24 * 365)); }

TEST(ServerKeys, what_is_wrong_with_them_is_named) {
  const ServerKeys sound = sound_keys();
  const ServerKeys other = sound_keys();
  Json missing = data_with(sound), coded = data_with(sound), rubbish = data_with(sound), empty = data_with(sound);
  missing.set("tls.key", Json());
  coded.set("ca.crt", "%%%");
  rubbish.set("tls.crt", base::base64_encode("-----BEGIN CERTIFICATE-----\nrubbish\n-----END CERTIFICATE-----\n"));
  empty.set("tls.crt", base::base64_encode("hello"));
  const struct {
    Json data;
    std::string_view trouble;
    bool usable;
  } rows[] = {
      {data_with(sound), "", true},
      {missing, "tls.key is missing", false},
      {coded, "ca.crt is not base64", false},
      {rubbish, "tls.crt: ", false},
      {empty, "tls.crt holds no certificate", false},
      {Json(), "ca.crt is missing", false},
      {data_with({sound.ca_pem, {sound.pair.certificate_pem, other.pair.key_pem}}), "tls.crt and tls.key: ", false},
      {data_with({other.ca_pem, sound.pair}), "tls.crt is not signed by a certificate of ca.crt", false},
      {data_with({other.ca_pem + sound.ca_pem, sound.pair}), "", true},
      {data_with(keys_for({"elsewhere"}, kNow, hours(9999))),
       "tls.crt is not for volcano-admission-service.volcano-sys", false},
      {data_with(keys_for(kService.dns_names(), kNow - hours(48), hours(24))),
       "tls.crt has ended at 2025-12-31T00:00:00", false},
      {data_with(keys_for(kService.dns_names(), kNow + hours(48), hours(24))), "tls.crt counts from ", false},
      {data_with(keys_for(kService.dns_names(), kNow - hours(24 * 340), hours(24 * 365))), "tls.crt ends at 2026-01-26",
       true},
      // Somebody who renews keys of 90 days a month before their end comes first.
      {data_with(keys_for(kService.dns_names(), kNow - hours(24 * 61), hours(24 * 90))), "", true},
  };
  for (const auto& row : rows) {
    const FoundKeys found = look_at_keys(row.data, kService, kNow);
    EXPECT_TRUE(found.trouble.starts_with(row.trouble)) << found.trouble << " / " << row.trouble;
    EXPECT_EQ(found.trouble.empty(), row.trouble.empty()) << found.trouble;
    EXPECT_EQ(found.keys.has_value(), row.usable) << row.trouble;
    EXPECT_GE(found.next_look, kNow);
  }
}

TEST(ServerKeys, new_ones_can_be_used_and_old_servers_stay_trusted) {
  const ServerKeys old = sound_keys();
  const auto made = make_server_keys(kService, kNow, old.ca_pem);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(look_at_keys(*made, kService, kNow).trouble, "");
  EXPECT_EQ(look_at_keys(ServerKeys{made->ca_pem, old.pair}, kService, kNow).trouble, "");
  // However often they are made anew, the bundle stays small; what has ended goes.
  ServerKeys again = *made;
  for (int i = 0; i < 5; ++i) again = *make_server_keys(kService, kNow, again.ca_pem);
  EXPECT_EQ(certificates_of(again.ca_pem).size(), 3u);
  EXPECT_EQ(certificates_of(make_server_keys(kService, kNow + hours(24 * 9999), again.ca_pem)->ca_pem).size(), 1u);
  const ServiceName long_one{std::string(63, 'n'), std::string(63, 's')};
  EXPECT_EQ(look_at_keys(*make_server_keys(long_one, kNow, ""), long_one, kNow).trouble, "");
}

struct Keeper {
  std::vector<ServerKeys> used;
  std::vector<std::string> troubles;
  ServerSecret secret;
  Keeper(rt::Env& env, client::Client& client)
      : secret(
            env, client, {kSecret, kService}, [this](ServerKeys keys) { used.push_back(std::move(keys)); },
            [this](const std::string& text) { troubles.push_back(text); }) {
    secret.start();
  }
};

TEST(ServerSecret, two_servers_that_start_at_once_agree) {
  client::testing::FakeEnv env;
  client::testing::FakeClient server(env);
  Keeper a(env, server), b(env, server);
  env.run_for(base::seconds(5));
  ASSERT_EQ(a.used.size(), 1u);
  ASSERT_EQ(b.used.size(), 1u);
  EXPECT_TRUE(a.used.front() == b.used.front());
  EXPECT_EQ(look_at_keys((*server.find(api::resources::kSecrets, "volcano-system/volcano-admission-secret"))["data"],
                         kService, env.now())
                .keys,
            a.used.front());
}

TEST(ServerSecret, takes_over_what_an_existing_installation_has) {
  client::testing::FakeEnv env;
  client::testing::FakeClient server(env);
  const ServerKeys keys = sound_keys();
  server.put(api::resources::kSecrets, secret_of(data_with(keys)));
  Keeper a(env, server);
  env.run_for(base::minutes(1));
  ASSERT_EQ(a.used.size(), 1u);
  EXPECT_TRUE(a.used.front() == keys);
  for (const client::Request& call : server.calls)
    EXPECT_TRUE(call.verb == client::Verb::kGet || call.verb == client::Verb::kList);
}

TEST(ServerSecret, renews_before_the_end_and_trusts_both_meanwhile) {
  client::testing::FakeEnv env;
  client::testing::FakeClient server(env);
  const ServerKeys keys = keys_for(kService.dns_names(), kNow, hours(24 * 100));
  server.put(api::resources::kSecrets, secret_of(data_with(keys)));
  Keeper a(env, server), b(env, server);
  env.run_for(hours(24 * 79));
  EXPECT_EQ(a.used.size(), 1u);
  env.run_for(hours(24 * 3));
  ASSERT_EQ(a.used.size(), 2u);
  ASSERT_EQ(b.used.size(), 2u);
  EXPECT_TRUE(a.used.back() == b.used.back());
  EXPECT_EQ(certificates_of(a.used.back().ca_pem).size(), 2u);
  EXPECT_EQ(look_at_keys(ServerKeys{a.used.back().ca_pem, keys.pair}, kService, kNow).trouble, "");
}

// Timers count uptime: the look that is due in 80 days would come 80 days after the clock was set.
TEST(ServerSecret, renews_when_the_clock_was_set_past_its_end) {
  struct SetClock : client::testing::FakeEnv {
    base::Duration ahead{};
    base::Time now() const override { return FakeEnv::now() + ahead; }
  } env;
  client::testing::FakeClient server(env);
  const ServerKeys keys = keys_for(kService.dns_names(), kNow, hours(24 * 100));
  server.put(api::resources::kSecrets, secret_of(data_with(keys)));
  Keeper keeper(env, server);
  env.run_for(base::minutes(5));
  EXPECT_EQ(keeper.used.size(), 1u);
  env.ahead = hours(24 * 99);
  env.run_for(base::minutes(2));
  EXPECT_EQ(keeper.used.size(), 2u);
}

TEST(ServerSecret, rubbish_is_mended_and_what_else_it_holds_stays) {
  client::testing::FakeEnv env;
  client::testing::FakeClient server(env);
  server.put(api::resources::kSecrets, secret_of(Json::object({{"tls.crt", "!"}, {"mine", "bWluZQ=="}})));
  Keeper a(env, server);
  env.run_for(base::seconds(5));
  EXPECT_EQ(a.used.size(), 1u);
  server.put(api::resources::kSecrets, secret_of(Json::object({{"ca.crt", "cnViYmlzaA=="}, {"mine", "bWluZQ=="}})));
  env.run_for(base::seconds(5));
  EXPECT_EQ(a.used.size(), 2u);
  server.erase(api::resources::kSecrets, "volcano-system/volcano-admission-secret");
  env.run_for(base::seconds(5));
  EXPECT_EQ(a.used.size(), 3u);
  EXPECT_TRUE(a.troubles.empty());
}

TEST(ServerSecret, says_what_it_may_not_do_and_goes_on_when_it_may) {
  client::testing::FakeEnv env;
  client::testing::FakeClient server(env);
  bool allowed = false;
  server.forbids = [&](const client::Request&) { return !allowed; };
  Keeper a(env, server);
  env.run_for(base::minutes(5));
  ASSERT_EQ(a.troubles.size(), 1u);
  EXPECT_EQ(
      a.troubles.front(),
      "Secret volcano-system/volcano-admission-secret cannot be read: forbidden; the account needs get, list, watch "
      "and patch of this Secret, and create where it may be missing");
  allowed = true;
  env.run_for(base::minutes(1));
  EXPECT_EQ(a.used.size(), 1u);
}

TEST(ServerSecret, does_not_write_into_what_is_not_its_own) {
  client::testing::FakeEnv env;
  client::testing::FakeClient server(env);
  Json secret = secret_of(Json::object({}));
  secret.set("immutable", true);
  server.put(api::resources::kSecrets, secret);
  Keeper a(env, server);
  env.run_for(base::seconds(5));
  ASSERT_EQ(a.troubles.size(), 1u);
  EXPECT_EQ(
      a.troubles.front(),
      "Secret volcano-system/volcano-admission-secret: ca.crt is missing; it is immutable; delete it, and it is made "
      "anew");
}

}  // namespace
}  // namespace admission
