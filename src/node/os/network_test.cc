// Addresses of pods and of the bridge.
#include "node/os/network.h"

#include <gtest/gtest.h>

namespace node {
namespace {

TEST(Network, AHardwareAddressSaysTheAddress) {
  EXPECT_EQ(hardware_address("10.1.2.3"), "0a:58:0a:01:02:03");
  EXPECT_EQ(hardware_address("192.168.254.1"), "0a:58:c0:a8:fe:01");
}

}  // namespace
}  // namespace node
