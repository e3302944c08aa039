// The machine's side where it is pure: control groups, OCI bundles, name queries, log lines, volumes on disk.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <set>

#include "base/format.h"
#include "node/machine/cri_line.h"
#include "node/os/cgroups.h"
#include "node/os/command.h"
#include "node/os/images/image_tree.h"
#include "node/os/network/dns.h"
#include "node/os/network/left_bridges.h"
#include "node/os/pod_folders.h"
#include "node/os/proc.h"
#include "node/os/runc/oci_bundle.h"
#include "node/os/streams/cri_log.h"
#include "node/os/user_namespace.h"
#include "node/os/volumes/volume_folders.h"
#include "rt/files/files.h"

namespace node {
namespace {

using api::Json;

const char* kV1Mounts =
    "30 29 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
    "31 29 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
const char* kHybridMounts =
    "30 29 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
    "31 29 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "32 29 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
const char* kV2Mounts = "30 29 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";

std::string text_of(const CgroupPlan& plan) {
  std::string text;
  for (const std::string& folder : plan.folders) text += "mkdir " + folder + "\n";
  for (const FileWrite& file : plan.files) text += file.path + " <- " + file.content + "\n";
  return text;
}

TEST(Cgroups, PlanOfV1AndHybridWritesTheControllersFiles) {
  const std::string expected =
      "mkdir /sys/fs/cgroup/cpu/v/podu\n"
      "mkdir /sys/fs/cgroup/memory/v/podu\n"
      "/sys/fs/cgroup/cpu/v/podu/cpu.shares <- 256\n"
      "/sys/fs/cgroup/cpu/v/podu/cpu.cfs_period_us <- 100000\n"
      "/sys/fs/cgroup/cpu/v/podu/cpu.cfs_quota_us <- 50000\n"
      "/sys/fs/cgroup/memory/v/podu/memory.limit_in_bytes <- 1048576\n";
  for (const char* mounts : {kV1Mounts, kHybridMounts}) {
    const CgroupLayout layout = cgroup_layout(mounts);
    EXPECT_FALSE(layout.unified());
    EXPECT_EQ(text_of(plan_pod_cgroup(layout, "/v/podu", {250, 500, 1 << 20})), expected);
  }
}

TEST(Cgroups, PlanOfV2EnablesControllersOnTheWay) {
  const CgroupLayout layout = cgroup_layout(kV2Mounts);
  EXPECT_TRUE(layout.unified());
  EXPECT_EQ(text_of(plan_pod_cgroup(layout, "/v/podu", {250, 500, 1 << 20})),
            "mkdir /sys/fs/cgroup/v\n"
            "mkdir /sys/fs/cgroup/v/podu\n"
            "/sys/fs/cgroup/cgroup.subtree_control <- +cpu +memory +pids\n"
            "/sys/fs/cgroup/v/cgroup.subtree_control <- +cpu +memory +pids\n"
            "/sys/fs/cgroup/v/podu/cgroup.subtree_control <- +cpu +memory +pids\n"
            "/sys/fs/cgroup/v/podu/cpu.weight <- 10\n"
            "/sys/fs/cgroup/v/podu/cpu.max <- 50000 100000\n"
            "/sys/fs/cgroup/v/podu/memory.swap.max <- 0\n"
            "/sys/fs/cgroup/v/podu/memory.max <- 1048576\n"
            "/sys/fs/cgroup/v/podu/pids.max <- 4096\n");
}

TEST(Cgroups, HugePagesAreLimitedWhereThereIsAController) {
  EXPECT_FALSE(cgroup_layout(kV1Mounts).has_hugetlb());
  EXPECT_TRUE(
      cgroup_layout("34 26 0:30 / /sys/fs/cgroup/hugetlb rw shared:9 - cgroup cgroup rw,hugetlb\n").has_hugetlb());
  CgroupLayout layout = cgroup_layout(kV2Mounts);
  layout.v2_controllers = "cpu memory";
  EXPECT_FALSE(layout.has_hugetlb());
  EXPECT_FALSE(layout.has_v2_io());
  layout.v2_controllers = "cpuset cpu io memory";
  EXPECT_NE(text_of(plan_pod_cgroup(layout, "/p", {})).find("/p/cgroup.subtree_control <- +cpu +memory +pids +io\n"),
            std::string::npos);
  layout.v2_controllers = "cpu hugetlb memory";
  EXPECT_TRUE(layout.has_hugetlb());
  EXPECT_NE(
      text_of(plan_pod_cgroup(layout, "/p", {})).find("/p/cgroup.subtree_control <- +cpu +memory +pids +hugetlb\n"),
      std::string::npos);
}

TEST(Cgroups, NoLimitsWriteNoLimits) {
  EXPECT_EQ(text_of(plan_pod_cgroup(cgroup_layout(kV1Mounts), "/p", {})),
            "mkdir /sys/fs/cgroup/cpu/p\nmkdir /sys/fs/cgroup/memory/p\n/sys/fs/cgroup/cpu/p/cpu.shares <- 2\n");
}

struct WordsCase {
  std::vector<std::string> command, arguments;
  std::string words;
};
TEST(OciBundle, CommandAndArgumentsReplaceTheImages) {
  for (const WordsCase& test :
       {WordsCase{{}, {}, "[\"entry\",\"cmd\"]"}, WordsCase{{"mine"}, {}, "[\"mine\"]"},
        WordsCase{{}, {"arg"}, "[\"entry\",\"arg\"]"}, WordsCase{{"mine"}, {"arg"}, "[\"mine\",\"arg\"]"}}) {
    ContainerSpec spec;
    spec.command = test.command;
    spec.arguments = test.arguments;
    BundleInput input;
    input.spec = &spec;
    input.image.entrypoint = {"entry"};
    input.image.command = {"cmd"};
    const auto bundle = make_bundle(input);
    ASSERT_TRUE(bundle.ok());
    EXPECT_EQ((*bundle)["process"]["args"].dump(), test.words);
  }
}

TEST(OciBundle, AContainerWithNothingToRunIsAnError) {
  ContainerSpec spec;
  BundleInput input;
  input.spec = &spec;
  EXPECT_FALSE(make_bundle(input).ok());
}

TEST(OciBundle, WritesLimitsNamespacesAndEnvironment) {
  ContainerSpec spec;
  spec.command = {"x"};
  spec.cpu_request_milli = 250;
  spec.cpu_limit_milli = 500;
  spec.memory_limit_bytes = 1 << 20;
  spec.environment = {{"PATH", "/bin"}, {"A", "b=c"}};
  BundleInput input;
  input.spec = &spec;
  input.hostname = "h";
  input.network_namespace = "/n";
  input.image.environment = {"A=old", "I=1"};
  const Json bundle = *make_bundle(input);
  const Json& resources = bundle["linux"]["resources"];
  EXPECT_EQ(resources["cpu"].dump(), "{\"shares\":256,\"period\":100000,\"quota\":50000}");
  EXPECT_EQ(resources["memory"]["limit"].as_int(), 1 << 20);
  EXPECT_FALSE(resources.has("hugepageLimits"));
  spec.huge_page_limits = {{"1GB", 0}, {"2MB", 4 << 20}};
  EXPECT_FALSE((*make_bundle(input))["linux"]["resources"].has("hugepageLimits"));
  input.limits_huge_pages = true;
  EXPECT_EQ((*make_bundle(input))["linux"]["resources"]["hugepageLimits"].dump(),
            R"([{"pageSize":"1GB","limit":0},{"pageSize":"2MB","limit":4194304}])");
  EXPECT_EQ(bundle["process"]["env"].dump(), "[\"PATH=/bin\",\"HOSTNAME=h\",\"HOME=/\",\"A=b=c\",\"I=1\"]");
  EXPECT_NE(bundle["linux"]["namespaces"].dump().find("{\"type\":\"network\",\"path\":\"/n\"}"), std::string::npos);
}

TEST(OciBundle, AUserNamespaceComesWithItsIdsAndOnlyThese) {
  ContainerSpec spec;
  spec.command = {"x"};
  BundleInput input;
  input.spec = &spec;
  EXPECT_FALSE((*make_bundle(input))["linux"].has("uidMappings"));
  input.user_namespace = "/u";
  input.first_id = 1 << 20;
  const Json linux = (*make_bundle(input))["linux"];
  for (const char* map : {"uidMappings", "gidMappings"})
    EXPECT_EQ(linux[map].dump(), "[{\"containerID\":0,\"hostID\":1048576,\"size\":65536}]");
  EXPECT_NE(linux["namespaces"].dump().find("{\"type\":\"user\",\"path\":\"/u\"}"), std::string::npos);
  input.user.uid = 65535;
  EXPECT_TRUE(make_bundle(input).ok());
  input.user.uid = 65536;  // the image's word
  EXPECT_EQ(make_bundle(input).error().code, base::Code::kInvalid);
  input.user = {.groups = {70000}};
  EXPECT_EQ(make_bundle(input).error().code, base::Code::kInvalid);
}

TEST(PodIds, ARangeIsThePodsOwn) {
  const auto first = choose_pod_ids("a", {});
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(choose_pod_ids("a", {}), first);
  EXPECT_EQ(*first % kPodIds, 0);
  // A taken one is followed by the next, at the end by the first.
  std::set<std::int64_t> taken;
  for (std::int64_t range = kPodIdsBegin; range < kPodIdsEnd; range += kPodIds) taken.insert(range);
  EXPECT_EQ(choose_pod_ids("a", taken), std::nullopt);
  for (const std::int64_t free : {kPodIdsBegin, kPodIdsEnd - kPodIds, *first}) {
    taken.erase(free);
    EXPECT_EQ(choose_pod_ids("a", taken), free);
    taken.insert(free);
  }
}

TEST(OciBundle, GivesNoCapabilityThatTheMachineLacks) {
  ContainerSpec spec;
  spec.command = {"x"};
  spec.privileged = true;
  BundleInput input;
  input.spec = &spec;
  input.privileges.bounding = 0b101001;  // CHOWN, FOWNER, KILL
  EXPECT_EQ((*make_bundle(input))["process"]["capabilities"]["bounding"].dump(),
            "[\"CAP_CHOWN\",\"CAP_FOWNER\",\"CAP_KILL\"]");
}

TEST(OciBundle, FindsUsersInTheRootFileSystem) {
  const std::string passwd = "root:x:0:0:root:/root:/bin/sh\napp:x:1234:99::/home/app:/bin/sh\n";
  const std::string groups = "root:x:0:\nstaff:x:50:\n";
  ContainerSpec spec;
  ImageConfig image;
  EXPECT_EQ(resolve_user(spec, image, passwd, groups)->home, "/root");
  image.user = "app";
  EXPECT_EQ(resolve_user(spec, image, passwd, groups)->uid, 1234);
  EXPECT_EQ(resolve_user(spec, image, passwd, groups)->gid, 99);
  image.user = "app:staff";
  EXPECT_EQ(resolve_user(spec, image, passwd, groups)->gid, 50);
  image.user = "nobody-here";
  EXPECT_FALSE(resolve_user(spec, image, passwd, groups).ok());
  image.user = "";
  spec.must_not_be_root = true;
  EXPECT_EQ(resolve_user(spec, image, passwd, groups).error().code, base::Code::kForbidden);
  spec.user = 1234;
  EXPECT_EQ(resolve_user(spec, image, passwd, groups)->gid, 99);
}

std::string query_for(const std::string& name, int type) {
  std::string query("\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00", 12);
  std::size_t begin = 0;
  while (begin < name.size()) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    query += static_cast<char>(end - begin);
    query += name.substr(begin, end - begin);
    begin = end + 1;
  }
  query += '\0';
  query += '\0';
  query += static_cast<char>(type);
  query += std::string("\0\x01", 2);
  return query;
}

TEST(Dns, AnswersNamesOfTheTableWhateverTheirCase) {
  const NameTable names{.addresses = {{"a.svc.ns.svc.cluster.local", {"10.1.2.3"}}}};
  bool elsewhere = true;
  const std::string answer = answer_query(query_for("A.svc.ns.SVC.cluster.local", 1), names, elsewhere);
  EXPECT_FALSE(elsewhere);
  EXPECT_EQ(answer.substr(0, 2), "\x12\x34");
  EXPECT_EQ(answer[7], 1);
  EXPECT_EQ(answer.substr(answer.size() - 4), "\x0a\x01\x02\x03");
  // There are no IPv6 addresses, but the name exists.
  const std::string none = answer_query(query_for("a.svc.ns.svc.cluster.local", 28), names, elsewhere);
  EXPECT_EQ(none[3] & 15, 0);
  EXPECT_EQ(none[7], 0);
}

TEST(Dns, UnknownNamesOfOursDoNotExistAndOthersAreAskedElsewhere) {
  bool elsewhere = true;
  EXPECT_EQ(answer_query(query_for("x.ns.svc.cluster.local", 1), {}, elsewhere)[3] & 15, 3);
  EXPECT_FALSE(elsewhere);
  answer_query(query_for("example.org", 1), {}, elsewhere);
  EXPECT_TRUE(elsewhere);
}

TEST(Dns, AnswersPlacesOfPortsAndNamesOfAddresses) {
  const NameTable names{.addresses = {{"w.ns.svc.cluster.local", {"10.96.0.9"}}},
                        .places = {{"_http._tcp.w.ns.svc.cluster.local", {{"w.ns.svc.cluster.local", 8080}}}}};
  bool elsewhere = true;
  const std::string answer = answer_query(query_for("_http._tcp.w.ns.svc.cluster.local", 33), names, elsewhere);
  EXPECT_FALSE(elsewhere);
  EXPECT_EQ(answer[7], 1);
  const std::string place(
      "\x00\x00\x00\x64\x1f\x90\x01w\x02ns\x03svc\x07"
      "cluster\x05local\x00",
      30);
  EXPECT_TRUE(answer.ends_with(place));
  EXPECT_EQ(answer_query(query_for("_http._tcp.w.ns.svc.cluster.local", 1), names, elsewhere)[7], 0);
  EXPECT_TRUE(answer_query(query_for("10-200-0-7.ns.pod.cluster.local", 1), names, elsewhere)
                  .ends_with(std::string("\x0a\xc8\x00\x07", 4)));
  for (const char* none : {"10-200-0.ns.pod.cluster.local", "a-b-c-d.ns.pod.cluster.local", "ns.pod.cluster.local"})
    EXPECT_EQ(answer_query(query_for(none, 1), names, elsewhere)[3] & 15, 3) << none;
}

TEST(Dns, FollowsNamesThatStandForOthers) {
  const NameTable names{.addresses = {{"w.ns.svc.cluster.local", {"10.96.0.9"}}},
                        .aliases = {{"in.ns.svc.cluster.local", "w.ns.svc.cluster.local"},
                                    {"gone.ns.svc.cluster.local", "x.ns.svc.cluster.local"},
                                    {"out.ns.svc.cluster.local", "example.org"}}};
  bool elsewhere = true;
  const std::string inside = answer_query(query_for("in.ns.svc.cluster.local", 1), names, elsewhere);
  EXPECT_FALSE(elsewhere);
  EXPECT_EQ(inside[7], 2);
  EXPECT_TRUE(inside.ends_with("\x0a\x60" + std::string("\x00\x09", 2)));
  EXPECT_EQ(answer_query(query_for("gone.ns.svc.cluster.local", 1), names, elsewhere)[3] & 15, 3);
  EXPECT_EQ(alias_query(query_for("in.ns.svc.cluster.local", 1), names), "");
  EXPECT_EQ(alias_query(query_for("w.ns.svc.cluster.local", 1), names), "");
  const std::string query = query_for("out.ns.svc.cluster.local", 1);
  EXPECT_EQ(alias_query(query, names), query_for("example.org", 1));
  // The answer of the other server: its own alias first, then an address.
  std::string answer = query_for("example.org", 1);
  answer[2] = '\x81';
  answer[7] = 2;
  answer += std::string("\xc0\x0c\x00\x05\x00\x01\x00\x00\x00\x3c\x00\x04\x01z\xc0\x0c", 16);
  answer += std::string("\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04\x5d\xb8\xd7\x0e", 16);
  const std::string notified = alias_answer(query, names, answer);
  EXPECT_EQ(notified.substr(0, 2), query.substr(0, 2));
  EXPECT_EQ(notified[7], 2);
  EXPECT_TRUE(notified.ends_with("\x5d\xb8\xd7\x0e"));
  for (std::size_t length = 0; length < answer.size(); ++length)
    EXPECT_EQ(alias_answer(query, names, answer.substr(0, length)), "") << length;
}

TEST(Dns, MalformedQueriesGetNoAnswer) {
  bool elsewhere = false;
  const std::string query = query_for("a.b", 1);
  for (std::size_t length = 0; length < query.size(); ++length)
    EXPECT_EQ(answer_query(query.substr(0, length), {}, elsewhere), "");
}

struct TemporaryFolder {
  std::string path;
  TemporaryFolder() {
    char name[] = "/tmp/volcano-node-test.XXXXXX";
    path = ::mkdtemp(name);
  }
  ~TemporaryFolder() { remove_tree(path); }
};

TEST(PodFolders, IdsOfPodsAreKeptAndNeverShared) {
  const TemporaryFolder data;
  const PodFolders folders(data.path);
  for (const char* uid : {"a", "b", "c", "host"}) ASSERT_TRUE(rt::make_folders(folders.pod(uid), 0700).ok());
  // Another pod has what would be the pod's own choice.
  ASSERT_TRUE(rt::write_file(folders.pod("b") + "/ids", std::to_string(*choose_pod_ids("a", {})), 0600).ok());
  std::set<std::int64_t> seen;
  for (const char* uid : {"a", "b", "c"}) {
    ASSERT_TRUE(folders.give_ids(uid).ok());
    const auto first = folders.first_id(uid);
    ASSERT_TRUE(first && seen.insert(*first).second) << uid;
    ASSERT_TRUE(folders.give_ids(uid).ok());
    EXPECT_EQ(PodFolders(data.path).first_id(uid), first);
  }
  EXPECT_EQ(folders.first_id("host"), std::nullopt);
  ASSERT_TRUE(rt::write_file(folders.pod("host") + "/ids", "0", 0600).ok());  // damaged: never the host's root
  EXPECT_EQ(folders.first_id("host"), std::nullopt);
}

// The states in which a kill of the agent can leave a container, as files, and the reading of them.
struct RunCase {
  const char* what;
  std::vector<std::string> files;  // of the container's folder
  bool monitored, held, exited;
  bool started, running, lost;
};
TEST(PodFolders, ReadsFromFilesWhereARunIs) {
  for (const RunCase& test : {
           RunCase{"made up only", {"id"}, false, false, false, false, false, true},
           RunCase{"created, not noted", {"id", "pid", "monitor"}, true, true, false, false, false, false},
           RunCase{"noted, not let go", {"id", "pid", "monitor", "started"}, true, true, false, false, false, false},
           RunCase{"let go", {"id", "pid", "monitor", "started"}, true, false, false, true, true, false},
           RunCase{"ended", {"id", "pid", "monitor", "started"}, false, false, true, true, false, false},
           RunCase{"ended, its monitor still there",
                   {"id", "pid", "monitor", "started"},
                   true,
                   false,
                   true,
                   true,
                   false,
                   false},
           RunCase{"its monitor killed", {"id", "pid", "monitor", "started"}, false, false, false, true, false, true},
           RunCase{"a plain process that never began", {"id", "started"}, false, false, false, false, false, true},
       }) {
    const TemporaryFolder data;
    const PodFolders folders(data.path);
    const std::string folder = folders.container("u", "a", 0);
    ASSERT_TRUE(rt::make_folders(folder, 0700).ok());
    for (const std::string& name : test.files)
      ASSERT_TRUE(rt::write_file(folder + "/" + name,
                                 name == "id"        ? "ID"
                                 : name == "monitor" ? (test.monitored ? describe_process(::getpid()) : "1 1")
                                                     : "1",
                                 0600)
                      .ok());
    if (test.held) {
      ASSERT_TRUE(rt::make_folders(folders.runtime_state("ID"), 0700).ok());
      ASSERT_EQ(::mkfifo((folders.runtime_state("ID") + "/exec.fifo").c_str(), 0600), 0);
    }
    Exits exits;
    ASSERT_TRUE(exits.open(folders.exits(), [](ExitedContainer) {}).ok());
    if (test.exited) {
      ASSERT_TRUE(rt::write_file(folders.exits() + "/ID", "3", 0600).ok());
    }
    const std::vector<RecoveredContainer> runs = folders.containers_of("u", exits);
    ASSERT_EQ(runs.size(), 1u);
    EXPECT_EQ(runs[0].started, test.started) << test.what;
    EXPECT_EQ(runs[0].running, test.running) << test.what;
    EXPECT_EQ(runs[0].lost, test.lost) << test.what;
    EXPECT_EQ(runs[0].exit_code, test.exited ? 3 : test.lost ? 137 : 0) << test.what;
  }
}

TEST(Privileges, NoOomScoreIsAskedForThatMayNotBeSet) {
  const Privileges all{.oom_score_adjustment = 0};
  const Privileges without{.effective = ~(std::uint64_t{1} << 24), .oom_score_adjustment = 100};
  EXPECT_EQ(permitted_oom_score(-997, all), -997);
  EXPECT_EQ(permitted_oom_score(-997, without), 100);
  EXPECT_EQ(permitted_oom_score(1000, without), 1000);
}

TEST(ImageTree, DevicesHaveNoPlaceInImages) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make device nodes";
  const TemporaryFolder folder;
  ASSERT_TRUE(rt::make_folders(folder.path + "/r/dev", 0755).ok());
  ASSERT_TRUE(rt::make_folders(folder.path + "/r/etc", 0755).ok());
  ASSERT_EQ(::mknod((folder.path + "/r/dev/disk").c_str(), S_IFBLK | 0600, makedev(8, 0)), 0);
  EXPECT_TRUE(inspect_image_tree(folder.path + "/r").ok());
  EXPECT_EQ(::access((folder.path + "/r/dev/disk").c_str(), F_OK), -1);
  ASSERT_EQ(::mknod((folder.path + "/r/etc/disk").c_str(), S_IFCHR | 0600, makedev(1, 5)), 0);
  EXPECT_EQ(inspect_image_tree(folder.path + "/r").error().message, "the image's etc/disk is a device");
}

