// A random cluster of devices as decide_by_the_book() knows them: shared GPUs, vGPUs, claims, and the CPUs of nodes.
#include <string>

#include "base/format.h"
#include "base/random.h"
#include "random_cluster.h"

namespace scenario {
namespace {

class Writer {
 public:
  explicit Writer(std::uint64_t seed) : dice_(seed) {}

  std::string write() {
    choose();
    write_queues();
    nodes_ = 1 + dice_.below(4);
    for (std::uint64_t n = 0; n < nodes_; ++n) write_node(n);
    if (claims_) write_claims();
    int next = 10;
    for (std::uint64_t phases = 1 + dice_.below(4); phases > 0; --phases) {
      for (std::uint64_t groups = 1 + dice_.below(4); groups > 0; --groups) write_group(next++);
      for (std::uint64_t i = dice_.below(3); i > 0; --i)
        out_ += base::format("{} a/g{}-x-{} maybe\n", some(0.7) ? "delete" : "finish",
                             10 + dice_.below(static_cast<std::uint64_t>(next) - 10), dice_.below(4));
      out_ += "cycle\n\n";
    }
    return std::move(out_);
  }

 private:
  bool some(double chance) { return dice_.chance(chance); }
  const char* pick(std::initializer_list<const char*> words) { return words.begin()[dice_.below(words.size())]; }

  void choose() {
    const std::uint64_t kind = dice_.below(8);
    shared_ = kind == 0, whole_ = kind == 1, vgpus_ = kind == 2 || kind == 3, claims_ = kind == 4 || kind == 5;
    numa_ = kind == 6 || kind == 7;
    if (some(0.15)) claims_ = vgpus_ = numa_ = true, shared_ = whole_ = false;
    std::string tiers = some(0.6) ? "priority gang | " : "gang | ";
    if (some(0.3)) tiers += "drf ";
    tiers += "predicates";
    quotas_ = claims_ && some(0.5);
    if (quotas_ || some(0.2))
      tiers += " capacity";
    else if (some(0.3))
      tiers += " proportion";
    // Sums of whole numbers are the same in any order; binpack's are not whole.
    if (some(0.5)) tiers += base::format(" nodeorder(leastrequested.weight={})", dice_.below(3));
    if (shared_ || whole_)
      tiers += base::format(" deviceshare(deviceshare.GPU{}Enable=true)", shared_ ? "Sharing" : "Number");
    if (vgpus_)
      tiers += base::format(
          " deviceshare(deviceshare.VGPUEnable=true deviceshare.SchedulePolicy={} "
          "deviceshare.ScheduleWeight={})",
          pick({"binpack", "spread", "none"}), dice_.below(3));
    if (numa_) tiers += base::format(" numa-aware(weight={})", 1 + dice_.below(5));
    out_ = base::format("conf actions=allocate tiers=\"{}\"\nshow order\nclass high value=10\n", tiers);
  }

  void write_queues() {
    queues_ = 1 + dice_.below(3);
    for (std::uint64_t q = 0; q < queues_; ++q) {
      out_ += base::format("queue q{} weight={}", q, 1 + dice_.below(3));
      std::string limits;
      if (some(0.2)) limits = base::format("cpu:{}", 2 + dice_.below(9));
      if (quotas_ && some(0.7))
        limits += base::format("{}deviceclass/{}:{}", limits.empty() ? "" : ",", pick({"gpu", "nic"}), dice_.below(4));
      if (!limits.empty()) out_ += " capability=" + limits;
      out_ += "\n";
    }
  }

