// The answers that clients of exec get, and the protocols that are spoken with them.
#include "apiserver/http/remote_command.h"

#include <gtest/gtest.h>

namespace apiserver {
namespace {

TEST(RemoteCommand, the_newest_protocol_that_both_know_is_spoken) {
  EXPECT_EQ(chosen_command_protocol({"v4.channel.k8s.io", "v5.channel.k8s.io"}), "v5.channel.k8s.io");
  EXPECT_EQ(chosen_command_protocol({"channel.k8s.io", "v4.channel.k8s.io"}), "v4.channel.k8s.io");
  EXPECT_EQ(chosen_command_protocol({"v3.channel.k8s.io", "v4.base64.channel.k8s.io"}), "");
  EXPECT_EQ(chosen_command_protocol({}), "");
}

TEST(RemoteCommand, ends_are_told_as_clients_read_them) {
  EXPECT_EQ(command_status(0).dump(), R"({"metadata":{},"status":"Success"})");
  const api::Json three = command_status(3);
  EXPECT_EQ(three["reason"].as_string(), "NonZeroExitCode");
  EXPECT_EQ(three["details"]["causes"].items().front().dump(), R"({"reason":"ExitCode","message":"3"})");
  const api::Json failed = command_status(base::make_error(base::Code::kInternal, "no such program"));
  EXPECT_EQ(failed["reason"].as_string(), "InternalError");
  EXPECT_NE(failed["message"].as_string().find("no such program"), std::string_view::npos);
}

TEST(RemoteCommand, sizes_of_terminals_are_numbers_that_fit) {
  EXPECT_EQ(terminal_size(R"({"Width":80,"Height":24})")->columns, 80);
  for (const char* text : {"", "{}", "[]", R"({"Width":0,"Height":24})", R"({"Width":80,"Height":65536})",
                           R"({"Width":"80","Height":24})", R"({"Width":-1,"Height":-1})"})
    EXPECT_FALSE(terminal_size(text).ok()) << text;
}

}  // namespace
}  // namespace apiserver
