// Attacks of a peer on the HTTP server: say things that can be read in two ways, say nothing, not read, come too often.
// Raw sockets on loopback.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <future>
#include <sstream>

#include "base/await_for_tests.h"
#include "rt/env.h"
#include "rt/http/client/http_client.h"
#include "rt/http/peer_for_tests.h"
#include "rt/http/server/http_server.h"
#include "rt/tls/tls.h"

namespace rt {
namespace {

constexpr base::Duration kShort = base::milliseconds(50);

void echo(HttpRequest request, const std::shared_ptr<HttpExchange>& exchange) {
  exchange->respond({200, {}, request.method + " " + request.target + " " + request.body});
}

std::string first_line(const std::string& answer) { return answer.substr(0, answer.find("\r\n")); }

TEST(HttpFraming, what_two_readers_could_see_differently_is_refused_and_the_connection_closed) {
  const auto server = *listen_http({}, echo);
  struct Row {
    const char* header;
    const char* body;
    const char* message;  // of the message
  };
  const Row rows[] = {
      {"Host: a\r\nHost: a\r\n", "", "exactly one Host header, and this one has 2"},
      {"", "", "exactly one Host header, and this one has 0"},
      {"Host: a b\r\n", "", "Host: \"a b\" is not a host"},
      {"Host: a/b\r\n", "", "Host: \"a/b\" is not a host"},
      {"Host: a\r\nTransfer-Encoding: gzip\r\n", "", "Transfer-Encoding: \"gzip\" is not"},
      {"Host: a\r\nTransfer-Encoding: identity\r\n", "", "Transfer-Encoding: \"identity\" is not"},
      {"Host: a\r\nTransfer-Encoding: xchunked\r\n", "0\r\n\r\n", "Transfer-Encoding: \"xchunked\" is not"},
      {"Host: a\r\nTransfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n", "Transfer-Encoding: "},
      {"Host: a\r\nTransfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n", "Transfer-Encoding: "},
      {"Host: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n", "Transfer-Encoding"},
      {"Host: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n", ""},
      {"Host: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n", ""},
      {"Host: a\r\nContent-Length: 2\r\nContent-Length: 2\r\n", "ab", "Content-Length"},
      {"Host: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n", "abc", "Content-Length"},
      {"Host: a\r\nContent-Length: 99999999999999999999\r\n", "", "Content-Length: \"99999999999999999999\""},
      {"Host: a\r\nContent-Length: -1\r\n", "", "Content-Length: \"-1\""},
      {"Host: a\r\nTransfer-Encoding: chunked\r\n", "fffffffffffffffff\r\n", "\"fffffffffffffffff\""},
  };
  for (const Row& row : rows) {
    const std::string request = std::string("POST / HTTP/1.1\r\n") + row.header + "\r\n" + row.body;
    const std::string answer = Peer(server->port()).write(request + "GET /next HTTP/1.1\r\nHost: a\r\n\r\n").read_all();
    EXPECT_EQ(first_line(answer), "HTTP/1.1 400 Bad Request") << request << answer;
    EXPECT_NE(answer.find(row.message), answer.npos) << request << answer;
    EXPECT_EQ(answer.find("/next"), answer.npos) << answer;
  }
}

TEST(HttpFraming, what_is_plain_is_taken) {
  const auto server = *listen_http({}, echo);
  for (const char* request :
       {"POST /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\ntransfer-encoding: Chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
        "POST /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\n\r\nab",
        "POST /x HTTP/1.0\r\nContent-Length: 2\r\n\r\nab"}) {
    const std::string answer = Peer(server->port()).write(request).read_all();
    EXPECT_TRUE(answer.ends_with("POST /x ab")) << request << answer;
  }
}

// RFC 9112 3.2.2: what proxies are asked, servers take as well.
TEST(HttpFraming, absolute_targets_name_what_their_path_names) {
  const auto server = *listen_http({}, echo);
  const auto asked = [&](std::string_view target) {
    const std::string answer =
        Peer(server->port())
            .write("GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            .read_all();
    return answer.substr(answer.find("\r\n\r\n") + 4);
  };
  EXPECT_EQ(asked("http://127.0.0.1:1/api/v1?limit=1"), "GET /api/v1?limit=1 ");
  EXPECT_EQ(asked("HTTPS://host/api"), "GET /api ");
  EXPECT_EQ(asked("http://host"), "GET / ");
  EXPECT_EQ(asked("http://host?a=b"), "GET /?a=b ");
  EXPECT_EQ(asked("/http://host/x"), "GET /http://host/x ");
  EXPECT_EQ(asked("ftp://host/x"), "GET ftp://host/x ");
}

TEST(HttpFraming, an_expectation_is_met_in_any_case_or_refused) {
  const auto server = *listen_http({}, echo);
  const auto begun = [&](std::string_view expectation) {
    return "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: " + std::string(expectation) + "\r\n\r\n";
  };
  for (const std::string_view word : {"100-continue", "100-Continue"}) {
    Peer peer(server->port());
    EXPECT_EQ(peer.write(begun(word)).read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n") << word;
    EXPECT_TRUE(peer.write("hi").read_until("POST / hi").ends_with("POST / hi"));
  }
  EXPECT_EQ(first_line(Peer(server->port()).write(begun("miracles")).read_all()), "HTTP/1.1 417 Expectation Failed");
}

// State and timer of the server's side of a connection, as the kernel tells: "01 02" is one that is established and
// whose silence is counted.
std::string side_of(std::uint16_t port) {
  std::ifstream table("/proc/net/tcp");
  char local[16];
  std::snprintf(local, sizeof local, ":%04X", port);
  for (std::string line; std::getline(table, line);) {
    std::istringstream words(line);
    std::string number, from, to, state, queues, timer;
    words >> number >> from >> to >> state >> queues >> timer;
    if (from.ends_with(local) && state == "01") return state + " " + timer.substr(0, 2);
  }
  return "";
}

// A peer whose machine has gone says nothing any more, not even that it goes.
TEST(HttpLimits, a_silent_connection_is_asked_by_the_kernel) {
  const auto server = *listen_http({}, echo);
  Peer peer(server->port());
  peer.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n").read_until("GET / ");
  std::string side = side_of(server->port());
  while (side == "01 01") side = side_of(server->port());  // the answer is not yet acknowledged
  EXPECT_EQ(side, "01 02");
}

TEST(HttpFraming, what_stands_around_chunks_has_a_limit) {
  const auto server = *listen_http({}, echo);
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string& endless : {"2;a=" + std::string(200'000, 'x'), "0\r\nx: " + std::string(200'000, 'x')}) {
    const std::string answer = Peer(server->port()).write(head + endless).read_all();
    EXPECT_EQ(first_line(answer), "HTTP/1.1 400 Bad Request");
    EXPECT_NE(answer.find("a chunk's head or the trailer is longer than 65536 bytes"), answer.npos) << answer;
  }
}

// Beast keeps the length of a field in sixteen bits, and throws at more.
TEST(HttpFraming, a_field_of_a_trailer_that_is_too_long_is_refused) {
  const auto server = *listen_http({}, echo);
  const std::string text = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: ";
  for (const std::size_t size : {65'534, 70'000}) {
    const std::string answer = Peer(server->port()).write(text + std::string(size, 'x') + "\r\n\r\n").read_all();
    EXPECT_EQ(first_line(answer).substr(0, 10), "HTTP/1.1 4") << size << answer.substr(0, 300);
  }
  EXPECT_EQ(first_line(Peer(server->port()).write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").read_all()),
            "HTTP/1.1 200 OK");
}

// The parser must not be asked again before the last chunk is whole (it asserts that, where assertions are compiled).
TEST(HttpFraming, the_last_chunk_may_come_in_parts) {
  const auto server = *listen_http({}, echo);
  const std::string head = "POST /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n";
  const std::string expects = head + "Expect: 100-continue\r\n\r\n";
  Peer empty(server->port());
  empty.write(expects);
  EXPECT_EQ(first_line(empty.read_until("\r\n\r\n")), "HTTP/1.1 100 Continue");
  EXPECT_TRUE(empty.write("0\r\n").write("\r").write("\n").read_all().ends_with("POST /x "));
  const std::string answer = Peer(server->port()).write(head + "\r\n0\n\r\n").write("\r\n").read_all();
  EXPECT_EQ(first_line(answer), "HTTP/1.1 400 Bad Request");
}

TEST(HttpLimits, a_peer_that_says_nothing_is_left) {
  const auto server = *listen_http({.idle_time_max = kShort}, echo);
  EXPECT_EQ(Peer(server->port()).read_all(), "");
  // Also after a request.
  EXPECT_EQ(first_line(Peer(server->port()).write("GET / HTTP/1.1\r\nHost: a\r\n\r\n").read_all()), "HTTP/1.1 200 OK");
}

// The time passes while others that are idle are left.
TEST(HttpLimits, a_peer_that_still_reads_an_answer_is_not_idle) {
  const std::string big = std::string(std::size_t{64} << 20, 'x') + "the end";
  const auto give = [&](HttpRequest, const std::shared_ptr<HttpExchange>& exchange) {
    exchange->respond({200, {}, big});
  };
  const std::string request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  const auto patient = *listen_http({.idle_time_max = base::milliseconds(300)}, give);
  Peer peer(patient->port());
  EXPECT_EQ(first_line(peer.write(request).read_some()), "HTTP/1.1 200 OK");
  EXPECT_EQ(Peer(patient->port()).read_all(), "");
  EXPECT_TRUE(peer.read_until("the end").ends_with("the end"));
  EXPECT_EQ(peer.read_all(), "");  // it is from now on
  // A peer that reads nothing has no longer than before.
  const auto strict = *listen_http({.idle_time_max = base::milliseconds(200), .write_time_max = kShort}, give);
  Peer sleeper(strict->port());
  sleeper.write(request).read_some();
  EXPECT_EQ(Peer(strict->port()).read_all(), "");
  EXPECT_FALSE(sleeper.read_until("the end").ends_with("the end"));
}

// A listener for the end of an exchange may hold it, and with it the connection.
TEST(HttpLimits, who_listens_goes_with_an_answer_that_was_complete_before) {
  struct Listener {
    std::shared_ptr<HttpExchange> exchange;
    std::promise<void>& gone;
    ~Listener() { gone.set_value(); }
  };
  std::promise<void> gone;
  const auto server = *listen_http({}, [&](HttpRequest, const std::shared_ptr<HttpExchange>& exchange) {
    exchange->respond({200, {}, "answer"});
    exchange->on_closed([listener = std::shared_ptr<Listener>(new Listener{exchange, gone})] {});
  });
  Peer(server->port()).write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").read_all();
  EXPECT_EQ(gone.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
}

KeyPair authority() { return *make_ca("test-ca", make_real_env("test")->now(), base::hours(1)); }

ServerKeys keys_of(const KeyPair& ca) {
  const KeyPair pair = *issue_certificate(ca, {.common_name = "server", .ip_addresses = {"127.0.0.1"}, .server = true},
                                          make_real_env("test")->now(), base::hours(1));
  return {pair.certificate_pem, pair.key_pem, ca.certificate_pem};
}

TEST(HttpLimits, a_peer_that_does_not_finish_its_handshake_is_left) {
  const auto server = *listen_http({.tls = keys_of(authority()), .handshake_time_max = kShort}, echo);
  EXPECT_EQ(Peer(server->port()).read_all(), "");
  EXPECT_EQ(Peer(server->port()).write("\x16\x03").read_all(), "");
}

TEST(HttpLimits, requests_that_come_ahead_wait_until_the_answers_before_them_are_read) {
  constexpr int kRequests = 300;
  const std::string big(std::size_t{256} << 10, 'x');
  std::atomic<std::size_t> unread{0};
  std::atomic<int> answered{0};
  const auto server = *listen_http({}, [&](HttpRequest, const std::shared_ptr<HttpExchange>& exchange) {
    unread = std::max<std::size_t>(unread, exchange->backlog_bytes());
    exchange->respond({200, {{"X-Number", std::to_string(++answered)}}, big});
  });
  std::string all;
  for (int i = 0; i < kRequests; ++i) all += "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  all += "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  const std::string received = Peer(server->port()).write(all).read_all();
  EXPECT_GT(received.size(), (kRequests + 1) * big.size());
  EXPECT_NE(received.find("X-Number: " + std::to_string(kRequests + 1) + "\r\n"), received.npos);
  EXPECT_LE(unread, std::size_t{64} << 10);
}

TEST(HttpLimits, a_peer_that_does_not_read_is_left) {
  std::promise<void> gone;
  const auto server =
      *listen_http({.write_time_max = kShort}, [&](HttpRequest, const std::shared_ptr<HttpExchange>& exchange) {
        exchange->on_closed([&] { gone.set_value(); });
        exchange->start(200, {});
        exchange->send_one(std::make_shared<const std::string>(std::size_t{64} << 20, 'x'));
      });
  Peer peer(server->port());
  peer.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  base::await(gone);
}

TEST(HttpLimits, a_writer_is_told_when_the_peer_has_read) {
  std::promise<void> drained;
  std::promise<std::shared_ptr<HttpExchange>> begun;
  const auto server = *listen_http({}, [&](HttpRequest, const std::shared_ptr<HttpExchange>& exchange) {
    exchange->start(200, {});
    exchange->send_one(std::make_shared<const std::string>(std::size_t{16} << 20, 'x'));
    exchange->on_drained([&] { drained.set_value(); });
    begun.set_value(exchange);
  });
  Peer peer(server->port());
  peer.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  const auto exchange = base::await(begun);
  EXPECT_GT(exchange->backlog_bytes(), std::size_t{1} << 20);
  const auto ended = std::async(std::launch::async, [&] {
    exchange->wait_until_drained();
    exchange->finish();
  });
  EXPECT_GT(peer.read_until("\r\n0\r\n\r\n").size(), std::size_t{16} << 20);
  ended.wait();
  base::await(drained);
}

TEST(HttpLimits, connections_above_the_limit_are_told_so) {
  const auto server = *listen_http({.connections_max = 2}, echo);
  const std::string request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  {
    Peer one(server->port()), two(server->port());
    one.write(request).read_until(" ");
    two.write(request).read_until(" ");
    const std::string answer = Peer(server->port()).write(request).read_all();
    EXPECT_EQ(first_line(answer), "HTTP/1.1 503 Service Unavailable");
    EXPECT_NE(answer.find("as many connections as it takes"), answer.npos) << answer;
    EXPECT_NE(answer.find("Retry-After: 1"), answer.npos) << answer;
  }
  // The server notices in its own time that there is room again.
  while (first_line(Peer(server->port()).write(request).read_until(" ")) != "HTTP/1.1 200 OK") continue;
}

TEST(HttpLimits, of_all_connections_together) {
  const auto server =
      *listen_http({.request_bytes_max = 1 << 20, .answer_bytes_max = 1 << 20},
                   [](HttpRequest request, const std::shared_ptr<HttpExchange>& exchange) {
                     exchange->respond({200, {}, std::string(request.target == "/big" ? 2 << 20 : 1, 'x')});
                   });
  EXPECT_EQ(
      first_line(Peer(server->port()).write("GET /big HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").read_all()),
      "HTTP/1.1 429 Too Many Requests");
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n";
  EXPECT_EQ(first_line(Peer(server->port()).write(head + std::string(1500000, 'x')).read_all()),
            "HTTP/1.1 429 Too Many Requests");
  EXPECT_EQ(first_line(Peer(server->port()).write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").read_all()),
            "HTTP/1.1 200 OK");
}

TEST(HttpKeys, a_server_that_was_asked_for_tls_does_not_start_without) {
  const ServerKeys good = keys_of(authority());
  for (const ServerKeys& bad :
       {ServerKeys{}, ServerKeys{good.certificate_pem, "", ""}, ServerKeys{"", good.key_pem, good.client_ca_pem},
        ServerKeys{good.certificate_pem, keys_of(authority()).key_pem, ""}})
    EXPECT_FALSE(listen_http({.tls = bad}, echo).ok());
  EXPECT_TRUE(listen_http({.tls = good}, echo).ok());
}

TEST(HttpKeys, new_ones_are_for_new_connections) {
  const KeyPair before = authority(), after = authority();
  const auto server = *listen_http({.tls = keys_of(before)}, echo);
  const auto env = make_real_env("test");
  const auto client_of = [&](const KeyPair& ca) {
    ClientOptions to;
    to.host = "127.0.0.1";
    to.port = server->port();
    to.ca_pem = ca.certificate_pem;
    return *make_http_client(to, env->loop());
  };
  const auto reaches = [](HttpClient& client) {
    std::promise<bool> answer;
    client.send({"GET", "/", {}, "", "", {}}, [&](base::Result<HttpResponse> r) { answer.set_value(r.ok()); });
    return base::await(answer);
  };
  const auto kept = client_of(before);
  EXPECT_TRUE(reaches(*kept));
  ASSERT_TRUE(server->set_keys(keys_of(after)).ok());
  EXPECT_TRUE(reaches(*kept));
  EXPECT_FALSE(reaches(*client_of(before)));
  EXPECT_TRUE(reaches(*client_of(after)));
  EXPECT_FALSE(server->set_keys({}).ok());
  EXPECT_TRUE(reaches(*client_of(after)));
}

TEST(HttpWebSocket, messages_go_out_as_frames_and_pings_are_answered) {
  std::promise<std::shared_ptr<HttpExchange>> begun;
  const auto server = *listen_http({}, [&](HttpRequest request, const std::shared_ptr<HttpExchange>& exchange) {
    EXPECT_TRUE(request.web_socket);
    exchange->start_web_socket({{"Sec-WebSocket-Protocol", "v1"}}, HttpExchange::Messages::kText);
    exchange->send_one(std::make_shared<const std::string>("one"));
    exchange->send({std::make_shared<const std::string>("t"), std::make_shared<const std::string>("wo")});
    begun.set_value(exchange);
  });
  Peer peer(server->port());
  // The key and its answer are those of RFC 6455, 1.3.
  peer.write(
      "GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
  const std::string head = peer.read_until("\x81\x03two");
  EXPECT_EQ(first_line(head), "HTTP/1.1 101 Switching Protocols");
  EXPECT_NE(head.find("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"), head.npos) << head;
  EXPECT_NE(head.find("Sec-WebSocket-Protocol: v1\r\n"), head.npos) << head;
  EXPECT_TRUE(head.ends_with("\r\n\r\n\x81\x03one\x81\x03two")) << head;
  peer.write(std::string_view("\x89\x82\0\0\0\0hi", 8));  // a ping, masked with zeros
  EXPECT_EQ(peer.read_until("hi"), "\x8A\x02hi");
  base::await(begun)->finish();
  EXPECT_EQ(peer.read_until("\x03\xE8").substr(0, 1), "\x88");  // a close that says: normal
}

TEST(HttpWebSocket, who_leaves_before_the_answer_is_missed) {
  std::promise<std::shared_ptr<HttpExchange>> begun;
  std::promise<void> gone;
  const auto server = *listen_http({}, [&](const HttpRequest&, const std::shared_ptr<HttpExchange>& exchange) {
    exchange->on_closed([&gone] { gone.set_value(); });
    begun.set_value(exchange);
  });
  std::shared_ptr<HttpExchange> kept;
  {
    Peer peer(server->port());
    peer.write(
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
    kept = base::await(begun);
  }
  base::await(gone);
}

TEST(HttpWebSocket, a_handshake_that_is_none_is_an_ordinary_request) {
  const auto server = *listen_http({}, [&](HttpRequest request, const std::shared_ptr<HttpExchange>& exchange) {
    exchange->respond({200, {}, request.web_socket ? "web socket" : "plain"});
  });
  const std::string close = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close, Upgrade\r\n";
  EXPECT_TRUE(Peer(server->port()).write(close + "Upgrade: h2c\r\n\r\n").read_all().ends_with("plain"));
  EXPECT_TRUE(Peer(server->port()).write(close + "Upgrade: websocket\r\n\r\n").read_all().ends_with("web socket"));
}

}  // namespace
}  // namespace rt
