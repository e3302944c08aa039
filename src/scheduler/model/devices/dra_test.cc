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
  ASSERT_EQ(claims.taken().size(), 1U);
  const DeviceName device = *claims.taken().begin();
  claims.remove_claim("ns/a");
  EXPECT_TRUE(claims.is_taken(device));
  claims.remove_claim("ns/b");
  EXPECT_FALSE(claims.is_taken(device));
}

}  // namespace
}  // namespace scheduler
