// Certificates for people.
#include "main/host/keys/user_keys.h"

#include <gtest/gtest.h>

#include "main/host/base/scratch_folder_for_tests.h"
#include "main/host/keys/credentials.h"

namespace volcano_main {
namespace {

const base::Time kNow = *base::parse_rfc3339("2026-11-29T00:00:00Z");

TEST(UserKeysTest, a_refusal_names_the_flag) {
  struct Row {
    UserRequest request;
    std::string_view part;  // of the message; empty: taken
  };
  const Row rows[] = {{{.name = "jane"}, ""},
                      {{.name = "Jänë of the 3rd floor", .groups = {"dev", "people of x"}}, ""},
                      {{.name = ""}, "NAME: it must not be empty"},
                      {{.name = "system:admin"}, "NAME: "},
                      {{.name = "a\nb"}, "control character"},
                      {{.name = "\xff"}, "UTF-8"},
                      {{.name = std::string(65, 'x')}, "65 characters"},
                      {{.name = " jane"}, "space"},
                      {{.name = "jane", .groups = {"system:masters"}}, "--group: "},
                      {{.name = "jane", .groups = {"system:masters"}, .force = true}, ""},
                      {{.name = "jane", .groups = std::vector<std::string>(65, "g")}, "--group: 65"},
                      {{.name = "jane", .lifetime = base::seconds(1)}, "--lifetime: "},
                      {{.name = "jane", .lifetime = base::hours(24 * 4000)}, "--lifetime: "}};
  for (const Row& row : rows) {
    const base::Status checked = check_user(row.request);
    ASSERT_EQ(checked.ok(), row.part.empty()) << row.request.name << (checked.ok() ? "" : checked.error().message);
    if (!checked.ok()) {
      EXPECT_NE(checked.error().message.find(row.part), std::string::npos) << checked.error().message;
    }
  }
}

TEST(UserKeysTest, a_certificate_is_of_the_authority_and_is_listed) {
  const ScratchFolder folder;
  const std::string keys = folder.at("keys");
  EXPECT_FALSE(make_user_keys(keys, {.name = "jane"}, kNow).ok());  // there is no authority
  const auto made = load_or_make_credentials(keys, kNow, {.ip_addresses = {"127.0.0.1"}}, Occasion::kFirstStart);
  ASSERT_TRUE(made.ok()) << made.error().message;
  const auto jane = make_user_keys(keys, {.name = "jane", .groups = {"dev"}}, kNow, made->ca_pem);
  ASSERT_TRUE(jane.ok()) << jane.error().message;
  EXPECT_EQ(jane->ca_pem, made->ca_pem);
  const auto known = known_users(keys);
  ASSERT_TRUE(known.ok());
  ASSERT_EQ(known->size(), 1U);
  EXPECT_EQ(known->front().name, "jane");
  EXPECT_EQ(known->front().groups, std::vector<std::string>{"dev"});
}

TEST(UserKeysTest, an_exchanged_authority_signs_nothing) {
  const ScratchFolder folder;
  const auto first = load_or_make_credentials(folder.at("a"), kNow, {}, Occasion::kFirstStart);
  const auto second = load_or_make_credentials(folder.at("b"), kNow, {}, Occasion::kFirstStart);
  ASSERT_TRUE(first.ok() && second.ok());
  for (const char* file : {"ca.crt", "ca.key"})
    std::filesystem::copy_file(folder.at(std::string("b/") + file), folder.at(std::string("a/") + file),
                               std::filesystem::copy_options::overwrite_existing);
  EXPECT_FALSE(make_user_keys(folder.at("a"), {.name = "jane"}, kNow, first->ca_pem).ok());
}

}  // namespace
}  // namespace volcano_main
