// The server's HTTP/2 session against our client's, and against clients that mean no good.
#include "rt/http/server/http2_server_session.h"

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <map>
#include <vector>

#include "base/format.h"
#include "rt/http/client/http2_recorded_for_tests.h"
#include "rt/http/client/http2_session.h"
#include "rt/http/http2_frames_for_tests.h"

namespace rt {
namespace {

using namespace frames;
using base::milliseconds;
using StreamId = Http2ServerSession::StreamId;

// A server that remembers what it was asked and answers when the test says so.
class Server {
 public:
  explicit Server(Http2ServerSession::Limits limits = {})
      : session(limits, {.refusal_of_head = [](const HttpRequest& head, bool body) -> std::optional<HttpResponse> {
                           if (body && head.target == "/forbidden") return HttpResponse{403, {}, "no"};
                           return std::nullopt;
                         },
                         .refused =
                             [](const HttpRefusal& refusal) {
                               return HttpResponse{refusal.status, {}, refusal.message};
                             },
                         .hold = [this](std::int64_t bytes) { return (held += bytes) <= held_max; },
                         .on_request = [this](StreamId id, HttpRequest request) { requests[id] = std::move(request); },
                         .on_taken = [this](StreamId, std::size_t bytes) { taken += bytes; },
                         .on_end = [this](StreamId id, bool complete) { ends[id] = complete ? "complete" : "gone"; }}) {
  }

  void answer(StreamId id, std::string body, Headers headers = {}) {
    session.start(id, 200, headers, body.size());
    piece(id, std::move(body), true);
  }
  bool piece(StreamId id, std::string bytes, bool end = false) {
    const auto text = std::make_shared<const std::string>(std::move(bytes));
    return session.send(id, {{text, *text}}, end, now);
  }

  std::int64_t held = 0, held_max = INT64_MAX;
  std::size_t taken = 0;
  base::Duration now{};
  std::map<StreamId, HttpRequest> requests;
  std::map<StreamId, std::string> ends;
  Http2ServerSession session;
};

struct Pair {
  explicit Pair(Http2ServerSession::Limits limits = {}) : server(limits) {}

  StreamId ask(const std::string& target, const std::string& body = "", Headers headers = {}) {
    auto& what = recorded[target];
    const auto id =
        client.start({.method = body.empty() ? "GET" : "POST", .target = target, .headers = headers, .body = body},
                     "server:1", true, record_into(what));
    EXPECT_TRUE(id.ok());
    return id.ok() ? *id : 0;
  }
  base::Status talk() {
    for (int round = 0; round < 10'000; ++round) {
      const std::string out = client.take_output();
      if (!out.empty()) TRY_VOID(server.session.receive(out, server.now));
      const std::string in = server.session.take_output(server.now);
      if (out.empty() && in.empty()) break;
      if (!in.empty()) TRY_VOID(client.receive(in));
    }
    return {};
  }

