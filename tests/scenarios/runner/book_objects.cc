// The content of a scenario, as lists of a few plain things. For decide_by_the_book() alone.
#include "book_objects.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "api/schema/quantity.h"

namespace scenario::book {
namespace {

bool about_less(double a, double b) { return a < b || std::fabs(a - b) < 0.1; }

double quantity(const std::string& name, const std::string& text) {
  const auto out = api::Quantity::from_json(api::Json(text));
  if (!out) return 0;
  return static_cast<double>(name == "memory" || name == "pods" ? out->value() : out->milli_value());
}

bool is_resource(const std::string& name) {
  return name == "cpu" || name == "memory" || name.find('/') != std::string::npos;
}

Amounts amounts(const Line& line) {
  Amounts out;
  for (const auto& [key, value] : line.fields) {
    if (is_resource(key)) out.set(key, quantity(key, value));
  }
  return out;
}

bool knows(const Line& line, std::initializer_list<std::string_view> keys, bool resources = false) {
  return line.patch.is_null() && std::all_of(line.fields.begin(), line.fields.end(), [&](const auto& field) {
           return (resources && is_resource(field.first)) ||
                  std::find(keys.begin(), keys.end(), field.first) != keys.end();
         });
}

// "0-3,6"
std::set<int> cpu_list(const std::string& text) {
  std::set<int> out;
  for (const std::string& one : split(text, ',')) {
    const std::size_t dash = one.find('-');
    const int first = std::atoi(one.c_str()),
              last = dash == std::string::npos ? first : std::atoi(one.c_str() + dash + 1);
    for (int cpu = first; cpu <= last; ++cpu) out.insert(cpu);
  }
  return out;
}

// The holdings of a pod that runs already.
void take_held(const Line& line, Pod& pod) {
  for (const std::string& one : split(line.get("holds"), ',')) {
    const std::vector<std::string> parts = split(one, ':');
    pod.given.cards.push_back({parts[0], parts.size() > 1 ? std::atof(parts[1].c_str()) : 0,
                               parts.size() > 2 ? std::atof(parts[2].c_str()) : 0});
  }
  const std::string gpus = pod.annotation("volcano.sh/gpu-index"), chip = pod.annotation("huawei.com/npu-core");
  if (!gpus.empty()) pod.given.shared_gpus.insert(std::atoi(gpus.c_str()));
  if (chip.empty()) return;
  pod.given.chips.chips.insert(std::atoi(chip.c_str()));
  if (const std::size_t dash = chip.find('-'); dash != std::string::npos) pod.given.chips.cut = chip.substr(dash + 1);
}

}  // namespace

Line list_of(const Line& line, std::string_view key) {
  Line out;
  const api::Json list = map_from(line.get(key));
  for (const auto& one : list.members()) out.fields.emplace_back(std::string(one.name()), one.value.str());
  return out;
}

double Amounts::operator[](const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? 0 : found->second;
}

void Amounts::add(const Amounts& other, double times) {
  for (const auto& [name, amount] : other.by_name_) by_name_[name] += amount * times;
}

std::set<std::string> Amounts::names() const {
  std::set<std::string> out;
  for (const auto& [name, amount] : by_name_) out.insert(name);
  return out;
}

bool Amounts::is_nothing() const {
  return std::all_of(by_name_.begin(), by_name_.end(),
                     [](const auto& one) { return one.first == "pods" || one.second < 0.1; });
}

std::set<std::string> names_of(const Amounts& a, const Amounts& b) {
  std::set<std::string> out = a.names();
  out.merge(b.names());
  return out;
}

bool equal(const Amounts& a, const Amounts& b) {
  const auto names = names_of(a, b);
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) { return a[name] == b[name]; });
}

bool all_less_equal(const Amounts& a, const Amounts& b) {
  const auto names = a.names();
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) { return about_less(a[name], b[name]); });
}

