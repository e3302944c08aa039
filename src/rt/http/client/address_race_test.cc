// A server with several addresses: what those cost that do not answer, and what is said when none does.
#include "rt/http/client/address_race.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "rt/env.h"
#include "rt/http/client/client_socket.h"
#include "rt/http/pass_on_for_tests.h"

namespace rt {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;

Tcp::endpoint here(std::uint16_t port) { return {asio::ip::address_v4::loopback(), port}; }

class Listening {
 public:
  Listening() : listener_(testing::listen_on_loopback(port_)) {}
  ~Listening() { ::close(listener_); }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

  Tcp::endpoint address() const { return here(port_); }
  int descriptor() const { return listener_; }

 private:
  std::uint16_t port_ = 0;
  int listener_;
};

// One that drops packets: its queue has room for one connection, and nobody takes that.
class Silent : public Listening {
 public:
  Silent() : filler_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    EXPECT_EQ(::listen(descriptor(), 0), 0);
    const sockaddr_in at = testing::loopback(address().port());
    EXPECT_EQ(::connect(filler_, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
    pollfd queued{descriptor(), POLLIN, 0};
    EXPECT_EQ(::poll(&queued, 1, -1), 1);
  }
  ~Silent() { ::close(filler_); }
  // From here on it takes a connection.
  void recover() const { ::close(::accept(descriptor(), nullptr, nullptr)); }

 private:
  int filler_;
};

Tcp::endpoint refusing() { return Listening().address(); }

class AddressRaces : public ::testing::Test {
 protected:
  ~AddressRaces() override { env->stop(); }

  // A connection to one of them, within the time that a request has.
  std::string connect(const std::vector<Tcp::endpoint>& addresses) {
    start(addresses);
    shared->context.run();
    return outcome;
  }
  void start(const std::vector<Tcp::endpoint>& addresses) {
    limit.expires_after(std::chrono::nanoseconds(shared->options.timeout.ns));
    limit.async_wait([this](boost::system::error_code error) {
      if (!error) socket.close();
    });
    socket.connect_to(addresses, false, [this](const base::Status& status) {
      limit.cancel();
      outcome += status.ok() ? "connected" : status.error().message;
    });
  }
  Tcp::endpoint peer() {
    Tcp::endpoint at;
    socket.with_stream([&at](auto& stream) {
      boost::system::error_code error;
      at = stream.lowest_layer().remote_endpoint(error);
    });
    return at;
  }

  std::unique_ptr<RealEnv> env = make_real_env("test");
  const std::shared_ptr<ClientShared> shared =
      std::make_shared<ClientShared>(ClientOptions{.host = "server", .port = 1, .tls = false}, env->loop());
  ClientSocket socket{shared};
  asio::steady_timer limit{shared->context};
  std::string outcome;
};

TEST_F(AddressRaces, the_last_of_many_is_reached) {
  const Listening last;
  std::vector<Tcp::endpoint> addresses(20, refusing());
  addresses.push_back(last.address());
  EXPECT_EQ(connect(addresses), "connected");
}

TEST_F(AddressRaces, one_that_drops_packets_does_not_cost_the_whole_time) {
  const Silent first;
  const Silent second;
  const Listening third;
  EXPECT_EQ(connect({first.address(), second.address(), third.address()}), "connected");
  EXPECT_EQ(peer(), third.address());
}

TEST_F(AddressRaces, one_that_refuses_is_followed_by_the_next) {
  const Listening last;
  EXPECT_EQ(connect({refusing(), refusing(), last.address()}), "connected");
  EXPECT_EQ(peer(), last.address());
}

TEST_F(AddressRaces, one_that_is_late_may_still_win) {
  const Silent first;
  const Silent second;
  start({first.address(), second.address()});
  shared->context.poll();
  first.recover();  // its packet is sent again after a second
  shared->context.run();
  EXPECT_EQ(outcome, "connected");
  EXPECT_EQ(peer(), first.address());
}

TEST_F(AddressRaces, the_first_failure_is_told_with_its_address) {
  const Tcp::endpoint other(asio::ip::make_address("127.0.0.2"), 1);
  EXPECT_EQ(connect({other, here(1), here(2)}), "server:1: cannot connect: Connection refused (127.0.0.2)");
}

TEST_F(AddressRaces, who_leaves_ends_all_attempts) {
  const Silent first;
  const Listening second;
  start({first.address(), refusing(), second.address()});
  shared->context.poll();
  socket.close();
  shared->context.run();
  EXPECT_EQ(outcome, "server:1: cannot connect: Operation canceled (127.0.0.1)");
  pollfd queued{second.descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&queued, 1, 0), 0);
}

TEST_F(AddressRaces, who_leaves_as_one_answers_has_no_connection) {
  const Listening first;
  start({first.address()});
  pollfd queued{first.descriptor(), POLLIN, 0};
  ASSERT_EQ(::poll(&queued, 1, -1), 1);  // it has answered, and nobody has heard yet
  socket.close();
  shared->context.run();
  EXPECT_EQ(outcome, "server:1: cannot connect: Operation canceled (127.0.0.1)");
}

TEST(AddressOrder, families_take_turns) {
  const struct {
    std::vector<std::string> found, tried;
  } rows[] = {
      {{"10.0.0.1"}, {"10.0.0.1"}},
      {{"::1", "::2", "10.0.0.1", "10.0.0.2"}, {"::1", "10.0.0.1", "::2", "10.0.0.2"}},
      {{"10.0.0.1", "10.0.0.2", "10.0.0.3", "::1"}, {"10.0.0.1", "::1", "10.0.0.2", "10.0.0.3"}},
      {{"::1", "::2", "::3", "::4", "::5", "::6", "::7", "::8", "::9", "10.0.0.1"},
       {"::1", "10.0.0.1", "::2", "::3", "::4", "::5", "::6", "::7", "::8", "::9"}},
      {{}, {}},
  };
  for (const auto& row : rows) {
    std::vector<Tcp::endpoint> found;
    for (const std::string& one : row.found) found.emplace_back(asio::ip::make_address(one), 443);
    std::vector<std::string> tried;
    for (const Tcp::endpoint& one : in_turns(found)) tried.push_back(one.address().to_string());
    EXPECT_EQ(tried, row.tried);
  }
}

}  // namespace
}  // namespace rt