TEST(CriLog, WhatIsWrittenCanBeParsed) {
  const TemporaryFolder folder;
  const std::string path = folder.path + "/log";
  {
    CriLog log(path);
    log.write("stdout", "one\ntwo\npart");
  }
  const std::string text = read_text(path);
  CriLine line;
  ASSERT_TRUE(parse_cri_line(std::string_view(text).substr(0, text.find('\n')), line));
  EXPECT_EQ(line.stream, "stdout");
  EXPECT_EQ(line.text, "one");
  EXPECT_FALSE(line.partial);
  const std::size_t last = text.rfind('\n', text.size() - 2) + 1;
  ASSERT_TRUE(parse_cri_line(std::string_view(text).substr(last, text.size() - last - 1), line));
  EXPECT_EQ(line.text, "part");
  EXPECT_TRUE(line.partial);
}

TEST(CriLog, ALogThatGrowsTooLargeStartsAnew) {
  const TemporaryFolder folder;
  CriLog log(folder.path + "/log", 200);
  for (int i = 0; i < 20; ++i) log.write("stdout", base::format("line {}\n", i));
  const std::string text = read_text(folder.path + "/log");
  EXPECT_LE(text.size(), 200u);
  EXPECT_NE(text.find("line 19"), std::string::npos);
}