  void write_node(std::uint64_t n) {
    out_ += base::format("node n{} cpu={}", n, 4 + dice_.below(9));
    if (some(0.4)) out_ += base::format(" memory={}Gi", 4 + dice_.below(12));
    if (some(0.1)) out_ += base::format(" pods={}", 1 + dice_.below(4));
    if (shared_ || whole_) {
      const std::uint64_t cards = dice_.below(4);
      if (cards > 0) out_ += base::format(" volcano.sh/gpu-memory={} volcano.sh/gpu-number={}", cards * 1000, cards);
      if (cards > 1 && some(0.2)) out_ += " annotations=volcano.sh/gpu-unhealthy-ids:0";
    }
    if (vgpus_ && some(0.8)) {
      std::string cards;
      for (std::uint64_t card = 0; card <= dice_.below(3); ++card) {
        cards += base::format("{}GPU-{}-{}(count={} memory={}", cards.empty() ? "" : " ", n, card, 1 + dice_.below(4),
                              1000 * (1 + dice_.below(4)));
        if (some(0.3)) cards += " type=NVIDIA-H100";
        if (some(0.1)) cards += " unhealthy";
        cards += ")";
      }
      out_ += base::format(" vgpus=\"{}\"", cards);
    }
    out_ += "\n";
    if (!numa_ || some(0.15)) return;
    out_ += base::format("numatopology n{} policy={} layout={}x{}x{}", n,
                         pick({"none", "best-effort", "restricted", "single-numa-node"}), 1 + dice_.below(3),
                         1 + dice_.below(3), 1 + dice_.below(2));
    if (some(0.1)) out_ += " manager=none";
    if (some(0.2)) out_ += base::format(" reserved={}", 1 + dice_.below(2));
    if (some(0.15)) out_ += " free=1-3,5";
    out_ += "\n";
  }

  std::string request() {
    const std::string of = pick({"gpu", "gpu", "gpu", "nic", "link", "part"});
    std::string out = "class=" + of;
    if (some(0.3)) out += base::format(" count={}", 1 + dice_.below(3));
    if (of == "gpu" && some(0.4)) out += base::format(" where=size:{}", pick({"l", "s"}));
    if (of == "link" && some(0.8)) out += base::format(" capacity=bandwidth:{}", pick({"1G", "2500M", "4G", "12G"}));
    if (of == "gpu" && some(0.1)) out += base::format(" capacity=memory:{}", pick({"20Gi", "50Gi"}));
    if (some(0.1)) out += " all";
    if (some(0.2)) out += " tolerates=hot";
    return out;
  }

  // Devices that are cut out of one, by the memory and the cores that it has. Now and then a slice is missing.
  void write_partitions(std::uint64_t n) {
    const std::string slice = base::format("{} driver=part.example.com node=n{} slices={}", n, n, some(0.1) ? 3 : 2);
    out_ += base::format("resourceslice p{} counters=gpu.memory:80Gi,gpu.cores:{}\n", slice, 4 + 2 * dice_.below(3));
    out_ += base::format(
        "resourceslice q{} devices=\"{}half-{{0..2}}(uses=gpu.memory:40Gi,gpu.cores:2) small(uses=gpu.memory:10Gi)\"\n",
        slice, some(0.5) ? "whole(uses=gpu.memory:80Gi) " : "");
  }

  void write_claims() {
    for (const char* of : {"gpu", "nic", "link", "part"})
      out_ += base::format("deviceclass {0} driver={0}.example.com\n", of);
    for (std::uint64_t n = 0; n < nodes_; ++n) {
      std::string devices;
      for (std::uint64_t d = dice_.below(5); d > 0; --d)
        devices +=
            base::format("{}d{}(size={} numa={}{}{})", devices.empty() ? "" : " ", d, pick({"l", "s"}), dice_.below(2),
                         some(0.3) ? " memory:40Gi" : "", some(0.15) ? " tainted=hot:NoSchedule" : "");
      if (!devices.empty()) out_ += base::format("resourceslice g{0} node=n{0} devices=\"{1}\"\n", n, devices);
      if (some(0.4)) out_ += base::format("resourceslice x{0} driver=nic.example.com node=n{0} devices=\"e0 e1\"\n", n);
      if (some(0.4))
        out_ += base::format(
            "resourceslice l{0} driver=link.example.com node=n{0} devices=\"l0(bandwidth:10G shared) l1(bandwidth:3G "
            "shared)\"\n",
            n);
      if (some(0.4)) write_partitions(n);
    }
    for (int i = 0; i < 6; ++i) {
      out_ += base::format("resourceclaim a/c{} ", i);
      if (some(0.6)) {
        out_ += request();
      } else {
        out_ += base::format("requests=\"x({})", request());
        if (some(0.5))
          out_ += base::format(" y(a({}) b({}))", request(), request());
        else
          out_ += base::format(" y({})", request());
        out_ += "\"";
        const std::string claim = out_.substr(out_.rfind("resourceclaim"));
        const bool two_drivers =
            claim.find("nic") != claim.npos || claim.find("link") != claim.npos || claim.find("part") != claim.npos;
        if (!two_drivers && some(0.4)) out_ += base::format(" {}=gpu.example.com/numa", pick({"same", "distinct"}));
      }
      out_ += "\n";
    }
  }

