// Names of signals, as images and pods write them.
#include "api/pods/stop_signals.h"

#include <gtest/gtest.h>

#include <csignal>

namespace api {
namespace {

TEST(StopSignals, ImagesNameThemInManyWays) {
  for (const char* name : {"SIGTERM", "TERM", "sigterm", "15"}) EXPECT_EQ(signal_number(name), SIGTERM) << name;
  EXPECT_EQ(signal_number("SIGRTMIN"), 34);
  EXPECT_EQ(signal_number("RTMIN+3"), 37);
  EXPECT_EQ(signal_number("SIGRTMAX-1"), 63);
  for (const char* name : {"", "SIG", "0", "65", "-1", "SIGNONE", "RTMIN+16", "RTMIN-1", "RTMAX+1", "RTMIN+", "15x"})
    EXPECT_EQ(signal_number(name), std::nullopt) << name;
}

TEST(StopSignals, PodsNameThemInFull) {
  for (const char* name : {"SIGTERM", "SIGUSR1", "SIGRTMIN+15", "SIGRTMAX-14", "SIGRTMAX"})
    EXPECT_TRUE(is_stop_signal(name)) << name;
  for (const char* name : {"TERM", "sigterm", "15", "SIG15", "SIGRTMIN+16", ""})
    EXPECT_FALSE(is_stop_signal(name)) << name;
}

}  // namespace
}  // namespace api