  Server server;
  Http2Session client;
  std::map<std::string, std::string> recorded;
};

TEST(Http2Server, requests_and_answers_of_many_streams_go_side_by_side) {
  Pair pair;
  const auto first = pair.ask("/first?a=b", "", {{"X-Thing", "one"}});
  const auto second = pair.ask("/second", std::string(300'000, 'x'));
  ASSERT_TRUE(pair.talk().ok());
  const HttpRequest& request = pair.server.requests[first];
  EXPECT_EQ(request.method + " " + request.target, "GET /first?a=b");
  EXPECT_EQ(header(request.headers, "Host"), "server:1");
  EXPECT_EQ(header(request.headers, "X-Thing"), "one");
  EXPECT_EQ(pair.server.requests[second].body.size(), 300'000u);
  EXPECT_NEAR(static_cast<double>(pair.server.held), 300'000, 1'000);  // and the header
  pair.server.answer(second, std::string(5'000'000, 'y'), {{"Connection", "close"}, {"Content-Type", "text/plain"}});
  pair.server.answer(first, "hello");
  ASSERT_TRUE(pair.talk().ok());
  EXPECT_EQ(pair.recorded["/first?a=b"], "200 hello done");
  EXPECT_EQ(pair.recorded["/second"], "200 " + std::string(5'000'000, 'y') + " done");
  EXPECT_EQ(pair.server.ends[first] + " " + pair.server.ends[second], "complete complete");
  EXPECT_EQ(pair.server.taken, 5'000'005u);
  EXPECT_EQ(pair.server.held, 0);
  EXPECT_EQ(pair.server.session.open_count(), 0u);
}

TEST(Http2Server, an_answer_in_pieces_is_heard_piece_by_piece) {
  Pair pair;
  const auto watch = pair.ask("/watch");
  ASSERT_TRUE(pair.talk().ok());
  pair.server.session.start(watch, 200, {}, std::nullopt);
  ASSERT_TRUE(pair.talk().ok());
  EXPECT_EQ(pair.recorded["/watch"], "200 ");
  for (const char* piece : {"a", "b", "c"}) {
    EXPECT_TRUE(pair.server.piece(watch, piece));
    ASSERT_TRUE(pair.talk().ok());
  }
  EXPECT_EQ(pair.recorded["/watch"], "200 abc");
  EXPECT_FALSE(pair.server.session.has_deadlines());  // it may wait for as long as it likes
  pair.server.session.send(watch, {}, true, {});
  ASSERT_TRUE(pair.talk().ok());
  EXPECT_EQ(pair.recorded["/watch"], "200 abc done");
  EXPECT_FALSE(pair.server.piece(watch, "late"));
}

TEST(Http2Server, a_long_answer_does_not_stand_before_a_short_one) {
  Pair pair;
  const auto list = pair.ask("/list");
  const auto get = pair.ask("/get");
  ASSERT_TRUE(pair.talk().ok());
  pair.server.answer(list, std::string(3'000'000, 'l'));
  pair.server.answer(get, "short");
  ASSERT_TRUE(pair.client.receive(pair.server.session.take_output({})).ok());
  EXPECT_EQ(pair.recorded["/get"], "200 short done");
}

TEST(Http2Server, a_client_that_gives_up_is_told_of_once) {
  Pair pair;
  const auto id = pair.ask("/watch");
  ASSERT_TRUE(pair.talk().ok());
  pair.server.session.start(id, 200, {}, std::nullopt);
  ASSERT_TRUE(pair.talk().ok());
  pair.client.reset(id);
  ASSERT_TRUE(pair.talk().ok());
  EXPECT_EQ(pair.server.ends[id], "gone");
  EXPECT_FALSE(pair.server.piece(id, "late"));
}

// The output taken at a time ends with a frame that is ready and has no room: it waits in the session, with its stream.
TEST(Http2Server, a_frame_that_waits_for_room_goes_with_its_stream) {
  Pair pair;
  const std::vector<std::string> targets = {"/a", "/b", "/c", "/d"};
  std::vector<StreamId> ids;
  for (const std::string& target : targets) ids.push_back(pair.ask(target));
  ASSERT_TRUE(pair.talk().ok());
  const std::size_t size = 100'000;
  for (const StreamId id : ids) pair.server.answer(id, std::string(size, 'x'));
  const std::string first = pair.server.session.take_output({});
  EXPECT_GE(first.size(), std::size_t{128} << 10);
  EXPECT_LT(first.size(), std::size_t{160} << 10);
  for (std::size_t i = 0; i + 1 < ids.size(); ++i) pair.client.reset(ids[i]);
  ASSERT_TRUE(pair.client.receive(first).ok());
  ASSERT_TRUE(pair.talk().ok());
  for (std::size_t i = 0; i + 1 < ids.size(); ++i) EXPECT_EQ(pair.server.ends[ids[i]], "gone");
  EXPECT_EQ(pair.recorded["/d"], "200 " + std::string(size, 'x') + " done");
  EXPECT_EQ(pair.server.ends[ids.back()], "complete");
  EXPECT_EQ(pair.server.taken, ids.size() * size);
  EXPECT_EQ(pair.server.held, 0);
  EXPECT_EQ(pair.server.session.open_count(), 0u);
}

TEST(Http2Server, a_session_that_waits_keeps_no_memory_of_a_large_answer) {
  Pair pair;
  const auto list = pair.ask("/list"), get = pair.ask("/get");
  ASSERT_TRUE(pair.talk().ok());
  pair.server.answer(list, std::string(400'000, 'l'));
  std::string out = pair.server.session.take_output({});
  EXPECT_GE(out.capacity(), std::size_t{128} << 10);
  while (!out.empty()) {
    ASSERT_TRUE(pair.client.receive(out).ok());
    ASSERT_TRUE(pair.server.session.receive(pair.client.take_output(), {}).ok());
    out = pair.server.session.take_output({}, std::move(out));
  }
  EXPECT_LT(out.capacity(), 100u);
  pair.server.answer(get, "small");
  const std::string small = pair.server.session.take_output({});
  EXPECT_GT(small.size(), 5u);
  EXPECT_LT(small.capacity(), std::size_t{64} << 10);
}

TEST(Http2Server, what_is_too_much_is_refused_in_words_and_the_others_go_on) {
  Pair pair({.header_bytes_max = 1000, .body_bytes_max = 1000});
  const std::string large(1001, 'x');
  pair.ask("/large-body", large);
  pair.ask("/large-header", "", {{"x", large}});
  pair.ask("/forbidden", "body");
  const auto good = pair.ask("/good", std::string(1000, 'x'));
  ASSERT_TRUE(pair.talk().ok());
  EXPECT_EQ(pair.recorded["/large-body"].substr(0, 4), "413 ");
  EXPECT_EQ(pair.recorded["/large-header"].substr(0, 4), "431 ");
  EXPECT_EQ(pair.recorded["/forbidden"].substr(0, 6), "403 no");
  ASSERT_EQ(pair.server.requests.size(), 1u);
  pair.server.answer(good, "taken");
  ASSERT_TRUE(pair.talk().ok());
  EXPECT_EQ(pair.recorded["/good"], "200 taken done");
  EXPECT_EQ(pair.server.held, 0);
  EXPECT_EQ(pair.server.session.open_count(), 0u);
}

TEST(Http2Server, a_server_that_holds_too_much_says_so) {
  Pair pair;
  pair.server.held_max = 100'000;
  pair.ask("/large", std::string(200'000, 'x'));
  ASSERT_TRUE(pair.talk().ok());
  EXPECT_EQ(pair.recorded["/large"].substr(0, 4), "429 ");
  EXPECT_EQ(pair.server.held, 0);
}

TEST(Http2Server, headers_are_held_as_bodies_are) {
  Pair pair;
  pair.server.held_max = 100'000;
  const Headers large = {{"x-large", std::string(50'000, 'x')}};
  const StreamId first = pair.ask("/first", "body", large);
  pair.ask("/second", "body", large);
  ASSERT_TRUE(pair.talk().ok());
  EXPECT_EQ(pair.recorded["/second"].substr(0, 4), "429 ");
  pair.server.answer(first, "done");
  ASSERT_TRUE(pair.talk().ok());
  EXPECT_EQ(pair.recorded["/first"], "200 done done");
  EXPECT_EQ(pair.server.held, 0);
  pair.ask("/third", "", large);  // nothing is awaited of it
  ASSERT_TRUE(pair.talk().ok());
  EXPECT_EQ(pair.server.held, 0);
}

TEST(Http2Server, who_does_not_read_is_left_and_its_bytes_are_given_back) {
  Pair pair({.write_time_max = milliseconds(50)});
  const auto id = pair.ask("/list");
  ASSERT_TRUE(pair.talk().ok());
  const std::size_t size = std::size_t{40} << 20;  // more than the client's windows
  pair.server.answer(id, std::string(size, 'x'));
  for (std::string out = "-"; !out.empty();) out = pair.server.session.take_output({});  // to nobody
  EXPECT_LT(pair.server.taken, size);
  pair.server.now = milliseconds(49);
  EXPECT_TRUE(pair.server.session.expire(pair.server.now));
  EXPECT_EQ(pair.server.ends.count(id), 0u);
  pair.server.now = milliseconds(51);
  EXPECT_TRUE(pair.server.session.expire(pair.server.now));
  pair.server.session.take_output(pair.server.now);
  EXPECT_EQ(pair.server.ends[id], "gone");
  EXPECT_EQ(pair.server.taken, size);
}

TEST(Http2Server, a_header_that_never_ends_ends_the_connection) {
  Server server({.header_time_max = milliseconds(50)});
  ASSERT_TRUE(server.session.receive(kBegin + frame(kHeaders, kEndStream, 1, kGet), {}).ok());
  EXPECT_TRUE(server.session.has_deadlines());
  EXPECT_TRUE(server.session.expire(milliseconds(49)));
  EXPECT_FALSE(server.session.expire(milliseconds(51)));
}

TEST(Http2Server, a_flood_of_parts_of_a_header_ends_the_session) {
  Server server;
  std::string flood = kBegin + frame(kHeaders, kEndStream, 1, kGet);
  for (int i = 0; i < 20'000; ++i)
    flood += frame(kContinuation, 0, 1,
                   std::string("\x00\x01"
                               "b\x01"
                               "c",
                               6));
  EXPECT_FALSE(server.session.receive(flood, {}).ok() && !server.session.is_over());
}

TEST(Http2Server, a_body_that_never_ends_ends_its_request_only) {
  Server server({.request_time_max = milliseconds(50)});
  ASSERT_TRUE(server.session.receive(kBegin + frame(kHeaders, kEndHeaders, 1, kGet), {}).ok());
  ASSERT_TRUE(server.session.receive(frame(kHeaders, kEndHeaders | kEndStream, 3, kGet), {}).ok());
  EXPECT_EQ(server.requests.size(), 1u);
  EXPECT_TRUE(server.session.expire(milliseconds(51)));
  server.session.take_output({});
  EXPECT_EQ(server.session.open_count(), 1u);
}

TEST(Http2Server, a_flood_of_resets_ends_the_session) {
  Server server;
  std::string flood = kBegin;
  for (std::uint32_t i = 0; i < 3000; ++i)
    flood += frame(kHeaders, kEndHeaders | kEndStream, 2 * i + 1, kGet) +
             frame(kReset, 0, 2 * i + 1, std::string(4, '\x08'));
  bool ok = true;
  for (std::size_t at = 0; ok && at < flood.size(); at += 16384) {  // as a socket gives them
    ok = server.session.receive(std::string_view(flood).substr(at, 16384), {}).ok();
    while (!server.session.take_output({}).empty()) continue;
    ok = ok && !server.session.is_over();
  }
  EXPECT_FALSE(ok);
  EXPECT_LT(server.requests.size(), 2000u);
}

TEST(Http2Server, more_streams_than_there_may_be_are_refused) {
  Server server;
  std::string many = kBegin;
  for (std::uint32_t i = 0; i < 300; ++i) many += frame(kHeaders, kEndHeaders | kEndStream, 2 * i + 1, kGet);
  server.session.receive(many, {}).ok();
  EXPECT_LE(server.requests.size(), 100u);
}

TEST(Http2Server, requests_that_can_be_read_in_two_ways_are_refused) {
  const std::string path_twice = std::string("\x82\x84\x87\x41\x01") + "a\x84";
  const std::string other_host = kGet + std::string(
                                            "\x00\x04host\x01"
                                            "b",
                                            8);
  const std::string no_host = "\x82\x84\x87";
  const std::string with_encoding = kGet + std::string(
                                               "\x00\x11transfer-encoding\x07"
                                               "chunked",
                                               27);
  for (const std::string& header : {path_twice, other_host, no_host, with_encoding}) {
    Server server;
    server.session.receive(kBegin + frame(kHeaders, kEndHeaders | kEndStream, 1, header), {}).ok();
    EXPECT_TRUE(server.requests.empty()) << header;
  }
}

TEST(Http2Server, what_is_not_http2_ends_the_session) {
  Server server;
  EXPECT_FALSE(server.session.receive("GET / HTTP/1.1\r\nHost: a\r\n\r\n", {}).ok());
  server.session.take_output({});  // why we leave
  EXPECT_TRUE(server.session.is_over());
}

// The server's frames of this turn, by types; those of the client's last GOAWAYs are in `last`.
std::string frame_types(Server& server, std::vector<std::uint32_t>& last) {
  std::string out, bytes = server.session.take_output(server.now);
  for (Frame one = take_frame(bytes); one.type >= 0; one = take_frame(bytes)) {
    out += base::format("{} ", one.type);
    if (one.type == kGoAway) last.push_back(one.last_stream());
  }
  return out;
}
std::string get(std::uint32_t stream) { return frame(kHeaders, kEndHeaders | kEndStream, stream, kGet); }

TEST(Http2ServerEnd, what_crosses_the_news_is_answered_and_what_crosses_the_last_words_was_never_looked_at) {
  // Whether the client answers the ping behind the news.
  for (const bool answers : {true, false}) {
    Server server;
    std::vector<std::uint32_t> last;
    ASSERT_TRUE(server.session.receive(kBegin + get(1), {}).ok());
    frame_types(server, last);
    server.session.announce_end({});
    EXPECT_EQ(frame_types(server, last), "7 6 ");
    ASSERT_TRUE(server.session.receive(get(3), {}).ok());
    EXPECT_EQ(frame_types(server, last), "");
    if (answers)
      ASSERT_TRUE(server.session.receive(frame(kPing, kAck, 0, std::string(8, 0)), {}).ok());
    else
      server.now = base::seconds(1);
    EXPECT_TRUE(server.session.has_deadlines() || answers);
    EXPECT_EQ(frame_types(server, last), "7 ");
    EXPECT_EQ(last, (std::vector{kLastOfAll, 3u}));
    ASSERT_TRUE(server.session.receive(get(5) + frame(kHeaders, kEndHeaders, 7, kGet), server.now).ok());
    ASSERT_TRUE(server.session.receive(frame(kData, kEndStream, 7, "body"), server.now).ok());
    EXPECT_EQ(frame_types(server, last), "");
    EXPECT_EQ(server.requests.size(), 2u);
    EXPECT_FALSE(server.session.is_over());
    server.answer(1, "one");
    server.answer(3, "three");
    frame_types(server, last);
    EXPECT_EQ(server.ends, (std::map<StreamId, std::string>{{1, "complete"}, {3, "complete"}}));
    EXPECT_TRUE(server.session.is_over());
    EXPECT_EQ(server.held, 0);
  }
}

// The last words wait behind answers for which there is no room: what comes meanwhile is above the last, too.
TEST(Http2ServerEnd, nothing_is_begun_between_the_last_words_and_their_way_out) {
  Server server;
  constexpr std::uint32_t kMany = 60;
  std::string ask = kBegin;
  for (std::uint32_t i = 0; i < kMany; ++i) ask += get(2 * i + 1);
  ASSERT_TRUE(server.session.receive(ask, {}).ok());
  server.session.take_output({});
  server.session.announce_end({});
  server.session.take_output({});
  const Headers large = {{"x-large", std::string(10'000, 'x')}};
  for (std::uint32_t i = 0; i < kMany; ++i) server.answer(static_cast<StreamId>(2 * i + 1), "body", large);
  server.now = base::seconds(1);
  std::string bytes = server.session.take_output(server.now);
  EXPECT_EQ(bytes.find(frame(kGoAway, 0, 0, "").substr(3)), bytes.npos);  // no room for it yet
  ASSERT_TRUE(server.session.receive(get(2 * kMany + 1), server.now).ok());
  for (std::string more = "-"; !more.empty(); bytes += more) more = server.session.take_output(server.now);
  EXPECT_EQ(server.requests.size(), kMany);
  EXPECT_EQ(server.ends.size(), kMany);
  EXPECT_TRUE(server.session.is_over());
  std::vector<std::uint32_t> last;
  for (Frame one = take_frame(bytes); one.type >= 0; one = take_frame(bytes))
    if (one.type == kGoAway) last.push_back(one.last_stream());
  EXPECT_EQ(last, std::vector{2 * kMany - 1});
}

}  // namespace
}  // namespace rt
