// Which devices have their users?
#include "scheduler/model/devices/dra.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace scheduler {
namespace {

TEST(ResourceClaims, a_device_of_two_claims_is_taken_until_both_are_gone) {
  Symbols symbols;
  ResourceClaims claims;
  for (const char* name : {"a", "b"}) {
    claims.set_claim(*api::parse_json(base::format(R"({{"metadata":{{"namespace":"ns","name":"{0}","uid":"{0}"}},
        "spec":{{"devices":{{"requests":[{{"name":"r","exactly":{{"deviceClassName":"c"}}}}]}}}},
        "status":{{"allocation":{{"devices":{{"results":[{{"request":"r","driver":"d","pool":"p","device":"gpu-0"}}]}}}}}}}})",
                                                   name)),
                     symbols);
  }
  ASSERT_EQ(claims.taken().all().size(), 1U);
  const DeviceName device = *claims.taken().all().begin();
  claims.remove_claim("ns/a");
  EXPECT_TRUE(claims.taken().has(device));
  claims.remove_claim("ns/b");
  EXPECT_FALSE(claims.taken().has(device));
}

// A list of selectors whose patterns take long to read, each another one.
api::Json long_selectors(int count) {
  api::Json out = api::Json::array();
  for (int i = 0; i < count; ++i) {
    const std::string text = base::format("device.driver.matches('\\\\pL{{29}}{}')", i);
    out.push_back(api::Json::object({{"cel", api::Json::object({{"expression", text}})}}));
  }
  return out;
}

api::Json claim_with(const char* name, api::Json selectors) {
  api::Json alternative = api::Json::object({{"deviceClassName", "c"}});
  alternative.set("selectors", std::move(selectors));
  api::Json requests = api::Json::array();
  requests.push_back(*api::parse_json(R"({"name":"plain","exactly":{"deviceClassName":"c"}})"));
  requests.push_back(api::Json::object({{"name", "long"}, {"exactly", std::move(alternative)}}));
  api::Json out = *api::parse_json(R"({"metadata":{"namespace":"ns"}})");
  out.edit("metadata").set("name", name);
  out.edit("spec").edit("devices").set("requests", std::move(requests));
  return out;
}

TEST(ResourceClaims, patterns_of_selectors_are_bounded_by_claim_and_by_class) {
  constexpr std::string_view kWhy = "the regular expressions of the selectors are too large together";
  Symbols symbols;
  ResourceClaims claims;
  // It is the same each time the claim comes, however much of it was read before.
  for (int i = 0; i < 2; ++i) {
    claims.set_claim(claim_with("many", long_selectors(8)), symbols);
    for (const DeviceRequest& request : claims.find_claim("ns/many")->requests) {
      ASSERT_EQ(request.alternatives[0].selectors.size(), 1U) << request.name;
      EXPECT_EQ(request.alternatives[0].selectors[0].program, nullptr) << request.name;
      EXPECT_EQ(request.alternatives[0].selectors[0].problem, kWhy) << request.name;
    }
    EXPECT_TRUE(claims.selectors().by_text().empty());
  }
  api::Json object = *api::parse_json(R"({"metadata":{"name":"c"}})");
  object.edit("spec").set("selectors", long_selectors(8));
  claims.set_class(object);
  ASSERT_EQ(claims.find_class("c")->selectors.size(), 1U);
  EXPECT_EQ(claims.find_class("c")->selectors[0].problem, kWhy);
  // A claim with some of the same is fine.
  claims.set_claim(claim_with("few", long_selectors(3)), symbols);
  const auto& few = claims.find_claim("ns/few")->requests[1].alternatives[0].selectors;
  ASSERT_EQ(few.size(), 3U);
  EXPECT_NE(few[2].program, nullptr);
}

}  // namespace
}  // namespace scheduler
