// Which addresses of strangers are asked.
#include "rt/http/client/open_address.h"

#include <gtest/gtest.h>

namespace rt {
namespace {

TEST(OpenAddress, those_of_this_machine_and_its_links_are_not) {
  for (const char* host : {"10.1.2.3", "192.0.2.1", "2001:db8::1"}) {
    const auto address = open_address(host);
    ASSERT_TRUE(address.ok()) << address.error().message;
    EXPECT_EQ(*address, host);
  }
  for (const char* host : {"127.0.0.1", "127.9.9.9", "0.0.0.0", "169.254.169.254", "224.0.0.1", "::1", "::", "fe80::1",
                           "::ffff:127.0.0.1", "localhost", "2130706433"})
    EXPECT_FALSE(open_address(host).ok()) << host;
}

}  // namespace
}  // namespace rt
