// The kernel itself, in a network namespace of the test's own: interfaces of pods, rules, and what they let through.
#include "colocation/machine/pod_network.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/if_link.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "colocation/machine/network_reading.h"

namespace colocation {
namespace {

constexpr const char* kTable = "volcano_colocation_test";
constexpr std::size_t kPacketBytes = 1000;

// Moves the test into a network namespace of its own, and back.
class OwnNetwork {
 public:
  OwnNetwork() : before_(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)) {
    works_ = before_ >= 0 && ::unshare(CLONE_NEWNET) == 0 && std::system("ip link set lo up 2> /dev/null") == 0;
  }
  ~OwnNetwork() {
    if (before_ < 0) return;
    if (::setns(before_, CLONE_NEWNET) != 0) std::abort();
    ::close(before_);
  }
  OwnNetwork(const OwnNetwork&) = delete;
  OwnNetwork& operator=(const OwnNetwork&) = delete;
  bool works() const { return works_; }

 private:
  int before_;
  bool works_ = false;
};

void send_packets(int count) {
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(9);
  to.sin_addr.s_addr = htonl(0x0a630001);  // 10.99.0.1
  const std::string packet(kPacketBytes, 'x');
  for (int at = 0; at < count; ++at)
    (void)!::sendto(socket, packet.data(), packet.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
  ::close(socket);
}

// A process in a namespace of its own, as those of a pod. It does one thing for each byte that it gets.
class Pod {
 public:
  Pod() {
    if (::pipe2(orders_, O_CLOEXEC) != 0 || ::pipe2(answers_, O_CLOEXEC) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) obey();
    (void)wait();
  }
  ~Pod() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    for (const int fd : {orders_[0], orders_[1], answers_[0], answers_[1]}) ::close(fd);
  }
  Pod(const Pod&) = delete;
  Pod& operator=(const Pod&) = delete;
  int pid() const { return pid_; }
  bool order(char what) { return ::write(orders_[1], &what, 1) == 1 && wait() == what; }

 private:
  [[noreturn]] void obey() {
    ::close(orders_[1]);
    ::close(answers_[0]);
    char order = ::unshare(CLONE_NEWNET) == 0 ? 'r' : 'f';
    while (::write(answers_[1], &order, 1) == 1 && ::read(orders_[0], &order, 1) == 1) {
      if (order == 'u' && std::system("ip addr add 10.99.0.2/24 dev inside && ip link set inside up") != 0) order = 'f';
      if (order == 's') send_packets(3000);
    }
    ::_exit(0);
  }
  char wait() {
    char answer = 0;
    return ::read(answers_[0], &answer, 1) == 1 ? answer : 'f';
  }
  int orders_[2], answers_[2];
  pid_t pid_ = 0;
};

bool run(const std::string& command) { return std::system((command + " 2> /dev/null").c_str()) == 0; }

// One pod behind the interface "outside", with an address.
bool connect(const Pod& pod) {
  return run("ip link add outside type veth peer name inside netns /proc/" + std::to_string(pod.pid()) +
             "/ns/net && ip addr add 10.99.0.1/24 dev outside && ip link set outside up");
}

#define NEEDS_NETWORK(own) \
  if (!(own).works()) GTEST_SKIP() << "a network namespace needs root and the program ip"

// As another program finds it: what `nft` can set, ours must set, too.
bool kernel_has_ingress_rules() {
  return run(
      "nft 'add table netdev probe; add chain netdev probe c { type filter hook ingress device lo priority 0; }' && "
      "nft delete table netdev probe");
}
#define NEEDS_RULES(own) \
  NEEDS_NETWORK(own);    \
  if (!kernel_has_ingress_rules()) GTEST_SKIP() << "nft cannot set rules at the ingress of an interface here"

TEST(PodNetwork, finds_whose_the_interfaces_are) {
  const OwnNetwork own;
  NEEDS_NETWORK(own);
  const Pod pod, other;
  ASSERT_TRUE(connect(pod));
  ASSERT_TRUE(run("ip link add near type veth peer name nearer"));  // both ends are here
  const auto network = make_kernel_network();
  const auto all = network->interfaces();
  ASSERT_TRUE(all.ok()) << all.error().message;
  ASSERT_EQ(all->size(), 1u);
  EXPECT_EQ(all->front().name, "outside");
  EXPECT_EQ(network->namespace_of(pod.pid()), all->front().peer);
  EXPECT_FALSE(network->namespace_of(other.pid()));
  EXPECT_FALSE(network->namespace_of(::getpid()));
  EXPECT_FALSE(network->namespace_of(0));
  EXPECT_FALSE(network->namespace_of(-1));
}

TEST(PodNetwork, rules_drop_what_is_above_the_rate_and_leave_nothing) {
  const OwnNetwork own;
  NEEDS_RULES(own);
  Pod pod;
  ASSERT_TRUE(connect(pod));
  ASSERT_TRUE(pod.order('u'));
  const auto network = make_kernel_network();
  EXPECT_EQ(network->counts(kTable).error().code, base::Code::kNotFound);
  const base::Status set = network->set(kTable, {{"outside"}, 100'000});
  ASSERT_TRUE(set.ok()) << set.error().message;
  ASSERT_TRUE(pod.order('s'));
  const auto held = network->counts(kTable);
  ASSERT_TRUE(held.ok()) << held.error().message;
  EXPECT_GE(held->seen_bytes, 3'000'000);
  EXPECT_GE(held->dropped_bytes, 1'500'000);
  EXPECT_GE(held->seen_bytes - held->dropped_bytes, 200'000);
  // Another rate, and one that the kernel cannot count: both replace the table.
  for (const std::int64_t rate :
       {std::int64_t{17'000'000'000}, kPacketRateMax, std::int64_t{9'000'000'000'000'000'000}}) {
    const base::Status again = network->set(kTable, {{"outside"}, rate});
    ASSERT_TRUE(again.ok()) << again.error().message;
    ASSERT_TRUE(pod.order('s'));
    const auto free = network->counts(kTable);
    ASSERT_TRUE(free.ok());
    EXPECT_GE(free->seen_bytes, 3'000'000);
    EXPECT_EQ(free->dropped_bytes, 0);
  }
  ASSERT_TRUE(network->set(kTable, {}).ok());
  EXPECT_EQ(network->counts(kTable).error().code, base::Code::kNotFound);
  EXPECT_TRUE(network->set(kTable, {}).ok());
}

TEST(PodNetwork, interfaces_that_are_gone_are_left_out) {
  const OwnNetwork own;
  NEEDS_RULES(own);
  const Pod pod;
  ASSERT_TRUE(connect(pod));
  const auto network = make_kernel_network();
  const auto set = set_packet_rules(*network, kTable, {{"gone", "outside"}, 100'000});
  ASSERT_TRUE(set.ok()) << set.error().message;
  EXPECT_TRUE(std::ranges::find(set->interfaces, "outside") != set->interfaces.end());
  // An interface that goes with its pod takes its rules along, or they wait for nothing.
  ASSERT_TRUE(run("ip link del outside"));
  EXPECT_TRUE(network->set(kTable, {}).ok());
}

TEST(PodNetwork, hundreds_of_interfaces_are_one_transaction) {
  const OwnNetwork own;
  NEEDS_RULES(own);
  const Pod pod;
  ASSERT_TRUE(connect(pod));
  const auto network = make_kernel_network();
  std::string lines;
  PacketRules many{{}, 5'000};
  for (int at = 0; at < 150; ++at) {
    lines += "link add many" + std::to_string(at) + " type veth peer name more" + std::to_string(at) + "\n";
    many.interfaces.push_back("many" + std::to_string(at));
    many.interfaces.push_back("more" + std::to_string(at));
  }
  ASSERT_TRUE(run("echo '" + lines + "' | ip -batch -"));
  const base::Status set = network->set(kTable, many);
  EXPECT_TRUE(set.ok()) << set.error().message;
  EXPECT_TRUE(network->set(kTable, {}).ok());
}

TEST(PodNetwork, tables_of_others_stay) {
  const OwnNetwork own;
  NEEDS_RULES(own);
  const Pod pod;
  ASSERT_TRUE(connect(pod));
  const auto network = make_kernel_network();
  const base::Status set = network->set("another", {{"outside"}, 100'000});
  ASSERT_TRUE(set.ok()) << set.error().message;
  EXPECT_TRUE(network->set(kTable, {{"outside"}, 5'000}).ok());
  EXPECT_TRUE(network->set(kTable, {}).ok());
  EXPECT_TRUE(network->counts("another").ok());
}

TEST(Netlink, attributes_that_make_no_sense_end_the_list) {
  const auto bytes = [](std::initializer_list<int> all) {
    std::string text;
    for (const int one : all) text += static_cast<char>(one);
    return text;
  };
  EXPECT_TRUE(netlink_attributes("").empty());
  EXPECT_TRUE(netlink_attributes(bytes({8, 0, 1})).empty());
  EXPECT_TRUE(netlink_attributes(bytes({255, 255, 1, 0, 1, 2, 3, 4})).empty());
  EXPECT_TRUE(netlink_attributes(bytes({0, 0, 1, 0, 1, 2, 3, 4})).empty());
  EXPECT_TRUE(netlink_attributes(bytes({3, 0, 1, 0})).empty());
  const std::string two = bytes({5, 0, 1, 0, 'a', 0, 0, 0, 8, 0, 2, 0, 7, 0, 0, 0});
  EXPECT_EQ(netlink_text(netlink_attributes(two), 1), "a");
  EXPECT_EQ(netlink_native(netlink_attributes(two), 2), 7u);
  EXPECT_EQ(netlink_native(netlink_attributes(two), 1), 0u);
  EXPECT_EQ(netlink_number64(netlink_attributes(two), 2), 0u);
  EXPECT_EQ(netlink_text(netlink_attributes(two), 9), "");
}

TEST(PacketRules, counts_are_those_of_the_own_table_and_never_negative) {
  EXPECT_FALSE(packet_counts(kTable, {}));
  EXPECT_FALSE(packet_counts(kTable, {{0x0a12, "short"}, {7, std::string(64, '\xff')}}));
  EXPECT_EQ(packet_rules_text({}), "none");
  EXPECT_EQ(packet_rules_text({{"a", "b"}, 5}), "a b: 5 bytes/s");
}

}  // namespace
}  // namespace colocation