double largest_share(const Amounts& part, const Amounts& whole) {
  double out = 0;
  for (const std::string& name : whole.names()) {
    if (whole[name] >= 0.1) out = std::max(out, part[name] / whole[name]);
  }
  return out;
}

std::string Node::label(const std::string& name) const { return list_of(words, "labels").get(name); }
std::string Node::annotation(const std::string& name) const { return list_of(words, "annotations").get(name); }

std::string Pod::label(const std::string& name) const { return list_of(words, "labels").get(name); }
std::string Pod::annotation(const std::string& name) const { return list_of(words, "annotations").get(name); }

double Pod::wants(const std::string& resource) const {
  const Line limits = list_of(words, "limits");
  const std::string* limit = limits.find(resource);
  return (limit != nullptr ? quantity(resource, *limit) : listed[resource]) / 1000;
}

std::vector<std::string> Pod::claims() const {
  std::vector<std::string> out;
  for (const std::string& name : split(words.get("resourceclaims"), ','))
    out.push_back(key.substr(0, key.find('/') + 1) + name);
  return out;
}

bool Plugin::is_on(const std::string& argument) const {
  const auto found = arguments.find(argument);
  return found != arguments.end() && found->second == "true";
}

double Plugin::number(const std::string& argument, double fallback) const {
  const auto found = arguments.find(argument);
  return found == arguments.end() ? fallback : std::atof(found->second.c_str());
}

double amount_of(const std::string& text) {
  const auto out = api::Quantity::from_json(api::Json(text));
  return out ? static_cast<double>(out->milli_value()) / 1000 : 0;
}

double number_of(const Line& line, std::string_view key, double fallback) {
  const std::string* text = line.find(key);
  return text == nullptr ? fallback : std::atof(text->c_str());
}

const Plugin* Objects::plugin(std::string_view name) const {
  const auto found = std::find_if(plugins.begin(), plugins.end(), [&](const Plugin& one) { return one.name == name; });
  return found == plugins.end() ? nullptr : &*found;
}

const Line& Objects::device_config() const {
  static const Line kNone;
  const Plugin* deviceshare = plugin("deviceshare");
  if (deviceshare == nullptr) return kNone;
  const auto argument = [&](const char* name, const char* fallback) {
    const auto found = deviceshare->arguments.find(std::string("deviceshare.KnownGeometriesCM") + name);
    return found == deviceshare->arguments.end() ? fallback : found->second;
  };
  const auto found =
      device_configs.find(argument("Namespace", "kube-system") + "/" + argument("Name", "volcano-vgpu-device-config"));
  return found == device_configs.end() ? kNone : found->second;
}

std::size_t Objects::find_group(const std::string& key) const {
  const auto found = std::find_if(groups.begin(), groups.end(), [&](const Group& one) { return one.key == key; });
  return found == groups.end() ? kNoGroup : static_cast<std::size_t>(found - groups.begin());
}

std::vector<const Pod*> Objects::pods_on(std::size_t node) const {
  std::vector<const Pod*> out;
  for (const Pod& pod : pods) {
    if (pod.node == static_cast<int>(node)) out.push_back(&pod);
  }
  return out;
}

bool Objects::take(const Line& line) {
  const std::vector<std::string> names = expand(line.name);
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) { return take_one(line, name); });
}

