// vGPU: cards of a node shared by memory and cores (HAMi core), or cut into fixed instances (MIG).
#include <algorithm>
#include <map>

#include "api/json/yaml.h"
#include "base/format.h"
#include "scheduler/plugins/devices/device_family.h"

namespace scheduler {
namespace {

using api::Json;

constexpr std::string_view kRegister = "volcano.sh/node-vgpu-register";
constexpr std::string_view kIds = "volcano.sh/vgpu-ids-new";
// The key that the device plugin looks for in the annotations of its pods, whatever the card's model.
constexpr std::string_view kRequestType = "NVIDIA";
constexpr std::size_t kCardsMax = 256;
constexpr std::int64_t kWantedMax = std::int64_t{1} << 40;
constexpr std::int64_t kUsedMax = std::int64_t{1} << 60;  // of a card, as pods say; what is wanted can be added to it
constexpr std::int64_t kPercentageMax = 1000;             // of a card's memory; no card has as much

// One kind of instance of a MIG geometry.
struct Instance {
  std::int64_t memory = 0;
  std::int64_t count = 0;
  std::int64_t offset = 0;  // of its first position
};
struct Geometry {
  std::string group;
  std::vector<Instance> instances;  // by memory, ascending
};
struct CardModel {
  std::vector<std::string> names;
  std::vector<Geometry> geometries;
};

struct Names {
  std::string number = "volcano.sh/vgpu-number";
  std::string memory = "volcano.sh/vgpu-memory";
  std::string cores = "volcano.sh/vgpu-cores";
  std::string percentage;
  std::int64_t memory_factor = 0;
  std::vector<CardModel> models;
};

struct Card {
  std::size_t index = 0;
  std::string uuid, type;
  std::int64_t count = 0, memory = 0;
  bool mig = false, healthy = true;
  const CardModel* geometry = nullptr;
  std::int64_t used_count = 0, used_memory = 0, used_cores = 0;
  struct Share {
    const Task* task;
    std::int64_t memory, cores;
  };
  std::vector<Share> shares;            // of the holders
  std::string group;                    // of the geometry in use
  std::vector<std::int64_t> positions;  // in use
  std::vector<const Task*> holders;
};

struct Wanted {
  std::int64_t count = 0, memory = 0, percentage = 0, cores = 0;
};

bool contains_ignoring_case(std::string_view text, std::string_view part) {
  const auto same = [](char a, char b) {
    return (a | 32) == (b | 32) && (a == b || ((a | 32) >= 'a' && (a | 32) <= 'z'));
  };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

bool lists_part_of(std::string_view list, std::string_view text) {
  for (const std::string_view one : split_text(list, ',')) {
    if (!one.empty() && contains_ignoring_case(text, one)) return true;
  }
  return false;
}

bool lists(std::string_view list, std::string_view text) {
  const auto parts = split_text(list, ',');
  return std::find(parts.begin(), parts.end(), text) != parts.end();
}

std::int64_t number_of(const Json& json) {
  return std::clamp<std::int64_t>(json.is_number() ? json.as_int() : 0, 0, kWantedMax);
}

Names names_from(std::string_view yaml) {
  Names out;
  const auto parsed = api::parse_yaml(yaml);
  if (!parsed.ok()) return out;
  const Json& nvidia = (*parsed)["nvidia"];
  const auto read = [&](const char* key, std::string& name) {
    if (!nvidia[key].as_string().empty()) name = nvidia[key].str();
  };
  read("resourceCountName", out.number);
  read("resourceMemoryName", out.memory);
  read("resourceCoreName", out.cores);
  read("resourceMemoryPercentageName", out.percentage);
  out.memory_factor = number_of(nvidia["gpuMemoryFactor"]);
  for (const Json& entry : nvidia["knownMigGeometries"].items()) {
    CardModel model;
    for (const Json& name : entry["models"].items()) model.names.push_back(name.str());
    for (const Json& allowed : entry["allowedGeometries"].items()) {
      Geometry geometry{.group = allowed["group"].str(), .instances = {}};
      std::int64_t offset = 0;
      for (const Json& one : allowed["geometries"].items()) {
        const std::int64_t count = std::min<std::int64_t>(number_of(one["count"]), 64);
        geometry.instances.push_back({number_of(one["memory"]), count, offset});
        offset += count;
      }
      std::stable_sort(geometry.instances.begin(), geometry.instances.end(),
                       [](const Instance& a, const Instance& b) { return a.memory < b.memory; });
      model.geometries.push_back(std::move(geometry));
    }
    out.models.push_back(std::move(model));
  }
  return out;
}

class Vgpu final : public DeviceFamily {
 public:
  Vgpu(Model& model, VgpuSettings settings) : model_(model), settings_(std::move(settings)) {}
  std::string_view lock_name() const override { return "hamivgpu"; }
  bool refresh() override {
    const api::Json& data = model_.devices.configs.data_of(settings_.config_map)["device-config.yaml"];
    if (data == read_from_) return false;
    read_from_ = data;
    names_ = names_from(data.as_string());
    // Nodes do not offer shares of a card: device plugins register its number, memory and cores.
    if (!names_.percentage.empty()) model_.ignore_resource(names_.percentage);
    return true;
  }

  bool wants(const Shape& shape) const override {
    return std::any_of(shape.asks.begin(), shape.asks.end(),
                       [&](const ContainerAsk& ask) { return wanted_by(ask).count > 0; });
  }

  bool is_on(NodeId node) const override {
    const Json& facts = model_.devices.node(node);
    const auto offers = [&](const std::string& name) {
      const auto amount = api::Quantity::from_json(facts["allocatable"][name]);
      return amount && !amount->is_zero();
    };
    return facts["annotations"].has(kRegister) && offers(names_.number) && offers(names_.memory) &&
           offers(names_.cores);
  }

  void held_by(const Task& task, const AmountSink& sink) const override {
    std::int64_t memory_sum = 0, cores_sum = 0;
    const std::string_view ids = value_in(*model_.devices.devices_of(task.id), kIds);
    if (ids.empty()) return;
    for_each_device_in(ids, [&](std::string_view, std::int64_t memory, std::int64_t cores) {
      memory_sum = std::min(memory_sum + memory, kWantedMax);
      cores_sum = std::min(cores_sum + cores, kWantedMax);
    });
    sink(names_.memory, static_cast<double>(memory_sum));
    sink(names_.cores, static_cast<double>(cores_sum));
  }

  // Which exclusive rules the pod falls under.
  std::uint32_t class_key(const Task& task) const override {
    std::uint32_t out = 0;
    for (std::size_t i = 0; i < settings_.exclusive_rules.size(); ++i) {
      if (matches(settings_.exclusive_rules[i], task)) out = out * 31 + static_cast<std::uint32_t>(i) + 1;
    }
    const Shape& shape = model_.shape_of(task);
    auto policy = shape.device_preferences.find("volcano.sh/vgpu-podgroup-policy");
    if (policy != shape.device_preferences.end() && task.job.is_set()) out = out * 31 + task.job.index + 1000;
    return out;
  }

  std::optional<DeviceTake> take(const Task& task, NodeId node, base::Time now, DeviceMisfit& misfit) const override {
    misfit = {FitCode::kUnschedulable, "hami-vgpuDeviceSharing error"};
    std::vector<Card> cards = cards_of(node);
    const Shape& shape = model_.shape_of(task);
    const std::string_view mode = value_in(shape.device_preferences, "volcano.sh/vgpu-mode");
    const bool mig = !cards.empty() && cards.front().mig;
    if (!mode.empty() && mode != (mig ? "mig" : "hami-core")) return std::nullopt;
    DeviceTake out;
    std::string ids;
    bool first = true;
    for (const ContainerAsk& ask : shape.asks) {
      if (ask.init) continue;
      const Wanted wanted = wanted_by(ask);
      if (!std::exchange(first, false)) ids += ';';
      if (wanted.count > static_cast<std::int64_t>(cards.size())) return std::nullopt;
      if (wanted.count > 0 && !take_cards(task, wanted, cards, ids, out.score)) return std::nullopt;
    }
    const std::string seconds = std::to_string(now.ns / 1'000'000'000);
    out.annotations = {{"volcano.sh/vgpu-node", model_.nodes[node].name},
                       {"volcano.sh/vgpu-time", seconds},
                       {std::string(kIds), ids},
                       {"volcano.sh/devices-to-allocate", ids},
                       {"volcano.sh/bind-phase", "allocating"},
                       {"volcano.sh/bind-time", seconds}};
    return out;
  }

  void report(const MetricSink& sink) const override {
    model_.nodes.known().for_each([&](std::uint32_t n) {
      if (!is_on(NodeId{n})) return;
      const std::string& node = model_.nodes[NodeId{n}].name;
      for (const Card& card : cards_of(NodeId{n})) {
        sink("vgpu_device_shared_number", {card.uuid, node}, static_cast<double>(card.used_count));
        sink("vgpu_device_allocated_memory", {card.uuid, node}, static_cast<double>(card.used_memory));
        sink("vgpu_device_allocated_cores", {card.uuid, node}, static_cast<double>(card.used_cores));
        sink("vgpu_device_memory_limit", {card.uuid, node}, static_cast<double>(card.memory));
        std::map<std::string, std::pair<std::int64_t, std::int64_t>> by_pod;
        for (const Card::Share& share : card.shares) {
          auto& [memory, cores] = by_pod[model_.task_key(share.task->id)];
          memory = std::min(memory + share.memory, kUsedMax);
          cores = std::min(cores + share.cores, kUsedMax);
        }
        for (const auto& [pod, amounts] : by_pod) {
          const std::vector<std::string> labels = {card.uuid, node, pod.substr(pod.find('/') + 1)};
          sink("vgpu_device_memory_allocation_for_a_certain_pod", labels, static_cast<double>(amounts.first));
          sink("vgpu_device_core_allocation_for_a_certain_pod", labels, static_cast<double>(amounts.second));
        }
      }
    });
  }

 private:
  bool matches(const Json& rule, const Task& task) const {
    const Labels& labels = model_.pods.label_set(task.labels).labels;
    return !rule.empty() && std::all_of(rule.members().begin(), rule.members().end(), [&](const Json::Member& pair) {
      const Symbol key = model_.symbols.find(pair.name()), value = model_.symbols.find(pair.value.as_string());
      return key.is_set() && value.is_set() && value_of(labels, key) == value;
    });
  }

  Wanted wanted_by(const ContainerAsk& ask) const {
    const auto amount = [&](const std::string& name) -> std::int64_t {
      auto found = ask.devices.find(name);
      return found == ask.devices.end() ? 0 : std::clamp<std::int64_t>(found->second, 0, kWantedMax);
    };
    Wanted out{amount(names_.number), amount(names_.memory), names_.percentage.empty() ? 0 : amount(names_.percentage),
               amount(names_.cores)};
    if (out.count == 0 && out.memory > 0) out.count = 1;
    if (out.memory == 0 && out.percentage == 0) out.percentage = 100;
    return out;
  }

  std::vector<Card> cards_of(NodeId node) const {
    std::vector<Card> out;
    const Json& annotations = model_.devices.node(node)["annotations"];
    for (const std::string_view record : split_text(annotations[kRegister].as_string(), ':')) {
      const auto parts = split_text(record, ',');
      const auto count = parts.size() < 5 ? std::nullopt : amount_in(parts[1]);
      const auto memory = parts.size() < 5 ? std::nullopt : amount_in(parts[2]);
      if (!count || !memory || out.size() >= kCardsMax) continue;
      Card card{.index = out.size(),
                .uuid = std::string(parts[0]),
                .type = std::string(parts[3]),
                .count = *count,
                .memory = *memory};
      card.healthy = parts[4] == "true";
      card.geometry = parts.size() > 5 && parts[5] == "mig" ? geometry_for(card.type) : nullptr;
      card.mig = card.geometry != nullptr;
      out.push_back(std::move(card));
    }
    for_each_holder(model_, node,
                    [&](const Task& task, const Annotations& devices) { count_holder(task, devices, out); });
    return out;
  }

  const CardModel* geometry_for(std::string_view type) const {
    for (const CardModel& model : names_.models) {
      for (const std::string& name : model.names) {
        if (!name.empty() && type.find(name) != std::string_view::npos) return &model;
      }
    }
    return nullptr;
  }

  static void count_holder(const Task& task, const Annotations& devices, std::vector<Card>& cards) {
    for_each_device_in(value_in(devices, kIds), [&](std::string_view id, std::int64_t memory, std::int64_t cores) {
      const std::size_t bracket = id.find('[');
      for (Card& card : cards) {
        if (card.uuid != id.substr(0, bracket)) continue;
        ++card.used_count;
        card.used_memory = std::min(card.used_memory + memory, kUsedMax);
        card.used_cores = std::min(card.used_cores + cores, kUsedMax);
        card.holders.push_back(&task);
        card.shares.push_back({&task, memory, cores});
        if (bracket != std::string_view::npos) read_position(id.substr(bracket + 1), card);
      }
    });
  }

  // "group-position]"
  static void read_position(std::string_view text, Card& card) {
    if (!text.ends_with(']')) return;
    text.remove_suffix(1);
    const std::size_t dash = text.rfind('-');
    const auto position = dash == std::string_view::npos ? std::nullopt : amount_in(text.substr(dash + 1));
    if (!position) return;
    card.group = text.substr(0, dash);
    card.positions.push_back(*position);
  }

  bool take_cards(const Task& task, const Wanted& wanted, std::vector<Card>& cards, std::string& ids,
                  double& score) const {
    std::vector<Card*> order;
    for (Card& card : cards) order.push_back(&card);
    std::stable_sort(order.begin(), order.end(), [&](const Card* a, const Card* b) {
      if (settings_.policy == DevicePolicy::kBinpack && a->used_memory != b->used_memory)
        return a->used_memory > b->used_memory;
      if (settings_.policy == DevicePolicy::kSpread)
        return a->used_count != b->used_count ? a->used_count < b->used_count : a->index < b->index;
      return settings_.policy == DevicePolicy::kBinpack ? a->index < b->index : a->index > b->index;
    });
    std::int64_t left = wanted.count;
    for (Card* card : order) {
      if (left == 0) break;
      const std::int64_t memory =
          wanted.percentage > 0 ? card->memory * std::min(wanted.percentage, kPercentageMax) / 100 : wanted.memory;
      if (!accepts(task, wanted, memory, *card)) continue;
      std::string id = card->uuid;
      std::int64_t given = memory;
      if (card->mig && !take_instance(*card, memory, id, given)) continue;
      ids += base::format("{},{},{},{}:", id, kRequestType, given, wanted.cores);
      const bool was_unused = card->used_count == 0;
      ++card->used_count;
      card->used_memory += given;
      card->used_cores += wanted.cores;
      --left;
      // COMPAT(vgpu-spread): in Volcano the card counts as used by then, so spread adds nothing.
      score += card_score(settings_.policy, card->used_memory, card->memory, settings_.spread_scores && was_unused);
    }
    return left == 0;
  }

  bool accepts(const Task& task, const Wanted& wanted, std::int64_t memory, const Card& card) const {
    const auto& preferences = model_.shape_of(task).device_preferences;
    // COMPAT(vgpu-health): a card that says it is ill takes no pod.
    if (!card.healthy) return false;
    if (const auto use = value_in(preferences, "volcano.sh/vgpu-use-gpuuuid"); !use.empty() && !lists(use, card.uuid))
      return false;
    if (lists(value_in(preferences, "volcano.sh/vgpu-nouse-gpuuuid"), card.uuid)) return false;
    if (card.used_count >= card.count || card.memory - card.used_memory < memory) return false;
    if (card.used_cores + wanted.cores > 100 || (wanted.cores == 100 && card.used_count > 0)) return false;
    if (wanted.cores == 0 && card.used_cores == 100) return false;
    if (card.type.find("NVIDIA") == std::string::npos) return false;
    if (const auto use = value_in(preferences, "nvidia.com/use-gputype"); !use.empty()) {
      if (!lists_part_of(use, card.type)) return false;
    } else if (lists_part_of(value_in(preferences, "nvidia.com/nouse-gputype"), card.type)) {
      return false;
    }
    const bool spreads = value_in(preferences, "volcano.sh/vgpu-podgroup-policy") == "spread" && task.job.is_set();
    for (const Task* holder : card.holders) {
      if (spreads && holder->job == task.job) return false;
      if (card.mig) continue;
      for (const Json& rule : settings_.exclusive_rules) {
        if (matches(rule, task) && matches(rule, *holder)) return false;
      }
    }
    return true;
  }

  // A free instance that is large enough; of the geometry in use, if there is one.
  // Cards register their memory in units of the factor; the geometries of instances are in the devices' own.
  bool take_instance(Card& card, std::int64_t memory, std::string& id, std::int64_t& given) const {
    const std::int64_t factor = std::max<std::int64_t>(names_.memory_factor, 1);
    for (const Geometry& geometry : card.geometry->geometries) {
      if (!card.group.empty() && card.group != geometry.group) continue;
      for (const Instance& instance : geometry.instances) {
        if (instance.memory / factor < memory) continue;
        for (std::int64_t i = 0; i < instance.count; ++i) {
          const std::int64_t position = instance.offset + i;
          if (std::find(card.positions.begin(), card.positions.end(), position) != card.positions.end()) continue;
          card.group = geometry.group;
          card.positions.push_back(position);
          given = instance.memory / factor;
          id = base::format("{}[{}-{}]", card.uuid, geometry.group, position);
          return true;
        }
      }
    }
    return false;
  }

  Model& model_;
  const VgpuSettings settings_;
  Names names_;
  api::Json read_from_;
};

}  // namespace

std::unique_ptr<DeviceFamily> make_vgpu(Model& model, VgpuSettings settings) {
  return std::make_unique<Vgpu>(model, std::move(settings));
}

}  // namespace scheduler
