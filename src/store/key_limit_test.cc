// Which keys does the store refuse, so that the database refuses none?
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "client/fake_env_for_tests.h"
#include "store/store.h"

namespace store {
namespace {

using api::Json;

TEST(Store, a_key_that_the_database_does_not_take_is_refused_alone) {
  client::testing::FakeEnv env;
  std::string folder = std::string(::testing::TempDir()) + "store-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const auto kv = *rt::open_lmdb(folder, 16 << 20);
  const auto store = *Store::open(env, *kv);
  const std::uint32_t table = store->table(std::string(200, 'g') + ".example.com/" + std::string(36, 'p'));
  std::map<std::string, std::string> problem;
  const auto put = [&](const std::string& key, const std::string& ns, const std::string& name) {
    store->put(
        table, Json::object({{"metadata", Json::object({{"namespace", ns}, {"name", name}})}}),
        [&problem, key](const base::Result<ObjectPtr>& put) { problem[key] = put.ok() ? "" : put.error().message; });
  };
  put("fits", "default", std::string(252, 'n'));
  put("longer", "default", std::string(253, 'n'));
  put("other", "n", "other");
  env.settle();
  EXPECT_EQ(problem["fits"], "");
  EXPECT_EQ(problem["other"], "");
  EXPECT_EQ(problem["longer"],
            "\"" + std::string(253, 'n') +
                "\" cannot be stored: its group, resource, namespace and name have 509 bytes together, "
                "at most 508");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace store
