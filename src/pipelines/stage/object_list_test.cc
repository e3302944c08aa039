// The list of objects of a store, as stores and strangers write it.
#include "pipelines/stage/object_list.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace pipelines {
namespace {

std::string document(std::string_view contents) {
  return base::format(R"(<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
    <Name>b</Name><Prefix>t/</Prefix>{}</ListBucketResult>)",
                      contents);
}

std::string object(std::string_view key, std::string_view more = "") {
  return base::format("<Contents><Key>{}</Key>{}</Contents>", key, more);
}

TEST(ObjectList, NamesAreThoseBehindTheFolder) {
  const auto page = read_object_page(
      document("<NextContinuationToken>a&amp;b</NextContinuationToken>" + object("t/") +
               object("t/a&lt;b/c", "<LastModified>2026-01-02T03:04:05.000Z</LastModified><Size>7</Size>") +
               object("t/sub/") + object("other/x") + object("t/z", "<Size>many</Size>")),
      "t/");
  ASSERT_TRUE(page.ok()) << page.error().message;
  EXPECT_EQ(page->next, "a&b");
  ASSERT_EQ(page->objects.size(), 2U);
  EXPECT_EQ(page->objects[0].name, "a<b/c");
  EXPECT_EQ(page->objects[0].size, 7U);
  EXPECT_EQ(base::format_rfc3339(page->objects[0].modified), "2026-01-02T03:04:05Z");
  EXPECT_EQ(page->objects[1].name, "z");
  EXPECT_EQ(page->objects[1].size, 0U);
}

TEST(ObjectList, NamesThatLeadOutAreRefused) {
  for (const char* name : {"../x", "a/../../x", "a/./x", "/x", "a//x", ".."}) {
    const auto page = read_object_page(document(object(base::format("t/{}", name))), "t/");
    EXPECT_FALSE(page.ok()) << name;
  }
}

TEST(ObjectList, AnythingElseIsNoList) {
  for (const char* text : {"", "<Error><Code>X</Code></Error>", "<html>", "<ListBucketResul"})
    EXPECT_FALSE(read_object_page(text, "t/").ok()) << text;
  const auto cut = read_object_page(document("<Contents><Key>t/a</Key>"), "t/");
  EXPECT_TRUE(cut.ok() && cut->objects.empty());
  EXPECT_TRUE(read_object_page(document("<Contents></Contents>"), "t/")->objects.empty());
}

}  // namespace
}  // namespace pipelines