bool Objects::take_one(const Line& line, const std::string& name) {
  ++next_;
  if (line.verb == "show") {  // what is bound is printed in any case
    shown.insert(name);
    for (const auto& [word, value] : line.fields) shown.insert(word);
    return true;
  }
  if (line.verb == "wait-time") return now += std::atof(name.c_str()), true;
  if (line.verb == "conf") return take_policy(line);
  if (line.verb == "class") return knows(line, {"value"}) && (priorities[name] = number_of(line, "value", 0), true);
  if (line.verb == "queue") return take_queue(line, name);
  if (line.verb == "node") return take_node(line, name);
  if (line.verb == "group") return take_group(line, name);
  if (line.verb == "pod") return take_pod(line, name);
  if (line.verb == "resourceslice") return take_slice(line, name);
  if (line.verb == "numatopology") return take_numa(line, name);
  if (line.verb == "deviceclass") return knows(line, {"driver"}) && (device_classes[name] = line, true);
  if (line.verb == "resourceclaim") return take_claim(line, name);
  if (line.verb == "deviceconfig")
    return device_configs[name] = line,
           knows(line, {"count", "memory", "cores", "percentage", "factor", "mig", "vnpus"});
  if (line.verb == "npus" || line.verb == "npureport") return take_report(line, name);
  return take_end(line, name);
}

bool Objects::take_report(const Line& line, const std::string& name) {
  if (line.verb == "npus") return node_reports[name] = line, knows(line, {"chips", "unhealthy", "switch"});
  return cluster_reports[name] = line, name.starts_with("mindx-dl/cluster-info-device-") && knows(line, {"nodes"});
}

// A claim's second line says who has it, and whether it still does.
bool Objects::take_claim(const Line& line, const std::string& name) {
  if (claims.contains(name) && line.find("allocated") == nullptr) {
    for (Pod& pod : pods) {
      if (pod.is_done) pod.given.devices.erase(name), pod.given.shares.erase(name);
    }
  }
  claims[name] = line;
  return knows(
      line, {"class", "count", "where", "requests", "same", "distinct", "all", "tolerates", "allocated", "capacity"});
}

// The claims of a pod that is done keep their devices until they say otherwise; those of a deleted one are free.
bool Objects::take_end(const Line& line, const std::string& name) {
  if (line.verb == "bound") {
    for (Pod& pod : pods) {
      if (pod.key == name) pod.has_started = false;
    }
    return knows(line, {});
  }
  if (line.verb != "delete" && line.verb != "finish") return false;
  if (line.verb == "delete") std::erase_if(pods, [&](const Pod& pod) { return pod.key == name; });
  for (Pod& pod : pods) {
    if (pod.key != name) continue;
    pod.is_done = true, pod.node = -1;
    pod.given.cards.clear(), pod.given.shared_gpus.clear(), pod.given.cpus.clear();
    pod.given.npus.clear(), pod.given.chips = {};
  }
  return knows(line, {"maybe"});
}

bool Objects::take_policy(const Line& line) {
  const std::string actions = line.get("actions");
  if (!knows(line, {"actions", "tiers", "init-params.useClusterInfoManager"}) ||
      (actions != "allocate" && actions != "enqueue, allocate"))
    return false;
  plugins.clear();
  cluster_reports_count = line.get("init-params.useClusterInfoManager") != "false";
  for (const std::string& word : words_of(line.get("tiers"))) {
    if (word == "|") continue;
    Plugin one{word.substr(0, word.find('(')), {}};
    const std::vector<Line> items = items_of(word);
    for (const auto& [key, value] : items[0].fields) one.arguments[key] = value;
    static const std::map<std::string, std::set<std::string>> kKnown = {
        {"priority", {}},
        {"gang", {}},
        {"drf", {}},
        {"proportion", {}},
        {"capacity", {}},
        {"predicates", {}},
        {"binpack", {}},
        {"nodeorder", {"leastrequested.weight", "mostrequested.weight", "balancedresource.weight"}},
        {"numa-aware", {"weight"}},
        {"deviceshare",
         {"deviceshare.GPUSharingEnable", "deviceshare.GPUNumberEnable", "deviceshare.VGPUEnable",
          "deviceshare.AscendHAMiVNPUEnable", "deviceshare.AscendMindClusterVNPUEnable", "deviceshare.NodeLockEnable",
          "deviceshare.SchedulePolicy", "deviceshare.ScheduleWeight", "deviceshare.KnownGeometriesCMName",
          "deviceshare.KnownGeometriesCMNamespace", "deviceshare.GPUExclusiveRules"}}};
    const auto known = kKnown.find(one.name);
    if (known == kKnown.end()) return false;
    for (const auto& [key, value] : one.arguments) {
      if (!known->second.contains(key)) return false;
    }
    plugins.push_back(std::move(one));
  }
  return plugin("gang") != nullptr && plugin("predicates") != nullptr &&
         !(plugin("proportion") != nullptr && plugin("capacity") != nullptr);
}

