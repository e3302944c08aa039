// SPDY frames: what is written can be read, what a Go client sent can be read, and what is broken is refused.
#include "rt/http/spdy.h"

#include <gtest/gtest.h>

#include "rt/http/spdy_all_for_tests.h"

namespace rt {
namespace {

using Kind = SpdyFrame::Kind;

// One line a frame.
std::string text_of(const base::Result<std::vector<SpdyFrame>>& frames) {
  if (!frames.ok()) return frames.error().message;
  std::string text;
  for (const SpdyFrame& frame : *frames) {
    text +=
        std::to_string(static_cast<int>(frame.kind)) + " " + std::to_string(frame.stream) + (frame.last ? " last" : "");
    for (const auto& [name, value] : frame.headers) text += " " + name + "=" + value;
    text += (frame.data.empty() ? "" : " " + frame.data) + "\n";
  }
  return text;
}

TEST(Spdy, what_is_written_is_read_in_any_pieces) {
  SpdyWriter writer;
  std::string sent = writer.open(1, {{"streamtype", "error"}, {"port", "80"}});
  sent += writer.open(3, {{"streamtype", "data"}, {"port", "80"}});
  sent += writer.reply(1) + SpdyWriter::data(3, "hello", false) + SpdyWriter::data(3, "", true);
  sent += SpdyWriter::ping(0x80000001) + SpdyWriter::reset(3) + SpdyWriter::go_away(3);
  const std::string expected =
      "0 1 streamtype=error port=80\n0 3 streamtype=data port=80\n1 1\n8 3 hello\n8 3 last\n4 2147483649\n2 3\n5 3\n";
  SpdyReader whole;
  EXPECT_EQ(text_of(all_frames(whole, sent)), expected);
  SpdyReader bytewise;
  std::string all;
  for (const char byte : sent) all += text_of(all_frames(bytewise, {&byte, 1}));
  EXPECT_EQ(all, expected);
}

TEST(Spdy, what_is_broken_is_refused) {
  const auto refusal = [](std::string bytes) {
    SpdyReader reader;
    return text_of(all_frames(reader, bytes));
  };
  using namespace std::string_literals;
  EXPECT_EQ(refusal("\x80\x02\x00\x06\x00\x00\x00\x04\x00\x00\x00\x01"s), "SPDY: version 2 is not 3");
  EXPECT_EQ(refusal("\x80\x03\x00\x06\x00\x00\x00\x02\x00\x00"s), "SPDY: a frame of type 6 with 2 bytes");
  EXPECT_EQ(refusal("\x00\x00\x00\x01\x00\xff\xff\xff"s), "SPDY: a frame of 16777215 bytes");
  EXPECT_EQ(refusal("\x80\x03\x00\x02\x00\x00\x00\x08\x00\x00\x00\x01zzzz"s), "SPDY: headers that zlib cannot read");
  EXPECT_EQ(refusal("\x80\x03\x00\x02\x00\x00\x00\x04\x00\x00\x00\x01"s), "SPDY: headers without their number");
  // Frames of other versions are not for this reader.
  EXPECT_EQ(refusal("\x80\x03\x00\x63\x00\x00\x00\x01z"s), "3 0\n");
}

TEST(Spdy, headers_that_grow_without_end_are_refused) {
  SpdyWriter writer;
  SpdyReader reader;
  EXPECT_EQ(text_of(all_frames(reader, writer.open(1, {{"a", std::string(9'000, 'x')}}))),
            "SPDY: headers of more than 8192 bytes");
}

}  // namespace
}  // namespace rt
