// A random small cluster as a scenario: what a person could have written, of every feature a little.
//
// Features are switched on by seed, so that each meets each of the others in some clusters, and few in most.
#include "random_cluster.h"

#include <map>
#include <vector>

#include "api/json/json.h"
#include "base/format.h"
#include "base/random.h"
#include "random_policy.h"

namespace scenario {
namespace {

using api::Json;

class Writer {
 public:
  explicit Writer(std::uint64_t seed) : dice_(seed) {}

  std::string write() {
    policy_ = random_policy(dice_);
    choose_features();
    out_ = policy_.line;
    out_ += "show order conditions pods domains queues devices tasks events\n";
    for (const char* one : {"high value=100", "low value=1", "mid value=50"})
      if (dice_.chance(0.9)) out_ += base::format("class {}\n", one);
    write_queues();
    node_count_ = some(0.03) ? 60 + dice_.below(80) : 1 + dice_.below(7);  // sometimes more than one word of a set
    for (std::uint64_t n = 0; n < node_count_; ++n) write_node(n);
    if (domains_) write_domains();
    if (storage_) write_storage();
    if (claims_) write_device_claims();
    if (dice_.chance(0.15))
      out_ += base::format("budget a/b selector=app:a{} allowed={}\n", dice_.below(3), dice_.below(3));
    if (policy_.plugins.contains("resourcequota"))
      out_ += base::format("quota a/q hard=cpu:{},pods:{} used=cpu:0\n", 1 + dice_.below(9), 2 + dice_.below(9));
    for (std::uint64_t i = dice_.below(4); i > 0; --i) write_group(true);
    const std::uint64_t phases = 1 + dice_.below(6);
    for (std::uint64_t phase = 0; phase < phases; ++phase) {
      for (std::uint64_t i = dice_.below(4); i > 0; --i) write_group(false);
      for (std::uint64_t i = dice_.below(3); i > 0 && phase > 0; --i) write_event();
      out_ += dice_.chance(0.2) ? "cycle 2\n\n" : "cycle\n\n";
    }
    return std::move(out_);
  }

 private:
  bool some(double chance) { return dice_.chance(chance); }
  const char* pick(std::initializer_list<const char*> words) { return words.begin()[dice_.below(words.size())]; }

  void choose_features() {
    domains_ = policy_.plugins.contains("network-topology-aware") ? some(0.8) : some(0.15);
    selectors_ = some(0.4), taints_ = some(0.25), ports_ = some(0.15), affinity_ = some(0.35), spread_ = some(0.3);
    storage_ = some(0.15), claims_ = some(0.15), cards_ = some(0.4), gates_ = some(0.1), best_effort_ = some(0.25);
    preemptables_ = some(0.5), sub_groups_ = some(0.15), roles_ = some(0.25), tight_pods_ = some(0.3);
    disruptions_ = some(0.2), label_domains_ = some(0.2);
    mixed_ = some(0.4), usage_ = policy_.plugins.contains("usage") && some(0.8);
  }

  // ---- queues
  std::string limits(const char* field, double chance, std::uint64_t most) {
    if (!some(chance)) return "";
    std::string list = base::format("cpu:{}", 1 + dice_.below(most));
    if (some(0.2)) list += base::format(",memory:{}Gi", 1 + dice_.below(most));
    if (some(0.2)) list += base::format(",nvidia.com/gpu:{}", dice_.below(4));
    return base::format(" {}={}", field, list);
  }

  void write_queue(const std::string& name, const std::string& parent, bool drf_tree) {
    std::string line = base::format("queue {}", name);
    if (some(0.5)) line += base::format(" weight={}", 1 + dice_.below(4));
    line += limits("capability", 0.35, 12) + limits("deserved", 0.5, 8) + limits("guarantee", 0.2, 3);
    if (some(0.1)) line += " reclaimable=false";
    if (some(0.15)) line += base::format(" priority={}", dice_.below(3));
    if (some(0.04)) line += " state=Closed";
    if (!parent.empty()) line += " parent=" + parent;
    if (drf_tree)
      line += base::format(" annotations=volcano.sh/hierarchy:root/{0}/{1},volcano.sh/hierarchy-weights:1/{2}/{3}",
                           pick({"x", "y"}), name, 1 + dice_.below(3), 1 + dice_.below(3));
    out_ += line + "\n";
    if (policy_.plugins.contains("nodegroup") && some(0.8)) write_node_groups();
  }

