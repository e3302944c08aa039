// The flags of `volcano up`: values that make no sense are refused by the flag's name.
#include "main/host/flags/up_flags.h"

#include <gtest/gtest.h>

namespace volcano_main {
namespace {

TEST(UpFlags, a_refusal_names_the_flag) {
  struct Row {
    std::vector<std::string> words;
    std::string_view flag;  // begins the message; empty: taken
  };
  const Row rows[] = {{{}, ""},
                      {{"--port=0"}, ""},
                      {{"--port=65536"}, "--port"},
                      {{"--port=-1"}, "--port"},
                      {{"--address=localhost"}, "--address"},
                      {{"--node-ip=0.0.0.0"}, "--node-ip"},
                      {{"--runtime=docker"}, "--runtime"},
                      {{"--components=scheduler,typo"}, "--components"},
                      {{"--controllers=deployment,typo"}, "--controllers"},
                      {{"--controllers=*,-deployment"}, ""},
                      {{"--mpi-job-version=v3"}, "--mpi-job-version"},
                      {{"--gpu-sharing=half"}, "--gpu-sharing"},
                      {{"--nvidia-driver-root=usr"}, "--nvidia-driver-root"},
                      {{"--nvidia-driver-root=none"}, ""},
                      {{"--cdi-spec-dirs=/etc/cdi,relative"}, "--cdi-spec-dirs"},
                      {{"--event-ttl=10ms"}, "--event-ttl"},
                      {{"--storage-gib=0"}, "--storage-gib"},
                      {{"--objects-mib=-1"}, "--objects-mib"},
                      {{"--audit-strict"}, "--audit-strict"},
                      {{"--service-cluster-ip-range=10.0.0.0"}, "--service-cluster-ip-range"},
                      {{"--runtime-handlers=kata"}, "--runtime-handlers"},
                      {{"--notebook-ports=6600-6500"}, "--notebook-ports"},
                      {{"--encryption-key-file=/nowhere/at/all"}, "--encryption-key-file"}};
  for (const Row& row : rows) {
    UpOptions options;
    const std::vector<base::Flag> table = up_flags(options);
    std::string message;
    if (const auto parsed = base::parse_flags(table, row.words); !parsed.ok()) {
      message = parsed.error().message;
    } else if (const base::Status checked = check_up(options); !checked.ok()) {
      message = checked.error().message;
    }
    const std::string& shown = row.words.empty() ? "no flag" : row.words.front();
    ASSERT_EQ(message.empty(), row.flag.empty()) << shown << ": " << message;
    EXPECT_EQ(message.find(row.flag), row.flag.empty() ? 0U : message.find("--")) << shown << ": " << message;
  }
}

TEST(UpFlags, components_that_are_not_named_do_not_run) {
  UpOptions options;
  EXPECT_TRUE(runs(options, "scheduler"));
  options.components = "apiserver,scheduler";
  EXPECT_TRUE(runs(options, "scheduler"));
  EXPECT_FALSE(runs(options, "node"));
}

TEST(UpFlags, handlers_are_names_with_programs) {
  UpOptions options;
  options.runtime_handlers = "kata=/usr/bin/kata,crun=/usr/bin/crun";
  const auto handlers = handlers_of(options);
  ASSERT_TRUE(handlers.ok()) << handlers.error().message;
  EXPECT_EQ(handlers->at("kata"), "/usr/bin/kata");
  EXPECT_EQ(handlers->size(), 2U);
}

}  // namespace
}  // namespace volcano_main
