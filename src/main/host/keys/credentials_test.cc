// The keys of a one-machine cluster: made once, kept, and never made anew under a cluster's users.
#include "main/host/keys/credentials.h"

#include <gtest/gtest.h>

#include "main/host/base/scratch_folder_for_tests.h"

namespace volcano_main {
namespace {

const base::Time kNow = *base::parse_rfc3339("2026-11-29T00:00:00Z");
const ServerNames kNames{.dns_names = {"workstation"}, .ip_addresses = {"127.0.0.1"}};

TEST(CredentialsTest, a_second_start_has_the_keys_of_the_first) {
  const ScratchFolder folder;
  const auto first = load_or_make_credentials(folder.at("keys"), kNow, kNames, Occasion::kFirstStart);
  ASSERT_TRUE(first.ok()) << first.error().message;
  const auto again = load_or_make_credentials(folder.at("keys"), kNow + base::hours(1), kNames, Occasion::kStart);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->ca_pem, first->ca_pem);
  EXPECT_EQ(again->token, first->token);
  EXPECT_EQ(again->admin.certificate_pem, first->admin.certificate_pem);
}

TEST(CredentialsTest, a_missing_authority_is_made_anew_only_by_wish) {
  const ScratchFolder folder;
  const auto first = load_or_make_credentials(folder.at("keys"), kNow, kNames, Occasion::kFirstStart);
  ASSERT_TRUE(first.ok());
  for (const char* file : {"keys/ca.crt", "keys/ca.key"}) std::filesystem::remove(folder.at(file));
  const auto refused = load_or_make_credentials(folder.at("keys"), kNow, kNames, Occasion::kStart);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("ca.crt"), std::string::npos) << refused.error().message;
  EXPECT_FALSE(load_or_make_credentials(folder.at("keys"), kNow, kNames, Occasion::kRunning).ok());
  // The certificates that it signed would be of no authority.
  EXPECT_FALSE(load_or_make_credentials(folder.at("keys"), kNow, kNames, Occasion::kNewKeys).ok());
  for (const char* file : {"keys/server.crt", "keys/server.key", "keys/admin.crt", "keys/admin.key"})
    std::filesystem::remove(folder.at(file));
  const auto requested = load_or_make_credentials(folder.at("keys"), kNow, kNames, Occasion::kNewKeys);
  ASSERT_TRUE(requested.ok()) << requested.error().message;
  EXPECT_NE(requested->ca_pem, first->ca_pem);
}

TEST(CredentialsTest, half_a_pair_is_an_error_that_names_it) {
  const ScratchFolder folder;
  ASSERT_TRUE(load_or_make_credentials(folder.at("keys"), kNow, kNames, Occasion::kFirstStart).ok());
  std::filesystem::remove(folder.at("keys/ca.key"));
  for (const Occasion occasion : {Occasion::kFirstStart, Occasion::kStart, Occasion::kNewKeys}) {
    const auto refused = load_or_make_credentials(folder.at("keys"), kNow, kNames, occasion);
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().message.find("ca.key"), std::string::npos) << refused.error().message;
  }
}

TEST(CredentialsTest, certificates_near_their_end_are_renewed_for_the_same_authority) {
  const ScratchFolder folder;
  const auto first = load_or_make_credentials(folder.at("keys"), kNow, kNames, Occasion::kFirstStart);
  ASSERT_TRUE(first.ok());
  const auto later =
      load_or_make_credentials(folder.at("keys"), kNow + base::hours(24 * 360), kNames, Occasion::kRunning);
  ASSERT_TRUE(later.ok()) << later.error().message;
  EXPECT_EQ(later->ca_pem, first->ca_pem);
  EXPECT_NE(later->server.certificate_pem, first->server.certificate_pem);
}

TEST(CredentialsTest, a_kubeconfig_of_another_cluster_is_not_written_over) {
  const ScratchFolder folder;
  const auto made = load_or_make_credentials(folder.at("keys"), kNow, kNames, Occasion::kFirstStart);
  ASSERT_TRUE(made.ok());
  const std::string own = kubeconfig_text(*made, "https://127.0.0.1:6443");
  EXPECT_TRUE(check_replaceable(own, "/home/jane/.kube/config").ok());
  const base::Status refused =
      check_replaceable("apiVersion: v1\nkind: Config\nclusters: [{name: prod, cluster: {server: https://prod}}]\n",
                        "/home/jane/.kube/config");
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("/home/jane/.kube/config"), std::string::npos) << refused.error().message;
}

}  // namespace
}  // namespace volcano_main