  // Which groups of nodes the queue wishes for, and how much of them it may use.
  void write_node_groups() {
    const auto groups = [&](double chance) {
      return some(chance) ? pick({R"(["g0"])", R"(["g1"])", R"(["g1","g0"])"}) : "[]";
    };
    const auto lists = [&](const char* field, double chance) {
      return base::format(
          R"("{}":{{"requiredDuringSchedulingIgnoredDuringExecution":{},"preferredDuringSchedulingIgnoredDuringExecution":{}}})",
          field, groups(chance), groups(chance));
    };
    const std::string together = lists("nodeGroupAffinity", 0.7), apart = lists("nodeGroupAntiAffinity", 0.1);
    std::string limits;
    if (some(0.5)) limits = base::format(R"({{\"g0\":{{\"cpu\":\"{}\"}}}})", dice_.below(8));
    if (some(0.2))
      limits = base::format(R"({{\"g0\":{{\"memory\":\"{}Gi\"}},\"g1\":{{\"cpu\":\"{}\"}}}})", 1 + dice_.below(8),
                            1 + dice_.below(8));
    if (some(0.03)) limits = "much";
    out_ += base::format(
        R"(  + {{"metadata":{{"annotations":{{"volcano.sh/nodegroup-resource-limits":"{}"}}}},"spec":{{"affinity":{{{},{}}}}}}})"
        "\n",
        limits, together, apart);
  }

  void write_queues() {
    const bool capacity_tree = policy_.hierarchy && policy_.plugins.contains("capacity");
    const bool drf_tree = policy_.hierarchy && !capacity_tree;
    if (capacity_tree || drf_tree) out_ += "queue root\n";
    queues_ = {"default"};
    if (capacity_tree) write_queue("inner", "root", false);
    write_queue("default", capacity_tree ? "root" : "", false);
    for (std::uint64_t i = dice_.below(4); i > 0; --i) {
      queues_.push_back(base::format("q{}", i));
      write_queue(queues_.back(), !capacity_tree ? "" : some(0.5) ? "inner" : "root", drf_tree);
    }
    if (capacity_tree && some(0.1)) queues_.emplace_back("inner");
    if (some(0.05)) queues_.emplace_back("nowhere");
  }

