// Writes above the bound of all objects: the ones that are refused, and those that still go through.
#include "apiserver/pipeline/write/memory_bound.h"

#include <gtest/gtest.h>

#include "apiserver/pipeline/api_for_tests.h"

namespace apiserver {
namespace {

using api::Json;

TEST(MemoryBound, above_it_nothing_is_made_and_nothing_grows) {
  ApiForTests server;
  const auto table = static_cast<std::uint32_t>(api::find_kind(api::resources::kConfigMaps) - api::all_kinds().data());
  const auto map = [](const std::string& name, std::size_t bytes) {
    return Json::object({{"metadata", Json::object({{"name", name}, {"namespace", "default"}})},
                         {"data", Json::object({{"v", std::string(bytes, 'x')}})}});
  };
  const std::size_t before = server.store->bytes();
  server.store->put(table, map("a", 100'000), {});
  EXPECT_GE(server.store->bytes(), before + 100'000) << "as soon as it is under way";
  server.env.settle();
  Request request;
  request.resource = table;
  const auto code = [&](MemoryBound& bound, const Json& object) {
    Change change;
    change.action = Change::Action::kPut;
    change.object = object;
    const auto refusal = bound.refusal(*server.store, request, change);
    return refusal ? refusal->status["code"].as_int() : 0;
  };
  MemoryBound wide(before + 200'000), narrow(before + 100'000), none(0);
  EXPECT_EQ(code(wide, map("b", 1000)), 0);
  EXPECT_EQ(code(none, map("b", 1000)), 0);
  EXPECT_EQ(code(narrow, map("b", 1)), 507);
  EXPECT_EQ(code(narrow, map("a", 110'000)), 507) << "it grows";
  EXPECT_EQ(code(narrow, map("a", 100'100)), 0) << "bookkeeping";
  EXPECT_EQ(code(narrow, map("a", 10)), 0) << "it shrinks";
  EXPECT_EQ(narrow.refused(), 2u);
  Change erased;
  erased.action = Change::Action::kErase;
  EXPECT_FALSE(narrow.refusal(*server.store, request, erased));
  server.store->erase(table, "default", "a", map("a", 1), {});
  server.env.settle();
  EXPECT_EQ(server.store->bytes(), before);
}

}  // namespace
}  // namespace apiserver
