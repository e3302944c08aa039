// How do the lines about devices become API objects: cards of nodes, claims, CPUs?
#include "device_objects.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

#include "base/format.h"

namespace scenario {
namespace {

using api::Json;

constexpr std::string_view kDriver = "gpu.example.com";

std::int64_t number(const Line& line, std::string_view key, std::int64_t fallback) {
  const std::string* text = line.find(key);
  return text == nullptr ? fallback : std::atoll(text->c_str());
}

base::Status check_words(const Line& line, std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : line.fields) {
    if (std::find(known.begin(), known.end(), key) == known.end())
      return base::make_error(base::Code::kInvalid,
                              base::format("line {}: {} has no word {}", line.number, line.verb, key));
  }
  return {};
}

Json cluster_object(const std::string& name) { return Json::object({{"metadata", Json::object({{"name", name}})}}); }

// ---- DRA

Json selector(const std::string& expression) {
  return Json::object({{"cel", Json::object({{"expression", expression}})}});
}

// "size:large,numa:1" as an expression each, "when" as it stands.
Json selectors_of(const Line& line, const std::string& driver) {
  std::vector<Json> out;
  const Json wanted = map_from(line.get("where"));
  for (const auto& one : wanted.members()) {
    const std::string value = one.value.str();
    const bool is_number = value.find_first_not_of("0123456789") == std::string::npos;
    out.push_back(selector(base::format("device.attributes[\"{}\"].{} == {}", driver, one.name(),
                                        is_number ? value : "\"" + value + "\"")));
  }
  if (const std::string* when = line.find("when")) out.push_back(selector(*when));
  return Json::array(std::move(out));
}

Json tolerations_of(const Line& line) {
  std::vector<Json> out;
  for (const std::string& key : split(line.get("tolerates"), ','))
    out.push_back(Json::object({{"key", key}, {"operator", "Exists"}}));
  return Json::array(std::move(out));
}

Json request_from(const Line& line, const std::string& driver) {
  Json out = Json::object({{"deviceClassName", line.get("class")}});
  if (line.find("all") != nullptr) out.set("allocationMode", "All");
  if (line.find("count") != nullptr) out.set("count", number(line, "count", 1));
  if (line.find("admin") != nullptr) out.set("adminAccess", true);
  if (Json list = selectors_of(line, driver); list.size() > 0) out.set("selectors", std::move(list));
  if (Json list = tolerations_of(line); list.size() > 0) out.set("tolerations", std::move(list));
  if (const std::string* amounts = line.find("capacity"))
    out.set("capacity", Json::object({{"requests", map_from(*amounts)}}));
  return out;
}

// A request with others in it is one of alternatives.
Json named_request(const Line& item, const std::string& driver) {
  std::vector<Json> choices;
  for (const auto& [word, value] : item.fields) {
    if (word.find('(') == std::string::npos) continue;
    for (const Line& choice : items_of(word)) {
      Json one = request_from(choice, driver);
      one.set("name", choice.name);
      choices.push_back(std::move(one));
    }
  }
  if (!choices.empty()) return Json::object({{"name", item.name}, {"firstAvailable", Json::array(std::move(choices))}});
  return Json::object({{"name", item.name}, {"exactly", request_from(item, driver)}});
}

// "gpu.example.com/numa:x,y"; without requests it is about all of them.
void add_constraint(const std::string* text, const char* kind, std::vector<Json>& out) {
  if (text == nullptr) return;
  const std::size_t colon = text->find(':');
  Json one = Json::object({{kind, text->substr(0, colon)}});
  std::vector<Json> requests;
  if (colon != std::string::npos) {
    for (const std::string& name : split(text->substr(colon + 1), ',')) requests.push_back(Json(name));
    one.set("requests", Json::array(std::move(requests)));
  }
  out.push_back(std::move(one));
}

base::Result<Json> claim_from(const Line& line, const std::string& name) {
  TRY_VOID(check_words(line, {"class", "count", "all", "admin", "where", "when", "tolerates", "capacity", "driver",
                              "requests", "same", "distinct", "owner", "allocated"}));
  const std::string driver = line.get("driver", kDriver);
  std::vector<Json> requests, constraints;
  if (const std::string* list = line.find("requests")) {
    for (const Line& item : items_of(*list)) requests.push_back(named_request(item, driver));
  } else if (line.find("class") != nullptr) {
    requests.push_back(Json::object({{"name", "r"}, {"exactly", request_from(line, driver)}}));
  }
  add_constraint(line.find("same"), "matchAttribute", constraints);
  add_constraint(line.find("distinct"), "distinctAttribute", constraints);
  Json devices = Json::object();
  if (!requests.empty()) devices.set("requests", Json::array(std::move(requests)));
  if (!constraints.empty()) devices.set("constraints", Json::array(std::move(constraints)));
  Json out = Json::object({{"metadata", named(name)}});
  if (devices.has("requests")) out.set("spec", Json::object({{"devices", std::move(devices)}}));
  if (const std::string* grants = line.find("allocated")) {
    std::vector<Json> results;
    std::string node;
    for (const std::string& one : split(*grants, ',')) {
      node = one.substr(0, one.find(':'));
      results.push_back(Json::object(
          {{"request", "r"}, {"driver", driver}, {"pool", node}, {"device", one.substr(one.find(':') + 1)}}));
    }
    Json field = Json::object({{"key", "metadata.name"}, {"operator", "In"}, {"values", Json::array({Json(node)})}});
    Json term = Json::object({{"matchFields", Json::array({std::move(field)})}});
    out.edit("status").set(
        "allocation",
        Json::object({{"devices", Json::object({{"results", Json::array(std::move(results))}})},
                      {"nodeSelector", Json::object({{"nodeSelectorTerms", Json::array({std::move(term)})}})}}));
  }
  if (const std::string* owner = line.find("owner")) {
    const std::size_t colon = owner->find(':');
    out.edit("metadata")
        .set("ownerReferences", Json::array({Json::object({{"apiVersion", "v1"},
                                                           {"kind", "Pod"},
                                                           {"name", owner->substr(0, colon)},
                                                           {"uid", owner->substr(colon + 1)},
                                                           {"controller", true}})}));
  }
  return out;
}

// "gpu.memory:80Gi", several divided by ","
Json counters_from(const std::string& text) {
  Json out = Json::object();
  const Json amounts = map_from(text);
  for (const auto& one : amounts.members()) {
    const std::string name(one.name());
    const std::size_t dot = name.find('.');
    out.edit(name.substr(0, dot)).set(name.substr(dot + 1), Json::object({{"value", one.value}}));
  }
  return out;
}

// "gpu-0(model=A100 index=0 modes=[a,b] memory:80Gi tainted=key:NoSchedule uses=set.memory:40Gi shared)"
Json device_from(const Line& item) {
  Json out = Json::object({{"name", item.name}});
  for (const auto& [key, value] : item.fields) {
    if (key == "shared") {
      out.set("allowMultipleAllocations", true);
    } else if (key == "tainted") {
      const std::size_t colon = value.find(':');
      out.set("taints",
              Json::array({Json::object({{"key", value.substr(0, colon)}, {"effect", value.substr(colon + 1)}})}));
    } else if (key == "uses") {
      std::vector<Json> sets;
      const Json counters = counters_from(value);
      for (const auto& one : counters.members())
        sets.push_back(Json::object({{"counterSet", one.name()}, {"counters", one.value}}));
      out.set("consumesCounters", Json::array(std::move(sets)));
    } else if (const std::size_t colon = key.find(':'); colon != std::string::npos) {
      out.edit("capacity").set(key.substr(0, colon), Json::object({{"value", key.substr(colon + 1)}}));
    } else if (value.starts_with('[')) {
      std::vector<Json> list;
      for (const std::string& one : split(value.substr(1, value.size() - 2), ',')) list.push_back(Json(one));
      out.edit("attributes").set(key, Json::object({{"strings", Json::array(std::move(list))}}));
    } else if (!value.empty() && value.find_first_not_of("0123456789") == std::string::npos) {
      out.edit("attributes").set(key, Json::object({{"int", static_cast<std::int64_t>(std::atoll(value.c_str()))}}));
    } else {
      out.edit("attributes").set(key, Json::object({{"string", value}}));
    }
  }
  return out;
}

base::Result<Json> slice_from(const Line& line, const std::string& name) {
  TRY_VOID(check_words(line, {"driver", "node", "devices", "counters", "slices"}));
  const std::string node = line.get("node", name);
  std::vector<Json> devices, counters;
  for (const Line& item : items_of(line.get("devices"))) devices.push_back(device_from(item));
  const Json sets = counters_from(line.get("counters"));
  for (const auto& one : sets.members())
    counters.push_back(Json::object({{"name", one.name()}, {"counters", one.value}}));
  Json spec = Json::object({{"driver", line.get("driver", kDriver)},
                            {"nodeName", node},
                            {"pool", Json::object({{"name", node},
                                                   {"generation", std::int64_t{1}},
                                                   {"resourceSliceCount", number(line, "slices", 1)}})}});
  if (!devices.empty()) spec.set("devices", Json::array(std::move(devices)));
  if (!counters.empty()) spec.set("sharedCounters", Json::array(std::move(counters)));
  Json out = cluster_object(name);
  out.set("spec", std::move(spec));
  return out;
}

base::Result<Json> class_from(const Line& line, const std::string& name) {
  TRY_VOID(check_words(line, {"driver", "when"}));
  std::vector<Json> selectors;
  if (const std::string* driver = line.find("driver"))
    selectors.push_back(selector(base::format("device.driver == \"{}\"", *driver)));
  if (const std::string* when = line.find("when")) selectors.push_back(selector(*when));
  Json out = cluster_object(name);
  if (!selectors.empty()) out.set("spec", Json::object({{"selectors", Json::array(std::move(selectors))}}));
  return out;
}

// ---- CPUs

// "2x4x2": sockets, cores of each, threads of each; a NUMA node is a socket.
Json cpus_from(const std::string& layout) {
  const std::vector<std::string> sides = split(layout, 'x');
  const auto side = [&](std::size_t i) -> std::int64_t { return i < sides.size() ? std::atoll(sides[i].c_str()) : 1; };
  Json out = Json::object();
  std::int64_t cpu = 0;
  for (std::int64_t socket = 0; socket < side(0); ++socket) {
    for (std::int64_t core = 0; core < side(1); ++core) {
      for (std::int64_t thread = 0; thread < side(2); ++thread)
        out.set(std::to_string(cpu++),
                Json::object({{"numa", socket}, {"socket", socket}, {"core", socket * side(1) + core}}));
    }
  }
  return out;
}

base::Result<Json> numa_from(const Line& line, const std::string& name) {
  TRY_VOID(check_words(line, {"policy", "manager", "layout", "free", "capacity", "reserved"}));
  Json spec = Json::object({{"policies", Json::object({{"CPUManagerPolicy", line.get("manager", "static")},
                                                       {"TopologyManagerPolicy", line.get("policy", "none")}})}});
  const Json cpus = cpus_from(line.get("layout", "0"));
  const auto count = static_cast<std::int64_t>(cpus.members().size());
  if (line.find("layout") != nullptr) spec.set("cpuDetail", cpus);
  if (line.find("layout") != nullptr || line.find("free") != nullptr) {
    Json cpu = Json::object({{"allocatable", line.get("free", base::format("0-{}", count - 1))}});
    cpu.set("capacity", number(line, "capacity", count));
    spec.set("numares", Json::object({{"cpu", std::move(cpu)}}));
  }
  if (const std::string* reserved = line.find("reserved")) spec.set("resReserved", Json::object({{"cpu", *reserved}}));
  Json out = cluster_object(name);
  out.set("spec", std::move(spec));
  return out;
}

// ---- configuration and reports of device plugins

Json config_map(const std::string& name, const std::string& key, const Json& value) {
  return Json::object({{"metadata", named(name)}, {"data", Json::object({{key, value.dump()}})}});
}

// "A30(g1(1g:6000:4 2g:12000:2))": a model, its groups of instances, and each instance's memory and number.
Json geometries_from(const std::string& text) {
  std::vector<Json> models;
  for (const Line& model : items_of(text)) {
    std::vector<Json> groups;
    for (const auto& [word, unused] : model.fields) {
      for (const Line& group : items_of(word)) {
        std::vector<Json> instances;
        for (const auto& [instance, nothing] : group.fields) {
          const std::vector<std::string> parts = split(instance, ':');
          if (parts.size() != 3) continue;
          instances.push_back(Json::object({{"name", parts[0]},
                                            {"memory", static_cast<std::int64_t>(std::atoll(parts[1].c_str()))},
                                            {"count", static_cast<std::int64_t>(std::atoll(parts[2].c_str()))}}));
        }
        groups.push_back(Json::object({{"group", group.name}, {"geometries", Json::array(std::move(instances))}}));
      }
    }
    models.push_back(Json::object(
        {{"models", Json::array({Json(model.name)})}, {"allowedGeometries", Json::array(std::move(groups))}}));
  }
  return Json::array(std::move(models));
}

base::Result<Json> device_config_from(const Line& line, const std::string& name) {
  TRY_VOID(check_words(line, {"count", "memory", "cores", "percentage", "factor", "mig", "vnpus"}));
  Json nvidia = Json::object(), document = nvidia;
  const std::pair<const char*, const char*> names[] = {{"count", "resourceCountName"},
                                                       {"memory", "resourceMemoryName"},
                                                       {"cores", "resourceCoreName"},
                                                       {"percentage", "resourceMemoryPercentageName"}};
  for (const auto& [word, field] : names) {
    if (const std::string* text = line.find(word)) nvidia.set(field, *text);
  }
  if (line.find("factor") != nullptr) nvidia.set("gpuMemoryFactor", number(line, "factor", 1));
  if (const std::string* text = line.find("mig")) nvidia.set("knownMigGeometries", geometries_from(*text));
  if (!nvidia.members().empty()) document.set("nvidia", std::move(nvidia));
  std::vector<Json> chips;
  for (const Line& chip : items_of(line.get("vnpus"))) {
    const std::string resource = "huawei.com/" + chip.name;
    chips.push_back(Json::object({{"chipName", chip.get("chip", chip.name)},
                                  {"commonWord", chip.name},
                                  {"resourceName", resource},
                                  {"resourceMemoryName", resource + "-memory"},
                                  {"memoryAllocatable", number(chip, "memory", 65536)},
                                  {"memoryCapacity", number(chip, "memory", 65536)},
                                  {"aiCore", number(chip, "cores", 20)}}));
  }
  if (!chips.empty()) document.set("vnpus", Json::array(std::move(chips)));
  return config_map(name, "device-config.yaml", document);
}

Json chips_from(const Line& line) {
  const auto list = [](const std::string& ids) {
    std::string out;
    for (const std::string& id : split(ids, ',')) out += (out.empty() ? "" : ",") + ("Ascend310P-" + id);
    return out;
  };
  return Json::object({{"DeviceList", Json::object({{"huawei.com/Ascend310P", list(line.get("chips"))},
                                                    {"huawei.com/Ascend310P-Unhealthy", list(line.get("unhealthy"))}})},
                       {"UpdateTime", std::int64_t{1'700'000'000}}});
}

// The ConfigMap of one node's device plugin about its chips.
base::Result<Json> chips_of_node(const Line& line, const std::string& node) {
  TRY_VOID(check_words(line, {"chips", "unhealthy", "switch"}));
  Json out = config_map("kube-system/mindx-dl-deviceinfo-" + node, "DeviceInfoCfg",
                        Json::object({{"DeviceInfo", chips_from(line)}, {"CheckCode", "0"}}));
  if (const std::string* status = line.find("switch"))
    out.edit("data").set("SwitchInfoCfg",
                         Json::object({{"FaultCode", Json::array({})}, {"NodeStatus", *status}}).dump());
  return out;
}

// The ConfigMap of ClusterD about the chips of many nodes.
base::Result<Json> chips_of_cluster(const Line& line, const std::string& name) {
  TRY_VOID(check_words(line, {"nodes"}));
  Json nodes = Json::object();
  for (const Line& node : items_of(line.get("nodes"))) nodes.set("mindx-dl-deviceinfo-" + node.name, chips_from(node));
  return config_map(name, name.substr(name.find('/') + 1), nodes);
}

struct DeviceKind {
  std::string_view verb;
  const api::ResourceId* resource;
  base::Result<Json> (*make)(const Line&, const std::string&);
};
const DeviceKind kKinds[] = {
    {"deviceclass", &api::resources::kDeviceClasses, class_from},
    {"resourceslice", &api::resources::kResourceSlices, slice_from},
    {"resourceclaim", &api::resources::kResourceClaims, claim_from},
    {"numatopology", &api::resources::kNumatopologies, numa_from},
    {"deviceconfig", &api::resources::kConfigMaps, device_config_from},
    {"npus", &api::resources::kConfigMaps, chips_of_node},
    {"npureport", &api::resources::kConfigMaps, chips_of_cluster},
};

}  // namespace

void add_cards(const Line& line, Json& node) {
  if (const std::string* list = line.find("vgpus")) {
    std::string text;
    std::int64_t sharers = 0, memory = 0, cores = 0;
    for (const Line& card : items_of(*list)) {
      text += base::format("{},{},{},{},{},{}:", card.name, number(card, "count", 10), number(card, "memory", 8000),
                           card.get("type", "NVIDIA-A100"), card.find("unhealthy") == nullptr ? "true" : "false",
                           card.get("mode", "hami-core"));
      sharers += number(card, "count", 10), memory += number(card, "memory", 8000), cores += 100;
    }
    node.edit("metadata").edit("annotations").set("volcano.sh/node-vgpu-register", text);
    const bool names_own = std::any_of(line.fields.begin(), line.fields.end(),
                                       [](const auto& field) { return field.first.find('/') != std::string::npos; });
    for (const char* part : {"allocatable", "capacity"}) {
      if (names_own) break;
      Json& amounts = node.edit("status").edit(part);
      amounts.set("volcano.sh/vgpu-number", std::to_string(sharers));
      amounts.set("volcano.sh/vgpu-memory", std::to_string(memory));
      amounts.set("volcano.sh/vgpu-cores", std::to_string(cores));
    }
  }
  if (const std::string* list = line.find("vnpus")) {
    std::vector<Json> cards;
    std::string type;
    for (const Line& card : items_of(*list)) {
      type = card.get("type", "Ascend310P");
      Json one = Json::object({{"id", card.name},
                               {"count", number(card, "count", 7)},
                               {"devmem", number(card, "memory", 21527)},
                               {"devcore", number(card, "cores", 8)},
                               {"type", type},
                               {"health", card.find("unhealthy") == nullptr}});
      if (card.find("network") != nullptr)
        one.set("customInfo", Json::object({{"NetworkID", number(card, "network", 0)}}));
      cards.push_back(std::move(one));
    }
    node.edit("metadata")
        .edit("annotations")
        .set("hami.io/node-register-" + type, Json::array(std::move(cards)).dump());
  }
}

void add_device_requests(const Line& line, Json& pod) {
  Json& resources = pod.edit("spec").edit("containers").edit(std::size_t{0}).edit("resources");
  if (const std::string* cores = line.find("npu")) {
    resources.edit("requests").set("huawei.com/npu-core", *cores);
    Json& labels = pod.edit("metadata").edit("labels");
    labels.set("ring-controller.atlas", "ascend-310P");
    for (const char* word : {"level", "dvpp"}) {
      if (const std::string* text = line.find(word)) labels.set(std::string("vnpu-") + word, *text);
    }
  }
  // Kubernetes takes what is not a cpu and no memory only where the limit is the request.
  const Json requests = resources["requests"];
  for (const auto& one : requests.members()) {
    if (line.find("limits") != nullptr) break;
    if (line.find("guaranteed") != nullptr || one.name().find('/') != std::string_view::npos)
      resources.edit("limits").set(one.name(), one.value);
  }
  std::vector<Json> claims, statuses;
  for (const std::string& name : split(line.get("resourceclaims"), ','))
    claims.push_back(Json::object({{"name", name}, {"resourceClaimName", name}}));
  for (const std::string& made : split(line.get("claimtemplates"), ',')) {  // t or t:the-claim-made-from-it
    const std::size_t colon = made.find(':');
    const std::string name = made.substr(0, colon);
    claims.push_back(Json::object({{"name", name}, {"resourceClaimTemplateName", name}}));
    if (colon != std::string::npos)
      statuses.push_back(Json::object({{"name", name}, {"resourceClaimName", made.substr(colon + 1)}}));
  }
  if (!claims.empty()) pod.edit("spec").set("resourceClaims", Json::array(std::move(claims)));
  if (!statuses.empty()) pod.edit("status").set("resourceClaimStatuses", Json::array(std::move(statuses)));
  if (const std::string* held = line.find("holds")) {  // CARD:MEMORY[:CORES],... of one container
    std::string text;
    for (const std::string& one : split(*held, ',')) {
      const std::vector<std::string> parts = split(one, ':');
      text += base::format("{},NVIDIA-A100,{},{}:", parts[0], parts.size() > 1 ? parts[1] : "0",
                           parts.size() > 2 ? parts[2] : "0");
    }
    pod.edit("metadata").edit("annotations").set("volcano.sh/vgpu-ids-new", text);
  }
}

base::Result<std::optional<Made>> device_object(const Line& line, const std::string& name) {
  for (const DeviceKind& kind : kKinds) {
    if (kind.verb != line.verb) continue;
    TRY(Json object, kind.make(line, name));
    return std::optional<Made>(Made{*kind.resource, std::move(object)});
  }
  return std::optional<Made>();
}

}  // namespace scenario