bool Objects::take_queue(const Line& line, const std::string& name) {
  Queue queue{.name = name, .weight = number_of(line, "weight", 1), .priority = number_of(line, "priority", 0)};
  queue.is_open = line.get("state", "Open") == "Open";
  const Line capability = list_of(line, "capability");
  for (const auto& [key, value] : capability.fields) {
    if (key.starts_with("deviceclass/"))
      queue.devices[key.substr(12)] = std::atof(value.c_str());
    else if (key.find(".deviceclass/") != std::string::npos)
      return false;
    else
      queue.capability.set(key, quantity(key, value));
  }
  queue.guarantee = amounts(list_of(line, "guarantee"));
  queue.wanted = amounts(list_of(line, "deserved"));
  queues.push_back(queue);
  return knows(line, {"weight", "priority", "capability", "guarantee", "deserved", "state"});
}

bool Objects::take_node(const Line& line, const std::string& name) {
  Node node{.name = name, .all = amounts(line), .words = line, .numa = {}};
  const bool names_own = std::any_of(line.fields.begin(), line.fields.end(),
                                     [](const auto& field) { return field.first.find('/') != std::string::npos; });
  if (line.find("memory") == nullptr) node.all.set("memory", 100.0 * 1024 * 1024 * 1024);
  node.all.set("pods", number_of(line, "pods", 110));
  if (const std::string* cards = line.find("vgpus"); cards != nullptr && !names_own) {
    double sharers = 0, memory = 0, cores = 0;
    for (const Line& card : items_of(*cards))
      sharers += number_of(card, "count", 10), memory += number_of(card, "memory", 8000), cores += 100;
    for (const auto& [key, amount] : {std::pair("number", sharers), {"memory", memory}, {"cores", cores}})
      node.all.set(std::string("volcano.sh/vgpu-") + key, 1000 * amount);
  }
  const auto old = std::find_if(nodes.begin(), nodes.end(), [&](const Node& one) { return one.name == name; });
  if (old == nodes.end())
    nodes.push_back(std::move(node));
  else
    node.numa = old->numa, *old = std::move(node);
  static const std::set<std::string> kRecords = {"volcano.sh/gpu-unhealthy-ids", "hamivgpu", "hami-vnpu-core"};
  const Line given_annotations = list_of(line, "annotations");
  return std::all_of(given_annotations.fields.begin(), given_annotations.fields.end(),
                     [](const auto& given_key) { return kRecords.contains(given_key.first); }) &&
         knows(line, {"pods", "labels", "vgpus", "vnpus", "annotations"}, true);
}

bool Objects::take_group(const Line& line, const std::string& name) {
  const auto queue = std::find_if(queues.begin(), queues.end(),
                                  [&](const Queue& one) { return one.name == line.get("queue", "default"); });
  if (queue == queues.end() || find_group(name) != kNoGroup) return false;
  groups.push_back({name, static_cast<std::size_t>(queue - queues.begin()),
                    static_cast<std::size_t>(number_of(line, "min", 1)), priorities[line.get("class")]});
  return knows(line, {"queue", "min", "class"});
}

