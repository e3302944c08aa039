// Ports as channels of a WebSocket, as a kubelet has them.
#include <gtest/gtest.h>

#include "apiserver/http/pods/remote_command.h"
#include "apiserver/http/recording_exchange_for_tests.h"
#include "client/fake_env_for_tests.h"

namespace apiserver {
namespace {

struct Pipe final : api::PodStream {
  bool write(std::string bytes) override {
    sent_text += bytes;
    return has_room;
  }
  void close_input() override {}
  void resize(int, int) override {}
  void end() override { ended = true; }

  std::string sent_text;
  bool has_room = true, ended = false;
};

struct World {
  client::testing::FakeEnv env;
  std::shared_ptr<RecordingExchange> exchange = std::make_shared<RecordingExchange>();
  std::vector<int> ports;
  std::vector<std::shared_ptr<Pipe>> pipes;
  std::vector<api::PodStreamEvents> events;

  World(const char* protocol, const char* query) {
    const auto wanted = wanted_ports(rt::parse_target(std::string("/?") + query));
    EXPECT_TRUE(wanted.ok()) << query;
    if (!wanted.ok()) return;
    serve_port_channels(env, exchange, protocol, {*wanted, "p_ns, uid u"},
                        [this](int port, api::PodStreamEvents callbacks) -> api::PodStreams::Opened {
                          ports.push_back(port);
                          events.push_back(std::move(callbacks));
                          if (port == 9) return base::make_error(base::Code::kTooManyRequests, "too many");
                          pipes.push_back(std::make_shared<Pipe>());
                          return std::shared_ptr<api::PodStream>(pipes.back());
                        });
    settle();
  }
  // The exchange and what it tells hold each other, until its peer has gone.
  ~World() { exchange->on_peer_bytes = {}, exchange->closed = {}; }
  void settle() { env.run_for(base::milliseconds(1)); }
  void on_peer_bytes(std::string message) {
    EXPECT_FALSE(exchange->on_peer_bytes(std::move(message))) << "one at a time";
    settle();
  }
  std::string header() const { return std::string(rt::header(exchange->headers, "Sec-WebSocket-Protocol")); }
};

std::string bytes(std::initializer_list<int> all) {
  std::string out;
  for (const int one : all) out.push_back(static_cast<char>(one));
  return out;
}

TEST(PortChannels, begin_with_the_port_on_both_channels) {
  for (const char* protocol : {"v4.channel.k8s.io", ""})
    for (const char* query : {"ports=8080,80", "ports=8080&ports=80"}) {
      World world(protocol, query);
      EXPECT_EQ(world.header(), protocol);
      EXPECT_EQ(world.exchange->messages, rt::HttpExchange::Messages::kBytes);
      EXPECT_EQ(world.exchange->sent,
                (std::vector{bytes({0, 0x90, 0x1f}), bytes({1, 0x90, 0x1f}), bytes({2, 80, 0}), bytes({3, 80, 0})}));
      EXPECT_EQ(world.ports, (std::vector{8080, 80}));
    }
  World text("v4.base64.channel.k8s.io", "ports=80");
  EXPECT_EQ(text.exchange->messages, rt::HttpExchange::Messages::kText);
  EXPECT_EQ(text.exchange->sent, (std::vector<std::string>{"0UAA=", "1UAA="}));
}

TEST(PortChannels, carry_bytes_of_each_port) {
  World world("v4.channel.k8s.io", "ports=1,2");
  world.exchange->sent.clear();
  world.on_peer_bytes(bytes({2, 'h', 'i'}));
  world.on_peer_bytes(bytes({0, 'y', 0xff}));
  EXPECT_EQ(world.pipes[0]->sent_text, bytes({'y', 0xff}));
  EXPECT_EQ(world.pipes[1]->sent_text, "hi");
  world.events[1].on_output(1, "answer");
  EXPECT_EQ(world.exchange->sent, std::vector<std::string>{bytes({2}) + "answer"});
  // Odd messages of a client do no harm.
  for (const std::string& odd : {std::string(), bytes({0}), bytes({1, 'x'}), bytes({4, 'x'}), bytes({255, 0})})
    world.on_peer_bytes(odd);
  EXPECT_EQ(world.exchange->resumed, 7);
  EXPECT_EQ(world.pipes[0]->sent_text + world.pipes[1]->sent_text, bytes({'y', 0xff}) + "hi");

  World text("v4.base64.channel.k8s.io", "ports=80");
  text.exchange->sent.clear();
  text.on_peer_bytes("0aGk=");
  text.on_peer_bytes("0!");
  EXPECT_EQ(text.pipes[0]->sent_text, "hi");
  text.events[0].on_output(1, bytes({0, 0xff}));
  EXPECT_EQ(text.exchange->sent, std::vector<std::string>{"0AP8="});
}

TEST(PortChannels, read_on_when_the_port_has_room) {
  World world("v4.channel.k8s.io", "ports=1,2");
  world.pipes[0]->has_room = false;
  world.on_peer_bytes(bytes({0, 'a'}));
  EXPECT_EQ(world.exchange->resumed, 0);
  world.events[1].on_room();
  world.settle();
  EXPECT_EQ(world.exchange->resumed, 0) << "that is another's";
  world.events[0].on_room();
  world.settle();
  EXPECT_EQ(world.exchange->resumed, 1);
  world.on_peer_bytes(bytes({0, 'b'}));
  world.events[0].on_end(0);
  world.settle();
  EXPECT_EQ(world.exchange->resumed, 2) << "the other port goes on";
  EXPECT_FALSE(world.exchange->finished);
  world.events[1].on_end(0);
  world.settle();
  EXPECT_TRUE(world.exchange->finished);
}

TEST(PortChannels, say_why_a_port_fails) {
  World world("v4.channel.k8s.io", "ports=9,1");
  EXPECT_EQ(world.exchange->sent.back(), bytes({1}) + "error forwarding port 9 to pod p_ns, uid u: too many");
  world.events[1].on_end(base::make_error(base::Code::kUnavailable, "connection refused"));
  world.settle();
  EXPECT_EQ(world.exchange->sent.back(), bytes({3}) + "error forwarding port 1 to pod p_ns, uid u: connection refused");
  EXPECT_TRUE(world.exchange->finished);
}

TEST(PortChannels, end_with_their_client) {
  World world("v4.channel.k8s.io", "ports=1,2");
  world.exchange->closed();
  world.settle();
  EXPECT_TRUE(world.pipes[0]->ended && world.pipes[1]->ended);
}

TEST(PortChannels, want_ports) {
  std::string many = "ports=1";
  for (int port = 2; port <= 33; ++port) many += "," + std::to_string(port);
  for (const char* query : {"", "port=80", "ports=", "ports=0", "ports=65536", "ports=80,", "ports=http", "ports=-1",
                            "ports=80&ports=x", many.c_str()})
    EXPECT_FALSE(wanted_ports(rt::parse_target(std::string("/?") + query)).ok()) << query;
}

}  // namespace
}  // namespace apiserver
