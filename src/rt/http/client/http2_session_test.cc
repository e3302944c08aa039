// The HTTP/2 session against a server of the same library, and against servers that mean no good.
#include "rt/http/client/http2_session.h"

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <map>

#include "rt/http/client/http2_recorded_for_tests.h"

namespace rt {
namespace {

// A server's session: it remembers requests, and answers when the test says so.
class Server {
 public:
  Server() {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(
        callbacks, [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
                      const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* self) {
          static_cast<Server*>(self)->requests[frame->hd.stream_id] +=
              std::string(reinterpret_cast<const char*>(name), name_size) + "=" +
              std::string(reinterpret_cast<const char*>(value), value_size) + "\n";
          return 0;
        });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        callbacks,
        [](nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data, std::size_t size, void* self) {
          static_cast<Server*>(self)->bodies[id].append(reinterpret_cast<const char*>(data), size);
          return 0;
        });
    nghttp2_option* options = nullptr;
    nghttp2_option_new(&options);
    nghttp2_option_set_max_send_header_block_length(options, 1 << 20);
    nghttp2_session_server_new2(&session, callbacks, this, options);
    nghttp2_option_del(options);
    nghttp2_session_callbacks_del(callbacks);
    const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 100}};
    nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings, 1);
  }
  ~Server() { nghttp2_session_del(session); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void receive_bytes(const std::string& bytes) {
    EXPECT_GE(nghttp2_session_mem_recv(session, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), 0);
  }
  std::string bytes_to_send() {
    std::string out;
    const std::uint8_t* bytes = nullptr;
    for (ssize_t size = 0; (size = nghttp2_session_mem_send(session, &bytes)) > 0;)
      out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    return out;
  }
  void answer(std::int32_t id, std::string body, const Headers& headers = {}) {
    std::vector<std::pair<std::string, std::string>> fields = {{":status", "200"}};
    fields.insert(fields.end(), headers.begin(), headers.end());
    std::vector<nghttp2_nv> pairs;
    for (auto& [name, value] : fields)
      pairs.push_back({reinterpret_cast<std::uint8_t*>(name.data()), reinterpret_cast<std::uint8_t*>(value.data()),
                       name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
    answers[id] = std::move(body);
    nghttp2_data_provider data{};
    data.source.ptr = &answers[id];
    data.read_callback = [](nghttp2_session*, std::int32_t, std::uint8_t* buffer, std::size_t size,
                            std::uint32_t* flags, nghttp2_data_source* source, void*) -> ssize_t {
      auto& rest = *static_cast<std::string*>(source->ptr);
      const std::size_t part = std::min(size, rest.size());
      std::copy_n(rest.data(), part, buffer);
      rest.erase(0, part);
      if (rest.empty()) *flags |= NGHTTP2_DATA_FLAG_EOF;
      return static_cast<ssize_t>(part);
    };
    ASSERT_EQ(nghttp2_submit_response(session, id, pairs.data(), pairs.size(), &data), 0);
  }

  nghttp2_session* session = nullptr;
  std::map<std::int32_t, std::string> requests;
  std::map<std::int32_t, std::string> bodies;
  std::map<std::int32_t, std::string> answers;
};

class Http2SessionTest : public ::testing::Test {
 protected:
  Http2Session::StreamId ask(const std::string& target, const std::string& body = "") {
    HttpRequest request{.method = body.empty() ? "GET" : "POST", .target = target};
    request.headers.emplace_back("Accept", "application/json");
    request.body = body;
    auto& what = recorded[target];
    const auto id = client.start(request, "server:1", true, record_into(what));
    EXPECT_TRUE(id.ok());
    return id.ok() ? *id : 0;
  }
  // Lets both talk until neither has anything to say.
  base::Status talk() {
    for (int round = 0; round < 1000; ++round) {
      const std::string out = client.take_output();
      if (!out.empty()) server.receive_bytes(out);
      const std::string in = server.bytes_to_send();
      if (out.empty() && in.empty()) break;
      if (!in.empty()) TRY_VOID(client.receive(in));
    }
    return {};
  }

  Server server;
  Http2Session client;
  std::map<std::string, std::string> recorded;
};

TEST_F(Http2SessionTest, carries_many_requests_and_their_answers_at_once) {
  const auto first = ask("/first");
  const auto second = ask("/second", std::string(300'000, 'x'));
  ASSERT_TRUE(talk().ok());
  EXPECT_EQ(server.requests[first],
            ":method=GET\n:scheme=https\n:authority=server:1\n:path=/first\naccept=application/json\n");
  EXPECT_EQ(server.bodies[second].size(), 300'000u);
  server.answer(second, std::string(5'000'000, 'y'));
  server.answer(first, "hello");
  ASSERT_TRUE(talk().ok());
  EXPECT_EQ(recorded["/first"], "200 hello done");
  EXPECT_EQ(recorded["/second"], "200 " + std::string(5'000'000, 'y') + " done");
  EXPECT_EQ(client.open_count(), 0u);
  EXPECT_EQ(client.open_max(), 100u);
}

TEST_F(Http2SessionTest, what_a_leaving_server_has_not_looked_at_is_refused_and_the_rest_is_answered) {
  const auto first = ask("/first");
  ASSERT_TRUE(talk().ok());
  ask("/second");
  nghttp2_submit_goaway(server.session, NGHTTP2_FLAG_NONE, first, NGHTTP2_NO_ERROR, nullptr, 0);
  ASSERT_TRUE(client.receive(server.bytes_to_send()).ok());
  EXPECT_FALSE(client.takes_requests());
  server.answer(first, "hello");
  talk().ok();  // both sides are done then
  EXPECT_EQ(recorded["/second"], " refused");
  EXPECT_EQ(recorded["/first"], "200 hello done");
}

TEST_F(Http2SessionTest, resets_tell_whether_the_server_has_looked_at_the_request) {
  const auto first = ask("/first");
  const auto second = ask("/second");
  ASSERT_TRUE(talk().ok());
  nghttp2_submit_rst_stream(server.session, NGHTTP2_FLAG_NONE, first, NGHTTP2_REFUSED_STREAM);
  nghttp2_submit_rst_stream(server.session, NGHTTP2_FLAG_NONE, second, NGHTTP2_INTERNAL_ERROR);
  ASSERT_TRUE(talk().ok());
  EXPECT_EQ(recorded["/first"], " refused");
  EXPECT_EQ(recorded["/second"], " lost");
}

TEST_F(Http2SessionTest, nothing_is_told_of_what_nobody_waits_for) {
  const auto id = ask("/first");
  ASSERT_TRUE(talk().ok());
  client.reset(id);
  server.answer(id, "hello");
  ASSERT_TRUE(talk().ok());
  const auto unsent = ask("/second");
  client.reset(unsent);
  ASSERT_TRUE(talk().ok());
  EXPECT_EQ(recorded["/first"] + recorded["/second"], "");
  EXPECT_EQ(client.open_count(), 0u);
}

TEST_F(Http2SessionTest, a_header_without_end_ends_the_request) {
  const auto id = ask("/first");
  ASSERT_TRUE(talk().ok());
  Headers headers;
  for (int i = 0; i < 5; ++i) headers.emplace_back("x-" + std::to_string(i), std::string(60'000, 'h'));
  server.answer(id, "hello", headers);
  talk().ok();  // the library ends the session for some such headers
  EXPECT_EQ(recorded["/first"], " lost");
}

TEST_F(Http2SessionTest, a_flood_of_pings_ends_the_session) {
  ask("/first");
  ASSERT_TRUE(talk().ok());
  bool ended = false;
  for (int i = 0; i < 100'000 && !ended; ++i) {
    nghttp2_submit_ping(server.session, NGHTTP2_FLAG_NONE, nullptr);
    ended = !client.receive(server.bytes_to_send()).ok();
  }
  EXPECT_TRUE(ended);
  EXPECT_EQ(recorded["/first"], " lost");
}

TEST_F(Http2SessionTest, what_is_not_http2_ends_the_session) {
  ask("/first");
  ASSERT_TRUE(talk().ok());
  client.receive("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").ok();
  client.take_output();  // why we leave
  EXPECT_TRUE(client.is_over());
  client.close("over");
  EXPECT_EQ(recorded["/first"], " lost");
  EXPECT_FALSE(client.takes_requests());
}

}  // namespace
}  // namespace rt