bool Objects::take_pod(const Line& line, const std::string& name) {
  Pod pod{.key = name, .order = next_};
  const std::string ns = name.substr(0, name.find('/') + 1);
  if (line.find("group") != nullptr) pod.group = find_group(ns + line.get("group"));
  if (line.find("group") != nullptr && pod.group == kNoGroup) return false;
  pod.priority = number_of(line, "priority", 1);
  pod.listed = amounts(line);
  pod.listed.set("pods", 1);
  if (line.find("npu") != nullptr) pod.listed.set("huawei.com/npu-core", 1000 * number_of(line, "npu", 0));
  pod.words = line;
  if (const std::string* node = line.find("node")) {
    const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const Node& one) { return one.name == *node; });
    if (found == nodes.end() || line.find("resourceclaims") != nullptr) return false;
    pod.node = static_cast<int>(found - nodes.begin());
    pod.has_started = true;
    take_held(line, pod);
  } else if (pod.group == kNoGroup || line.find("holds") != nullptr) {
    return false;
  }
  static const std::set<std::string> kRecords = {"volcano.sh/gpu-index",
                                                 "volcano.sh/vgpu-mode",
                                                 "volcano.sh/vgpu-use-gpuuuid",
                                                 "volcano.sh/vgpu-nouse-gpuuuid",
                                                 "nvidia.com/use-gputype",
                                                 "nvidia.com/nouse-gputype",
                                                 "volcano.sh/vgpu-podgroup-policy",
                                                 "volcano.sh/numa-topology-policy",
                                                 "huawei.com/npu-core",
                                                 "huawei.com/vnpu-mode"};
  for (const auto& [given_key, value] : list_of(line, "annotations").fields) {
    if (!kRecords.contains(given_key)) return false;
  }
  std::erase_if(pods, [&](const Pod& other) { return other.key == name; });
  pods.push_back(std::move(pod));
  return knows(line,
               {"group", "priority", "selector", "node", "annotations", "guaranteed", "resourceclaims", "holds",
                "labels", "npu", "level", "dvpp", "limits"},
               true);
}

bool Objects::take_slice(const Line& line, const std::string& name) {
  if (!knows(line, {"driver", "node", "devices", "counters", "slices"}) || slices.contains(name)) return false;
  Slice& out = slices[name];
  out.driver = line.get("driver", "gpu.example.com"), out.node = line.get("node", name);
  out.of_pool = static_cast<std::size_t>(number_of(line, "slices", 1));
  for (const auto& [counter, amount] : list_of(line, "counters").fields) out.counters[counter] = amount_of(amount);
  for (const Line& item : items_of(line.get("devices"))) {
    for (const auto& [word, value] : item.fields) {
      if (value.starts_with('[')) return false;
    }
    if (item.find("shared") != nullptr && item.find("uses") != nullptr) return false;
    out.devices.push_back({out.driver, out.node, item});
  }
  return true;
}

bool Objects::take_numa(const Line& line, const std::string& name) {
  const auto node = std::find_if(nodes.begin(), nodes.end(), [&](const Node& one) { return one.name == name; });
  if (node == nodes.end() || node->numa.known) return false;
  Numa& numa = node->numa;
  numa.known = true;
  numa.is_static = line.get("manager", "static") == "static";
  numa.policy = line.get("policy", "none");
  numa.reserved = number_of(line, "reserved", 0);
  numa.has_layout = line.find("layout") != nullptr;
  std::vector<std::string> sides = split(line.get("layout"), 'x');
  sides.resize(3, "1");
  const int sockets = numa.has_layout ? std::atoi(sides[0].c_str()) : 0, cores = std::atoi(sides[1].c_str()),
            threads = std::atoi(sides[2].c_str());
  if (sockets > 10) return false;  // the book goes through every set of them
  for (int cpu = 0; cpu < sockets * cores * threads; ++cpu)
    numa.cpus.push_back({cpu, cpu / (cores * threads), cpu / threads});
  if (line.find("free") != nullptr) {
    numa.free = cpu_list(line.get("free"));
  } else {
    for (const Cpu& cpu : numa.cpus) numa.free.insert(cpu.id);
  }
  return knows(line, {"policy", "manager", "layout", "free", "reserved", "capacity"});
}

}  // namespace scenario::book