TEST(VolumeFolders, FilesChangeTogetherAndOldOnesGo) {
  const TemporaryFolder folder;
  const std::string path = folder.path + "/v";
  VolumeSpec volume{.name = "v", .kind = VolumeSpec::Kind::kFiles};
  volume.files = {{"a", "1", 0600}, {"dir/b", "2", 0644}};
  ASSERT_TRUE(lay_out_volume(path, volume).ok());
  EXPECT_EQ(read_text(path + "/a"), "1");
  EXPECT_EQ(read_text(path + "/dir/b"), "2");
  struct stat facts {};
  ASSERT_EQ(::stat((path + "/a").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
  volume.files = {{"a", "changed", 0600}};
  ASSERT_TRUE(lay_out_volume(path, volume).ok());
  EXPECT_EQ(read_text(path + "/a"), "changed");
  EXPECT_EQ(::access((path + "/dir").c_str(), F_OK), -1);
}

TEST(Command, GivesOutputAndExitCode) {
  const auto result = run_command({"sh", "-c", "cat; echo no >&2; exit 3"}, {.input = "hello"});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out, "hello");
  EXPECT_EQ(result->err, "no\n");
  EXPECT_EQ(result->exit_code, 3);
  EXPECT_FALSE(run_command({"/no/such/program"}).ok());
  EXPECT_FALSE(run_command({"sleep", "10"}, {.timeout = base::milliseconds(50)}).ok());
  // One that closes its outputs and goes on is not waited for without end either.
  EXPECT_FALSE(
      run_command({"sh", "-c", "exec > /dev/null 2>&1; exec sleep 10"}, {.timeout = base::milliseconds(50)}).ok());
  EXPECT_EQ(run_command({"yes"}, {.output_bytes_max = 1000}).error().code, base::Code::kTooLarge);
  const auto guarded =
      run_command({"sleep", "10"}, {.guard = [] { return base::make_error(base::Code::kTooLarge, "full"); }});
  EXPECT_EQ(guarded.error().message, "full");
}

TEST(LeftBridges, ours_are_known_by_name_and_alias_and_go_when_nothing_is_plugged_in) {
  const auto links = api::parse_json(R"([
      {"ifname": "lo"}, {"ifname": "vcbr00000001", "ifalias": "volcano:10.200.1.0/24"},
      {"ifname": "vcbr00000002", "ifalias": "volcano:10.200.2.0/24"}, {"ifname": "vcaaa", "master": "vcbr00000002"},
      {"ifname": "vcbr00000003"}, {"ifname": "vcbr00000004", "ifalias": "volcano:x;reboot/24"},
      {"ifname": "vcbr0000000x", "ifalias": "volcano:10.200.5.0/24"},
      {"ifname": "docker0", "ifalias": "volcano:10.200.6.0/24"},
      {"ifname": "vcbr00000007", "ifalias": "volcano:10.200.7.0/24"}])");
  ASSERT_TRUE(links.ok());
  EXPECT_EQ(unused_bridges(*links, "vcbr00000007"), (std::vector<LeftBridge>{{"vcbr00000001", "10.200.1.0/24"}}));
}

TEST(LeftBridges, a_bridge_has_one_claim_at_a_time) {
  const std::string name = "vcbr-test-" + std::to_string(::getpid());
  {
    const auto first = BridgeClaim::take(name);
    EXPECT_TRUE(first.has_value());
    EXPECT_FALSE(BridgeClaim::take(name).has_value());
  }
  EXPECT_TRUE(BridgeClaim::take(name).has_value());
}

}  // namespace
}  // namespace node