  void write_group(int group) {
    const std::uint64_t size = 1 + dice_.below(4), min = some(0.2) ? 0 : 1 + dice_.below(size);
    out_ += base::format("group a/g{} queue=q{} min={}{}\n", group, dice_.below(queues_), min,
                         some(0.3) ? " class=high" : "");
    for (std::uint64_t at = 0; at < size;) {
      const std::uint64_t last = at + dice_.below(size - at);
      out_ += base::format("pod a/g{}-x-{{{}..{}}} group=g{}", group, at, last, group) + device_request() + "\n";
      at = last + 1;
    }
  }

  std::string device_request() {
    std::string out, annotations;
    if (numa_ && some(0.8)) {
      out = base::format(" cpu={} memory=512Mi guaranteed",
                         some(0.85) ? std::to_string(1 + dice_.below(5)) : std::string("1500m"));
      if (some(0.6))
        annotations = base::format("volcano.sh/numa-topology-policy:{}",
                                   pick({"best-effort", "restricted", "single-numa-node", "none"}));
    } else {
      out = base::format(" cpu={}m", 250 * (1 + dice_.below(6)));
      if (some(0.3)) out += base::format(" memory={}Mi", 512 * (1 + dice_.below(4)));
    }
    if (shared_ && some(0.7)) out += base::format(" volcano.sh/gpu-memory={}", 200 * (1 + dice_.below(5)));
    if (whole_ && some(0.7)) out += base::format(" volcano.sh/gpu-number={}", 1 + dice_.below(2));
    if (vgpus_ && some(0.8)) {
      if (some(0.8)) out += base::format(" volcano.sh/vgpu-memory={}", 500 * (1 + dice_.below(5)));
      if (some(0.4) || out.find("vgpu") == std::string::npos)
        out += base::format(" volcano.sh/vgpu-number={}", 1 + dice_.below(2));
      if (some(0.4)) out += base::format(" volcano.sh/vgpu-cores={}", pick({"20", "50", "100"}));
      if (annotations.empty() && some(0.3))
        annotations = pick({"volcano.sh/vgpu-mode:hami-core", "volcano.sh/vgpu-mode:mig", "nvidia.com/use-gputype:h100",
                            "nvidia.com/nouse-gputype:H100", "volcano.sh/vgpu-use-gpuuuid:GPU-0-0",
                            "volcano.sh/vgpu-nouse-gpuuuid:GPU-0-0", "volcano.sh/vgpu-podgroup-policy:spread"});
    }
    if (claims_ && some(0.8)) {
      const std::uint64_t first = dice_.below(6);
      out += base::format(" resourceclaims=c{}", first);
      if (some(0.2)) out += base::format(",c{}", (first + 1) % 6);
    }
    if (some(0.2)) out += base::format(" priority={}", dice_.below(3));
    return annotations.empty() ? out : out + " annotations=" + annotations;
  }

  base::Random dice_;
  std::string out_;
  std::uint64_t nodes_ = 0, queues_ = 0;
  bool shared_ = false, whole_ = false, vgpus_ = false, claims_ = false, numa_ = false, quotas_ = false;
};

}  // namespace

std::string random_devices(std::uint64_t seed) { return Writer(seed).write(); }

}  // namespace scenario
