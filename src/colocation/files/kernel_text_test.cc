// Texts of the kernel, and texts that are none.
#include "colocation/files/kernel_text.h"

#include <gtest/gtest.h>

namespace colocation {
namespace {

TEST(KernelText, amounts) {
  struct Row {
    const char* text;
    std::int64_t value;  // -1: nothing
  };
  for (const Row& row : {Row{"0", 0},
                         {"12\n", 12},
                         {"max 100000\n", kUnlimited},
                         {"max", kUnlimited},
                         {"-1", kUnlimited},
                         {"50000 100000", 50'000},
                         {"9223372036854775807", kUnlimited},
                         {"9223372036854775808", kUnlimited},
                         {"99999999999999999999999", kUnlimited},
                         {"9223372036854771712", 9223372036854771712},
                         {"", -1},
                         {"\n", -1},
                         {"-2", -1},
                         {"-9223372036854775808", -1},
                         {"1.5", -1},
                         {"0x10", -1},
                         {"+1", -1},
                         {"maximum", -1},
                         {"12a", -1}})
    EXPECT_EQ(parse_amount(row.text).value_or(-1), row.value) << row.text;
}

TEST(KernelText, bytes_of_all_disks_are_added_up) {
  struct Row {
    const char* text;
    std::optional<std::int64_t> bytes;
  };
  for (const Row& row : {Row{"8:0 rbytes=100 wbytes=20 rios=1 wios=2 dbytes=5 dios=1\n8:16 rbytes=3 wbytes=0\n", 123},
                         {"", std::nullopt},
                         {"8:0 \n", std::nullopt},
                         {"8:0 rbytes=-1 wbytes=x", std::nullopt},
                         {"8:0 rbytes=99999999999999999999 wbytes=1", kUnlimited}})
    EXPECT_EQ(io_bytes(row.text), row.bytes) << row.text;
}

TEST(KernelText, lines_of_a_stat_file) {
  EXPECT_EQ(stat_value("usage_usec 12\nuser_usec 3", "usage_usec"), 12);
  EXPECT_EQ(stat_value("usage_usec_more 12", "usage_usec"), std::nullopt);
  EXPECT_EQ(stat_value("usage_usec", "usage_usec"), std::nullopt);
  EXPECT_EQ(stat_value("usage_usec -12", "usage_usec"), std::nullopt);
  EXPECT_EQ(stat_value("MemTotal:       1024 kB", "MemTotal"), 1024);
  EXPECT_EQ(stat_value("", "MemTotal"), std::nullopt);
}

TEST(KernelText, busy_time_is_all_but_idle_time_and_waits) {
  EXPECT_EQ(busy_ticks("cpu  10 20 30 1000 500 4 5 6 77 88\ncpu0 1 1 1 1\n"), 10 + 20 + 30 + 4 + 5 + 6);
  EXPECT_EQ(busy_ticks("cpu 1 2"), std::nullopt);
  EXPECT_EQ(busy_ticks("cpu 1 2 -3 4"), std::nullopt);
  EXPECT_EQ(busy_ticks(""), std::nullopt);
  EXPECT_EQ(busy_ticks("cpu 9223372036854775807 9223372036854775807 1 1"), kUnlimited);
}

TEST(KernelText, memory_of_the_machine) {
  const auto memory = machine_memory("MemTotal: 100 kB\nMemAvailable: 40 kB\n");
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->total_bytes, 102'400);
  EXPECT_EQ(memory->available_bytes, 40'960);
  EXPECT_EQ(machine_memory("MemTotal: 10 kB\nMemAvailable: 40 kB\n")->available_bytes, 10'240);
  EXPECT_FALSE(machine_memory("MemTotal: 0 kB\nMemAvailable: 0 kB\n"));
  EXPECT_FALSE(machine_memory("MemTotal: 100 kB\n"));
}

TEST(KernelText, memory_of_groups) {
  EXPECT_EQ(group_memory("cache 9\ntotal_cache 1\ntotal_rss 2\ntotal_swap 4\n"), 7);
  // kernel has slabs, stacks and page tables in it.
  EXPECT_EQ(group_memory("anon 1\nfile 2\nkernel 4\nkernel_stack 100\nslab 100\nsock 8\nshmem 100\n"), 15);
  EXPECT_EQ(group_memory("nothing 1"), std::nullopt);
  EXPECT_EQ(group_memory("anon -1\nfile 18446744073709551616"), kUnlimited);
}

TEST(KernelText, stalls) {
  const auto stall = parse_pressure("some avg10=1.00 avg60=2.00 avg300=0.00 total=77\nfull avg10=0.00 total=5\n");
  ASSERT_TRUE(stall);
  EXPECT_EQ(stall->some_us, 77);
  EXPECT_EQ(stall->full_us, 5);
  EXPECT_EQ(parse_pressure("some total=3")->full_us, 0);
  EXPECT_FALSE(parse_pressure("some avg10=1.00"));
  EXPECT_FALSE(parse_pressure("some total=-1"));
  EXPECT_FALSE(parse_pressure(""));
}

TEST(KernelText, speeds_of_interfaces) {
  EXPECT_EQ(counter_value("123\n"), 123);
  EXPECT_EQ(counter_value("9223372036854775807\n"), kUnlimited);
  EXPECT_EQ(counter_value("9223372036854775808\n"), kUnlimited);
  EXPECT_EQ(counter_value("18446744073709551616"), kUnlimited);
  for (const char* text : {"", "\n", "max", "-1", "1e3", "0x10", "12a", "\0"})
    EXPECT_FALSE(counter_value(text)) << text;
}

TEST(KernelText, what_interfaces_have_received) {
  const auto all = received_bytes(
      "Inter-|   Receive                                                |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets\n"
      "    lo: 1264       8    0    0    0     0          0         0     1264       8\n"
      "veth1:18446744073709551615 0\n veth2:-1 3\n veth3:max\n veth4:\nveth5\n../x: 7\n: 8\n veth6: "
      "9223372036854775808\n");
  EXPECT_EQ(all.size(), 3u);
  EXPECT_EQ(all.at("lo"), 1264);
  EXPECT_EQ(all.at("veth1"), kUnlimited);
  EXPECT_EQ(all.at("veth6"), kUnlimited);
  EXPECT_TRUE(received_bytes("").empty());
}

TEST(KernelText, the_interface_of_the_default_route) {
  const std::string head = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";
  EXPECT_EQ(default_route_interface(head + "docker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n"
                                           "wlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n"
                                           "eth0\t00000000\t010010AC\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"),
            "eth0");
  const std::string zeros(32, '0');
  EXPECT_EQ(default_route_interface(
                zeros + " 00 " + zeros + " 00 " + zeros + " ffffffff 00000001 00000000 00200200 lo\n" + zeros + " 00 " +
                zeros + " 00 fe800000000000000000000000000001 00000400 00000001 " + "00000000 00000003     eth1\n"),
            "eth1");
  for (const std::string& text : {std::string(), head, head + "../x\t00000000\t0\t0003\t0\t0\t1\t00000000\n",
                                  head + "eth0\t00000000\t0\t0003\t0\t0\t-1\t00000000\n"})
    EXPECT_EQ(default_route_interface(text), "") << text;
}

TEST(KernelText, names_of_interfaces) {
  for (const char* name : {"eth0", "veth1a2b@if3", "cali123", "bond0.100"})
    EXPECT_TRUE(is_interface_name(name)) << name;
  for (const char* name : {"", ".", "..", "a/b", "a b", "a:1", "sixteen-letters!"})
    EXPECT_FALSE(is_interface_name(name)) << name;
}

TEST(KernelText, drivers_that_a_kubelet_names) {
  EXPECT_EQ(named_driver("kind: KubeletConfiguration\ncgroupDriver: systemd\n"), "systemd");
  EXPECT_EQ(named_driver("cgroupDriver: \"cgroupfs\""), "cgroupfs");
  EXPECT_EQ(named_driver("KUBELET_KUBEADM_ARGS=\"--cgroup-driver=systemd --v=2\""), "systemd");
  EXPECT_EQ(named_driver(std::string_view("kubelet\0--cgroup-driver\0cgroupfs\0", 33)), "cgroupfs");
  EXPECT_EQ(named_driver("cgroupDriver: other"), "");
  EXPECT_EQ(named_driver("kubelet --cgroup-driver"), "");
  EXPECT_EQ(config_path(std::string_view("kubelet\0--config=/etc/k.yaml\0", 30)), "/etc/k.yaml");
  EXPECT_EQ(cpu_manager_policy(R"({"policyName":"static","defaultCpuSet":""})"), "static");
  EXPECT_EQ(cpu_manager_policy("{"), "");
}

}  // namespace
}  // namespace colocation
