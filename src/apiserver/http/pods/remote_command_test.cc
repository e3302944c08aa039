// The answers that clients of exec get, and the protocols that are spoken with them.
#include "apiserver/http/pods/remote_command.h"

#include <gtest/gtest.h>

#include "apiserver/http/recording_exchange_for_tests.h"

namespace apiserver {
namespace {

TEST(RemoteCommand, the_newest_protocol_that_both_know_is_spoken) {
  EXPECT_EQ(chosen_protocol(kCommandChannels, {"v4.channel.k8s.io", "v5.channel.k8s.io"}), "v5.channel.k8s.io");
  EXPECT_EQ(chosen_protocol(kCommandChannels, {"channel.k8s.io", "v4.channel.k8s.io"}), "v4.channel.k8s.io");
  EXPECT_EQ(chosen_protocol(kCommandChannels, {"v3.channel.k8s.io", "base64.channel.k8s.io"}), "base64.channel.k8s.io");
  EXPECT_EQ(chosen_protocol(kCommandChannels, {}), "");
  EXPECT_EQ(chosen_protocol(kCommandChannels, {"v3.channel.k8s.io"}), std::nullopt);
  EXPECT_EQ(chosen_protocol(kCommandStreams, {"v4.base64.channel.k8s.io"}), std::nullopt);
  EXPECT_EQ(chosen_protocol(kCommandStreams, {}), std::nullopt);
  EXPECT_EQ(chosen_protocol(kPortChannels, {"v5.channel.k8s.io", "v4.channel.k8s.io"}), "v4.channel.k8s.io");
}

TEST(RemoteCommand, messages_of_channels_are_bytes_or_base64) {
  for (const int channel : {0, 1, 4, 63})
    for (const std::string_view bytes : {std::string_view(), std::string_view("a"), std::string_view("\0\xff", 2)})
      for (const char* protocol : {"", "v5.channel.k8s.io", "v4.base64.channel.k8s.io"}) {
        const ChannelForm form = form_of(protocol);
        RecordingExchange sent;
        send_on_channel(sent, form, channel, bytes);
        const auto message_in = channel_message(form, sent.sent.at(0));
        ASSERT_TRUE(message_in);
        EXPECT_EQ(message_in->channel, channel);
        EXPECT_EQ(message_in->bytes, bytes);
      }
  EXPECT_EQ(channel_message(ChannelForm::kBytes, "\xff")->channel, 255);
  for (const char* text : {"", "/YQ==", "0Y", "0Y=Q=", "0 "})
    EXPECT_FALSE(channel_message(ChannelForm::kBase64, text)) << text;
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
