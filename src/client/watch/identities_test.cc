// Identities are found by their keys, replaced and forgotten.
#include "client/watch/identities.h"

#include <gtest/gtest.h>

namespace client {
namespace {

TEST(Identities, AreFoundReplacedAndForgotten) {
  Identities identities;
  EXPECT_TRUE(identities.empty());
  EXPECT_FALSE(identities.find("a/x"));
  identities.put({"a/x", "uid-1", "5"});
  identities.put({"a/xy", "uid-2", ""});
  identities.put({"n", "", "7"});
  identities.put({"a/x", "uid-3", "60"});
  ASSERT_TRUE(identities.find("a/x"));
  EXPECT_EQ(identities.find("a/x")->uid, "uid-3");
  EXPECT_EQ(identities.find("a/x")->version, "60");
  EXPECT_EQ(identities.find("a/xy")->version, "");
  EXPECT_EQ(identities.find("n")->uid, "");
  EXPECT_FALSE(identities.find("a"));
  std::size_t count = 0;
  identities.for_each([&](const Identity&) { ++count; });
  EXPECT_EQ(count, 3u);
  identities.erase("a/x");
  identities.erase("a/x");
  EXPECT_FALSE(identities.find("a/x"));
  EXPECT_TRUE(identities.find("a/xy"));
}

TEST(Identities, AsObjectsHaveTheirKeys) {
  EXPECT_EQ(object_of({"ns/p", "u", "3"}).dump(),
            R"({"metadata":{"name":"p","uid":"u","resourceVersion":"3","namespace":"ns"}})");
  EXPECT_EQ(object_of({"n", "u", "3"}).dump(), R"({"metadata":{"name":"n","uid":"u","resourceVersion":"3"}})");
}

}  // namespace
}  // namespace client
