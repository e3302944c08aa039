// A machine that is made up: /proc, /sys/fs/cgroup and a kubelet's folder as files below a folder of its own.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "api/json/yaml.h"
#include "base/format.h"
#include "colocation/files/host_files.h"
#include "colocation/policy/pod_facts.h"

namespace colocation::made_up {

class Machine {
 public:
  explicit Machine(GroupVersion version = GroupVersion::kV2, GroupDriver driver = GroupDriver::kCgroupfs,
                   std::string above = {}) {
    char name[] = "/tmp/colocation-XXXXXX";
    folder_ = ::mkdtemp(name);
    paths = {.groups = folder_ + "/cgroup",
             .proc_stat = folder_ + "/proc/stat",
             .meminfo = folder_ + "/proc/meminfo",
             .pressure = folder_ + "/proc/pressure",
             .kubelet = folder_ + "/kubelet",
             .proc = folder_ + "/proc",
             .etc = folder_ + "/etc",
             .interfaces = folder_ + "/net",
             .network = folder_ + "/proc/net"};
    tree = {.version = version, .driver = driver, .root = paths.groups, .above = std::move(above)};
  }
  ~Machine() { std::filesystem::remove_all(folder_); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  const std::string& folder() const { return folder_; }

  void write(const std::string& path, const std::string& text) const {
    const std::string whole = path.starts_with('/') ? path : folder_ + "/" + path;
    std::filesystem::create_directories(std::filesystem::path(whole).parent_path());
    std::ofstream(whole) << text;
  }
  std::string read(const std::string& path) const {
    std::ifstream file(path.starts_with('/') ? path : folder_ + "/" + path);
    std::string text((std::istreambuf_iterator<char>(file)), {});
    while (text.ends_with('\n')) text.pop_back();
    return text;
  }
  void remove(const std::string& path) const { std::filesystem::remove_all(path); }

  std::string group_file(const std::string& path, const std::string& file) const {
    return group_folder(tree, file.starts_with("cpuacct") ? "cpuacct" : file.substr(0, file.find('.')), path) + "/" +
           file;
  }
  void set_group(const std::string& path, const std::string& file, const std::string& text) const {
    write(group_file(path, file), text + "\n");
  }
  std::string group(const std::string& path, const std::string& file) const { return read(group_file(path, file)); }

  // The files that a kernel has in every group; not those in which kernels differ.
  void make_group(const std::string& path) const {
    if (tree.version == GroupVersion::kV1) {
      for (const auto& [file, text] : {std::pair("cpu.shares", "1024"), std::pair("cpu.cfs_quota_us", "-1"),
                                       std::pair("memory.limit_in_bytes", "9223372036854771712")})
        set_group(path, file, text);
    } else {
      for (const auto& [file, text] :
           {std::pair("cpu.weight", "100"), std::pair("cpu.max", "max 100000"), std::pair("memory.max", "max"),
            std::pair("memory.high", "max"), std::pair("memory.low", "0"), std::pair("memory.min", "0")})
        set_group(path, file, text);
    }
    use(path, 0, 0);
  }
  // The use of a group since it was made.
  void use(const std::string& path, std::int64_t cpu_us, std::int64_t memory_bytes) const {
    if (tree.version == GroupVersion::kV1) {
      set_group(path, "cpuacct.usage", std::to_string(cpu_us * 1000));
      set_group(path, "memory.stat", base::format("total_cache 0\ntotal_rss {}\ntotal_swap 0", memory_bytes));
    } else {
      set_group(path, "cpu.stat", base::format("usage_usec {}\nuser_usec 0", cpu_us));
      set_group(path, "memory.stat", base::format("anon {}\nfile 0\nkernel 0\nsock 0", memory_bytes));
    }
  }
  void memory(std::int64_t total_bytes, std::int64_t available_bytes) const {
    write("proc/meminfo", base::format("MemTotal:       {} kB\nMemFree: 1 kB\nMemAvailable:   {} kB\n",
                                       total_bytes / 1024, available_bytes / 1024));
  }
  void stall(std::int64_t memory_us) const {
    write("proc/pressure/memory",
          base::format("some avg10=0.00 avg60=0.00 avg300=0.00 total={}\nfull avg10=0.00 total=0\n", memory_us));
  }

  // How long tasks have stood still: of the machine for a resource, and of one group, for processors and disks.
  void machine_stall(const std::string& resource, std::int64_t us) const {
    write("proc/pressure/" + resource, base::format("some avg10=0.00 avg60=0.00 avg300=0.00 total={}\n", us));
  }
  void group_stall(const std::string& path, std::int64_t cpu_us, std::int64_t io_us) const {
    for (const auto& [file, us] : {std::pair("cpu.pressure", cpu_us), std::pair("io.pressure", io_us)})
      write(group_folder(tree, "cpu", path) + "/" + file,
            base::format("some avg10=0.00 total={0}\nfull avg10=0.00 total={0}\n", us));
  }
  void group_io(const std::string& path, std::int64_t bytes) const {
    set_group(path, "io.stat", base::format("8:0 rbytes=0 wbytes={} rios=0 wios=1 dbytes=0 dios=0", bytes));
  }

  // The groups of a pod and of its containers that run.
  std::string make_pod(const PodFacts& pod) const {
    const std::string path = *pod_path(tree, pod.qos, pod.uid);
    make_group(path);
    for (const ContainerFacts& one : pod.containers)
      if (const auto name = container_group(tree, one.id)) make_group(path + "/" + *name);
    return path;
  }

  HostPaths paths;
  GroupTree tree;

 private:
  std::string folder_;
};

inline api::Json object(const std::string& yaml) {
  auto read = api::parse_yaml(yaml);
  return read.ok() ? *std::move(read) : api::Json();
}

}  // namespace colocation::made_up
