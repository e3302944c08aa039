// Addresses of pods and of the bridge.
#include "node/os/network/network.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iostream>

#include "node/os/runc/runc_runtime.h"
#include "rt/files/files.h"

namespace node {
namespace {

TEST(Network, AHardwareAddressSaysTheAddress) {
  EXPECT_EQ(hardware_address("10.1.2.3"), "0a:58:0a:01:02:03");
  EXPECT_EQ(hardware_address("192.168.254.1"), "0a:58:c0:a8:fe:01");
}

// The fault; empty: nothing.
std::string trouble_after_failed_tries(const Options& options) {
  // This machine's network and mounts stay as they are.
  if (::unshare(CLONE_NEWNET | CLONE_NEWNS) != 0 || ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return "no namespaces for the test";
  RuncRuntime runtime(options);
  if (const auto opened = runtime.open([](const ExitedContainer&) {}); !opened.ok()) return opened.error().message;
  const std::string pod = options.data_dir + "/pods/u";
  if (!rt::make_folders(pod + "/hosts", 0755).ok()) return "no folder in the way of a file";
  SandboxSpec spec{.uid = "u", .ns = "ns", .name = "p", .hostname = "p"};
  std::string trouble;
  for (int tried = 0; tried < 2; ++tried) {
    const auto prepared = runtime.prepare(spec);
    if (prepared.ok()) trouble += "it was prepared; ";
    if (!prepared.ok() && prepared.error().message.find("/hosts") == std::string::npos)
      trouble += prepared.error().message + "; ";
    if (is_namespace_file(pod + "/netns")) trouble += "its network is still there; ";
  }
  ::rmdir((pod + "/hosts").c_str());
  // In turn: the third.
  const auto prepared = runtime.prepare(spec);
  if (!prepared.ok() || *prepared != "10.99.7.4") trouble += prepared.ok() ? *prepared : prepared.error().message;
  runtime.close(false);
  return trouble;
}

TEST(Network, APodThatCannotBePreparedKeepsNoAddress) {
  std::string folder = ::testing::TempDir() + "network-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const Options options{.data_dir = folder, .host_rootfs = true, .bridge_subnet = "10.99.7.0/24"};
  if (const std::string missing = missing_for_containers(options); !missing.empty()) {
    ::rmdir(folder.c_str());
    GTEST_SKIP() << "this takes " << missing;
  }
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string trouble = trouble_after_failed_tries(options);
    std::cerr << trouble << std::flush;
    ::_exit(trouble.empty() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  remove_tree(folder);
}

}  // namespace
}  // namespace node