  // ---- nodes
  void write_node(std::uint64_t n) {
    std::string line = base::format("node n{} cpu={}", n, some(0.9) ? 1 + dice_.below(8) : 0);
    if (mixed_) line += base::format(" memory={}Gi", 1 + dice_.below(16));
    if (tight_pods_) line += base::format(" pods={}", 1 + dice_.below(6));
    if (cards_ && some(0.6)) line += base::format(" nvidia.com/gpu={}", dice_.below(5));
    if (policy_.shares_cards && some(0.7)) line += " volcano.sh/gpu-memory=2000 volcano.sh/gpu-number=2";
    const bool npus = policy_.shares_npus && some(0.8);
    if (npus) line += " huawei.com/npu-core=16";
    if (policy_.shares_vgpus && some(0.7))
      line += " volcano.sh/vgpu-number=20 volcano.sh/vgpu-memory=16000 volcano.sh/vgpu-cores=200";
    std::string labels;
    if (some(0.85)) labels = base::format("zone:z{}", dice_.below(3));
    if (some(0.9)) labels += base::format("{}kubernetes.io/hostname:n{}", labels.empty() ? "" : ",", n);
    if (some(0.4)) labels += base::format("{}rack:r{}", labels.empty() ? "" : ",", dice_.below(2));
    if (policy_.plugins.contains("tdm") && some(0.5))
      labels += base::format("{}volcano.sh/revocable-zone:{}", labels.empty() ? "" : ",", pick({"night", "noon"}));
    if (policy_.plugins.contains("nodegroup") && some(0.7))
      labels += base::format("{}volcano.sh/nodegroup-name:g{}", labels.empty() ? "" : ",", dice_.below(2));
    if (npus) labels += base::format("{}servertype:Ascend310P-8", labels.empty() ? "" : ",");
    if (!labels.empty()) line += " labels=" + labels;
    if (taints_ && some(0.4))
      line +=
          base::format(" taints={}:{}", pick({"slow", "gpu"}), pick({"NoSchedule", "PreferNoSchedule", "NoExecute"}));
    if (some(0.04)) line += " unschedulable";
    if (some(0.2)) line += " images=app@500000000";
    out_ += line + "\n";
    if (policy_.shares_vgpus && line.find("vgpu-number") != std::string::npos)
      out_ += R"(  + {"metadata":{"annotations":{"volcano.sh/node-vgpu-register":)"
              R"("GPU-0,10,8000,NVIDIA-A100,true,hami-core:GPU-1,10,8000,NVIDIA-A100,true,hami-core:"}}})"
              "\n";
    if (npus)
      out_ += base::format(
          "configmap mindx-dl/cluster-info-device-{0}\n  + "
          R"({{"data":{{"cluster-info-device-{0}":"{{\"mindx-dl-deviceinfo-n{0}\":{{\"DeviceList\":)"
          R"({{\"huawei.com/Ascend310P\":\"Ascend310P-0{1}\",\"huawei.com/Ascend310P-Unhealthy\":\"\"}}}}}}"}}}})"
          "\n",
          n, some(0.8) ? ",Ascend310P-1" : "");
    if (usage_ && some(0.7))
      out_ += base::format("usage n{} cpu={} memory={}\n", n, dice_.below(100), dice_.below(100));
  }

  void write_domains() {
    const std::uint64_t leaves = 2 + dice_.below(3);
    for (std::uint64_t l = 0; l < leaves; ++l) {
      std::string nodes;
      for (std::uint64_t n = 0; n < node_count_; ++n) {
        if (n % leaves == l ? some(0.95) : some(0.03)) nodes += base::format("{}n{}", nodes.empty() ? "" : ",", n);
      }
      out_ += base::format("hypernode l{} tier=1 tierName=leaf nodes={}\n", l, nodes);
    }
    if (some(0.8)) {
      out_ += base::format("hypernode m0 tier=2 tierName=mid hypernodes=l0,l1\n");
      if (leaves > 2)
        out_ += base::format("hypernode m1 tier=2 tierName=mid hypernodes=l2{}\n", leaves > 3 ? ",l3" : "");
      if (leaves > 2 && some(0.6)) out_ += "hypernode t tier=3 hypernodes=m0,m1\n";
    }
  }

  // ---- what pods claim
  void write_storage() {
    out_ += "storageclass local provisioner=kubernetes.io/no-provisioner\nstorageclass dynamic\n";
    if (some(0.3)) out_ += "storageclass now mode=Immediate\n";
    for (std::uint64_t i = 1 + dice_.below(4); i > 0; --i)
      out_ += base::format("volume v{} storageClass=local storage={}Gi on=n{}\n", i, 1 + dice_.below(4),
                           dice_.below(node_count_));
    for (std::uint64_t i = 0; i < 4; ++i)
      out_ += base::format("claim a/c{} storageClass={} storage={}Gi\n", i,
                           some(0.6)   ? "local"
                           : some(0.9) ? "dynamic"
                                       : "now",
                           1 + dice_.below(3));
  }

  void write_device_claims() {
    out_ +=
        "deviceclass gpu\n"
        R"(  + {"spec":{"selectors":[{"cel":{"expression":"device.driver == \"gpu.example.com\""}}]}})"
        "\n";
    for (std::uint64_t n = 0; n < node_count_; ++n) {
      if (some(0.3)) continue;
      std::string devices;
      for (std::uint64_t d = free_devices_[n] = dice_.below(3) + 1; d > 0; --d)
        devices += base::format(R"({}{{"name":"gpu-{}","attributes":{{"model":{{"string":"{}"}}}}}})",
                                devices.empty() ? "" : ",", d, pick({"A100", "H100"}));
      out_ += base::format(
          "resourceslice s{0}\n  + "
          "{{\"spec\":{{\"driver\":\"gpu.example.com\",\"nodeName\":\"n{0}\",\"pool\":{{\"name\":"
          "\"n{0}\",\"generation\":1,\"resourceSliceCount\":1}},\"devices\":[{1}]}}}}\n",
          n, devices);
    }
    for (int i = 0; i < 4; ++i) {
      const std::string selector =
          some(0.4)
              ? base::format(
                    R"(,"selectors":[{{"cel":{{"expression":"device.attributes[\"gpu.example.com\"].model == \"{}\""}}}}])",
                    pick({"A100", "H100"}))
              : "";
      out_ += base::format(
          "resourceclaim a/r{}\n  + {{\"spec\":{{\"devices\":{{\"requests\":[{{\"name\":\"r\",\"exactly\":"
          "{{\"deviceClassName\":\"gpu\",\"count\":{}{}}}}}]}}}}}}\n",
          i, 1 + dice_.below(2), selector);
    }
  }

  // ---- groups and pods
  std::string topology_request() {
    if (some(0.25)) return "soft";
    if (some(0.2)) return base::format("hard:{}", pick({"leaf", "mid"}));
    return base::format("hard:{}", 1 + dice_.below(3));
  }

  static std::string topology_json(const std::string& topology_request) {
    const std::size_t colon = topology_request.find(':');
    Json out = Json::object({{"mode", topology_request.substr(0, colon)}});
    if (colon != std::string::npos && topology_request[colon + 1] >= '0' && topology_request[colon + 1] <= '9')
      out.set("highestTierAllowed", static_cast<std::int64_t>(topology_request[colon + 1] - '0'));
    else if (colon != std::string::npos)
      out.set("highestTierName", topology_request.substr(colon + 1));
    return out.dump();
  }

  void write_group(bool runs) {
    const std::string name = base::format("g{}", next_++);
    const std::uint64_t size = 1 + dice_.below(!runs && some(0.05) ? 24 : 6),
                        min = some(0.7) ? 1 + dice_.below(size) : 0;
    std::string line = base::format("group a/{} min={}", name, min);
    const std::string& queue = queues_[dice_.below(queues_.size())];
    if (queue != "default") line += " queue=" + queue;
    if (runs) line += " phase=Running";
    if (!runs && some(0.3)) line += " phase=Inqueue";
    if (some(0.4)) line += base::format(" class={}", pick({"high", "low", "mid"}));
    if (some(0.3)) line += base::format(" minResources=cpu:{}", min);
    if (roles_ && some(0.5)) line += base::format(" roles=x:{},y:{}", dice_.below(3), dice_.below(2));
    if (domains_ && some(0.5)) line += " topology=" + topology_request();
    std::string annotations;
    const auto annotate = [&](std::string_view one) {
      annotations += base::format("{}{}", annotations.empty() ? "" : ",", one);
    };
    if (policy_.plugins.contains("tdm") && some(0.3)) annotate("volcano.sh/jdb-max-unavailable:50%");
    if (policy_.plugins.contains("task-topology") && some(0.5)) {
      annotate("volcano.sh/task-topology-affinity:x;y");
      if (some(0.5)) annotate("volcano.sh/task-topology-anti-affinity:x");
    }
    if (disruptions_ && some(0.5))
      annotate(base::format("volcano.sh/disruption-mode:{}", pick({"all", "all", "single"})));
    if (disruptions_ && some(0.1)) annotate("volcano.sh/preemption-policy:Never");
    if (label_domains_ && some(0.5))
      annotate(base::format("volcano.sh/topology-key:{}", pick({"zone", "zone", "rack", "kubernetes.io/hostname"})));
    if (label_domains_ && some(0.2)) annotate(base::format("volcano.sh/group-priority:{}", dice_.below(3)));
    if (!annotations.empty()) line += " annotations=" + annotations;
    out_ += line + "\n";
    if (sub_groups_ && some(0.5))
      out_ += base::format(
          "  + {{\"spec\":{{\"subGroupPolicy\":[{{\"name\":\"p\",\"subGroupSize\":{},\"minSubGroups\":{},"
          "\"matchLabelKeys\":[\"part\"]{}}}]}}}}\n",
          1 + dice_.below(3), dice_.below(3),
          domains_ && some(0.6) ? ",\"networkTopology\":" + topology_json(topology_request()) : "");
    write_pods(name, size, runs);
  }

  void write_pods(const std::string& group, std::uint64_t size, bool runs) {
    // Equal pods in ranges, so that classes have several; sometimes each pod is its own.
    std::uint64_t at = 0;
    while (at < size) {
      const std::uint64_t many = runs ? 1 : 1 + dice_.below(size - at);
      const std::string role = roles_ ? pick({"x", "y"}) : "x";
      pods_.push_back(base::format("a/{}-{}-{}", group, role, at));
      const std::string range = many == 1 ? std::to_string(at) : base::format("{{{}..{}}}", at, at + many - 1);
      write_pod(base::format("a/{}-{}-{}", group, role, range), group, role, runs, at);
      at += many;
    }
  }

  std::string requests() {
    if (best_effort_ && some(0.3)) return "";
    std::string out = base::format(" cpu={}m", 250 * (1 + dice_.below(10)));
    if (mixed_ && some(0.6)) out += base::format(" memory={}Mi", 512 * (1 + dice_.below(8)));
    if (cards_ && some(0.4)) out += base::format(" nvidia.com/gpu={}", 1 + dice_.below(2));
    return out;
  }

  void write_pod(const std::string& name, const std::string& group, const std::string& role, bool runs,
                 std::uint64_t at) {
    std::string line = base::format("pod {} group={} role={}", name, group, role) + requests();
    std::string held;
    if (runs && some(0.9)) {
      const std::uint64_t node = dice_.below(node_count_);
      line += base::format(" node=n{}", node);
      if (claims_ && some(0.7)) held = held_claim(node);
      if (!held.empty()) line += base::format(" uid={0} resourceclaims={0}", held);
    }
    line += base::format(" labels=app:a{},part:{}", dice_.below(3), at / 2);
    if (preemptables_ && some(0.6)) line += base::format(" preemptable={}", pick({"true", "true", "false"}));
    if (some(0.25)) line += base::format(" priority={}", dice_.below(3));
    if (selectors_ && some(0.4)) line += base::format(" selector={}", pick({"zone:z0", "zone:z1", "rack:r0"}));
    if (taints_ && some(0.4)) line += base::format(" tolerates={}", pick({"slow", "gpu"}));
    if (ports_ && some(0.4)) line += base::format(" hostPorts=80{}", dice_.below(2));
    if (gates_ && some(0.2)) line += " gates=example.com/g";
    if (storage_ && some(0.4)) line += base::format(" claims=c{}", dice_.below(4));
    if (some(0.1)) line += " image=app";
    if (policy_.plugins.contains("cdp") && some(0.4)) line += " annotations=volcano.sh/cooldown-time:2s";
    if (some(0.04)) line += " preemption=Never";
    out_ += line + "\n";
    const Json patch = pod_patch(!held.empty());
    if (patch.is_object() && !patch.members().empty()) out_ += "  + " + patch.dump() + "\n";
  }

  static Json json(const std::string& text) {
    auto out = api::parse_json(text);
    return out.ok() ? *out : Json();
  }

  // A device of the node, allocated to a claim of the one who has it: the claim and its holder's uid have one name.
  std::string held_claim(std::uint64_t node) {
    std::uint64_t& left = free_devices_[node];
    if (left == 0) return "";
    const std::string out = base::format("h{}-{}", node, left);
    out_ += base::format(
        "resourceclaim a/{0} class=gpu allocated=n{1}:gpu-{2}\n"
        "  + {{\"status\":{{\"reservedFor\":[{{\"resource\":\"pods\",\"name\":\"p\",\"uid\":\"{0}\"}}]}}}}\n",
        out, node, left--);
    return out;
  }

  Json pod_patch(bool holds_claim) {
    Json patch = Json::object();
    const std::string app = base::format(R"("labelSelector":{{"matchLabels":{{"app":"a{}"}}}})", dice_.below(3));
    const char* key = pick({"zone", "kubernetes.io/hostname"});
    const std::string term = base::format(R"({{{},"topologyKey":"{}"}})", app, key);
    if (affinity_ && some(0.4)) {
      Json& affinity = patch.edit("spec").edit("affinity");
      const std::string both = base::format(R"({{"requiredDuringSchedulingIgnoredDuringExecution":[{0}]}})", term);
      const std::string soft = base::format(
          R"({{"preferredDuringSchedulingIgnoredDuringExecution":[{{"weight":{},"podAffinityTerm":{}}}]}})",
          1 + dice_.below(100), term);
      if (some(0.4)) affinity.set("podAntiAffinity", json(some(0.6) ? both : soft));
      if (some(0.3)) affinity.set("podAffinity", json(some(0.4) ? both : soft));
      if (some(0.4))
        affinity.set(
            "nodeAffinity",
            json(base::format(R"({{"preferredDuringSchedulingIgnoredDuringExecution":[{{"weight":{},"preference":)"
                              R"({{"matchExpressions":[{{"key":"zone","operator":"{}","values":["z{}"]}}]}}}}]}})",
                              1 + dice_.below(50), pick({"In", "NotIn"}), dice_.below(2))));
    }
    if (spread_ && some(0.4))
      patch.edit("spec").set(
          "topologySpreadConstraints",
          json(base::format(R"([{{"maxSkew":{},"topologyKey":"{}","whenUnsatisfiable":"{}",{}}}])", 1 + dice_.below(2),
                            key, pick({"DoNotSchedule", "ScheduleAnyway"}), app)));
    if (claims_ && !holds_claim && some(0.4))
      patch.edit("spec").set("resourceClaims",
                             json(base::format(R"([{{"name":"c","resourceClaimName":"r{}"}}])", dice_.below(4))));
    if (policy_.shares_npus && some(0.6)) add_npus(patch);
    if ((policy_.shares_cards || policy_.shares_vgpus) && some(0.5)) {
      const std::string amounts = base::format(
          R"("cpu":"{}","volcano.sh/{}-memory":"{}"{})", 1 + dice_.below(2), policy_.shares_cards ? "gpu" : "vgpu",
          500 * (1 + dice_.below(4)), policy_.shares_vgpus && some(0.5) ? R"(,"volcano.sh/vgpu-number":"1")" : "");
      patch.edit("spec").set(
          "containers",
          json(base::format(R"([{{"name":"c","resources":{{"limits":{{{0}}},"requests":{{{0}}}}}}}])", amounts)));
    }
    return patch;
  }

  void add_npus(api::Json& patch) {
    Json& labels = patch.edit("metadata").edit("labels");
    labels.set("ring-controller.atlas", "ascend-310P");
    labels.set("vnpu-level", pick({"low", "high"}));
    if (some(0.3)) labels.set("vnpu-dvpp", pick({"yes", "no"}));
    const std::string amounts =
        base::format(R"("cpu":"1","huawei.com/npu-core":"{}")", pick({"1", "2", "4", "4", "8"}));
    patch.edit("spec").set(
        "containers",
        json(base::format(R"([{{"name":"c","resources":{{"limits":{{{0}}},"requests":{{{0}}}}}}}])", amounts)));
  }

  // ---- what happens
  void write_event() {
    switch (dice_.below(9)) {
      case 0: out_ += base::format("wait-time {}\n", pick({"60", "3600", "36000"})); break;
      case 1: write_node(dice_.below(node_count_ + 1)); break;
      case 2: write_queue(queues_[0], "", false); break;
      case 3:
        if (node_count_ > 1) out_ += base::format("delete n{} kind=node maybe\n", dice_.below(node_count_));
        break;
      case 4:
        if (domains_) out_ += base::format("hypernode l{} tier=1 nodes=n{},n{}\n", dice_.below(2), dice_.below(3), 3);
        break;
      default:
        if (!pods_.empty())
          out_ += base::format("{} {} maybe\n", pick({"delete", "delete", "finish", "fail", "terminate"}),
                               pods_[dice_.below(pods_.size())]);
    }
  }

  base::Random dice_;
  Policy policy_;
  std::string out_;
  std::vector<std::string> queues_, pods_;
  std::uint64_t node_count_ = 0;
  int next_ = 0;
  std::map<std::uint64_t, std::uint64_t> free_devices_;  // by node
  bool domains_ = false, selectors_ = false, taints_ = false, ports_ = false, affinity_ = false, spread_ = false;
  bool storage_ = false, claims_ = false, cards_ = false, gates_ = false, best_effort_ = false;
  bool preemptables_ = false, sub_groups_ = false, roles_ = false, tight_pods_ = false, mixed_ = false, usage_ = false;
  bool disruptions_ = false, label_domains_ = false;
};

}  // namespace

std::string random_scenario(std::uint64_t seed) {
  if (seed % 4 != 0) return Writer(seed).write();
  return seed % 8 == 0 ? random_allocation(seed) : random_devices(seed);
}

}  // namespace scenario
