// Answers in pieces, whole and broken ones.
#include "rt/http/client/answer_reader.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace rt {
namespace {

// A reader's account of an answer that comes in pieces of `size` bytes and then ends.
std::string read_of(std::string_view answer, std::size_t size, bool head = false) {
  std::string out;
  AnswerReader reader(head, {[&out](int status, const Headers& headers) {
                               out += base::format("{}", status);
                               for (const auto& [name, value] : headers) out += base::format(" {}={}", name, value);
                               out += ":";
                             },
                             [&out](const std::string& bytes) { out += bytes; }});
  for (; !answer.empty() && !reader.is_done(); answer.remove_prefix(std::min(size, answer.size())))
    if (const auto status = reader.read(answer.substr(0, size)); !status.ok()) return out + " broken";
  const bool whole = reader.is_done();
  return out + (whole ? " done" : reader.end().ok() ? " ended" : " cut");
}

TEST(AnswerReader, tells_head_and_body_however_they_are_cut) {
  struct Row {
    std::string_view answer, expected;
    bool head = false;
  };
  constexpr std::string_view kChunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string chunks = std::string(kChunked) + "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
  const std::string open_chunks = std::string(kChunked) + "3\r\nabc\r\n";
  const std::vector<Row> rows = {
      {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", "200 Content-Length=3:abc done"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", "200 Content-Length=3:ab cut"},
      {"HTTP/1.0 404 Not Found\r\n\r\nno such page", "404:no such page ended"},
      {"HTTP/1.1 204 No Content\r\n\r\n", "204: done"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", "200 Content-Length=3: done", true},
      {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\nx",
       "201 Content-Length=1:x done"},
      {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\n\r\nhello", "101 Upgrade=echo:hello ended"},
      {chunks, "200 Transfer-Encoding=chunked:abcde done"},
      {open_chunks, "200 Transfer-Encoding=chunked:abc cut"},
      {"HTTP/1.1 200 OK\r\n", " cut"},
      {"", " cut"},
      {"SSH-2.0-OpenSSH_9.2\r\n\r\n", " broken"},
      {"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", " broken"},
      {"HTTP/1.1 042 What\r\n\r\n", " broken"},
      // An announced length takes no memory.
      {"HTTP/1.1 200 OK\r\nContent-Length: 4000000000000000000\r\n\r\nx",
       "200 Content-Length=4000000000000000000:x cut"},
  };
  for (const Row& row : rows)
    for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{4096}})
      EXPECT_EQ(read_of(row.answer, size, row.head), row.expected) << row.answer << " by " << size;
}

TEST(AnswerReader, holds_no_more_than_a_header_of_what_does_not_end) {
  const std::string endless(std::size_t{1} << 20, 'a');
  EXPECT_EQ(read_of("HTTP/1.1 200 OK\r\nA: " + endless, 4096), " broken");
  EXPECT_EQ(read_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + endless, 4096),
            "200 Transfer-Encoding=chunked: broken");
}

// Beast keeps the length of a field in sixteen bits.
TEST(AnswerReader, a_field_that_is_too_long_breaks_the_answer) {
  const std::string long_value(70'000, 'a');
  EXPECT_EQ(read_of("HTTP/1.1 200 OK\r\nA: " + long_value + "\r\n\r\n", 4096), " broken");
  EXPECT_EQ(read_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: " + long_value + "\r\n\r\n", 4096),
            "200 Transfer-Encoding=chunked: broken");
}

}  // namespace
}  // namespace rt
