// The meaning of conmon's and of OCI runtimes' answers for the next try, with scripts in their place.
#include "node/os/runc/runc_launch.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace node {
namespace {

TEST(RuncLaunch, AProgramThatCannotBeRunIsTheContainersOwnFault) {
  struct Row {
    const char* message;  // as conmon has it from the runtime
    base::Code code;
  };
  constexpr Row kRows[] = {
      {R"(runc create failed: unable to start container process: exec: \"/no\": stat /no: no such file or directory)",
       base::Code::kInvalid},
      {R"(runc create failed: unable to start container process: exec: \"no\": executable file not found in $PATH)",
       base::Code::kInvalid},
      {R"(runc create failed: unable to start container process: chdir to cwd (\"/x\") set in config.json failed)",
       base::Code::kInvalid},
      {R"(runc create failed: unable to apply cgroup configuration)", base::Code::kInternal},
  };
  for (const Row& row : kRows) {
    std::string folder = testing::TempDir() + "/launch-XXXXXX";
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    const std::string conmon = folder + "/conmon";
    std::ofstream(conmon) << "#!/bin/sh\ncat >&3 << 'END'\n{\"pid\": -1, \"message\": \"" << row.message
                          << "\"}\nEND\n";
    ::chmod(conmon.c_str(), 0755);
    const RuncPrograms programs{"/bin/false", conmon, folder, folder};
    const Launch launch{.id = "i", .name = "c", .folder = folder, .log = folder + "/log"};
    const base::Status status = launch_container(programs, launch);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, row.code) << status.error().message;
    EXPECT_TRUE(status.error().message.starts_with("runc create failed: unable")) << status.error().message;
  }
}

}  // namespace
}  // namespace node
