// HAMi vNPU: Ascend cards shared by templates of fixed size, or by memory and cores.
#include <algorithm>
#include <map>

#include "api/json/yaml.h"
#include "base/format.h"
#include "scheduler/plugins/devices/device_family.h"

namespace scheduler {
namespace {

using api::Json;

constexpr std::int64_t kAmountMax = std::int64_t{1} << 40;
constexpr std::size_t kCardsMax = 256;
constexpr std::int64_t kCoresOfCard = 100;  // in hami-core mode

struct Template {
  std::string name;
  std::int64_t memory = 0;
  std::int64_t cores = 0;
};

// One kind of card, as the device configuration describes it.
struct Chip {
  std::string word, resource, memory_resource, core_resource;
  std::int64_t memory_allocatable = 0, memory_capacity = 0, cores = 0;
  std::vector<Template> templates;  // by memory, ascending
};

struct Card {
  std::size_t index = 0;
  std::string id, type;
  std::int64_t count = 0, memory = 0, cores = 0, network = -1;
  bool healthy = true, chosen = false;
  std::int64_t used_count = 0, used_memory = 0, used_cores = 0;
};

struct Wanted {
  std::int64_t count = 0, memory = 0, cores = 0;
  std::string piece;  // of a template; empty: whole cards, or memory as asked for
};

std::int64_t amount(const Json& json, std::int64_t fallback = 0) {
  return json.is_number() ? std::clamp<std::int64_t>(json.as_int(), 0, kAmountMax) : fallback;
}

Chip usual_chip() {
  return {"Ascend310P",
          "huawei.com/Ascend310P",
          "huawei.com/Ascend310P-memory",
          "huawei.com/Ascend310P-core",
          21527,
          24576,
          8,
          {{"vir01", 3072, 1}, {"vir02", 6144, 2}, {"vir04", 12288, 4}}};
}

Chip chip_from(const Json& json) {
  Chip out;
  out.word = json["commonWord"].str();
  out.resource = json["resourceName"].str();
  out.memory_resource = json["resourceMemoryName"].str();
  out.core_resource = out.resource + "-core";
  out.memory_allocatable = amount(json["memoryAllocatable"]);
  out.memory_capacity = amount(json["memoryCapacity"]);
  out.cores = amount(json["aiCore"]);
  for (const Json& one : json["templates"].items())
    out.templates.push_back({one["name"].str(), amount(one["memory"]), amount(one["aiCore"])});
  std::stable_sort(out.templates.begin(), out.templates.end(),
                   [](const Template& a, const Template& b) { return a.memory < b.memory; });
  return out;
}

class HamiVnpu final : public DeviceFamily {
 public:
  HamiVnpu(Model& model, VgpuSettings settings) : model_(model), settings_(std::move(settings)) { use({usual_chip()}); }
  std::string_view lock_name() const override { return "hami.io/mutex.lock"; }

  bool refresh() override {
    const Json& data = model_.devices.configs.data_of(settings_.config_map)["device-config.yaml"];
    if (data == read_from_) return false;
    read_from_ = data;
    const auto parsed = api::parse_yaml(data.as_string());
    const Json& vnpus = parsed.ok() ? (*parsed)["vnpus"] : data;
    std::vector<Chip> chips;
    for (const Json& one : (vnpus.is_array() ? vnpus : vnpus["configs"]).items()) {
      if (Chip chip = chip_from(one); !chip.word.empty() && chip.resource.find('/') != std::string::npos)
        chips.push_back(std::move(chip));
    }
    core_mode_ = vnpus["hamiVnpuCore"].as_bool();
    use(chips.empty() ? std::vector<Chip>{usual_chip()} : std::move(chips));
    return true;
  }

  bool wants(const Shape& shape) const override {
    return std::any_of(chips_.begin(), chips_.end(), [&](const Chip& chip) { return wants(shape, chip); });
  }
  bool is_on(NodeId node) const override {
    return std::any_of(chips_.begin(), chips_.end(), [&](const Chip& chip) { return is_on(node, chip); });
  }

  std::optional<DeviceTake> take(const Task& task, NodeId node, base::Time now, DeviceMisfit& misfit) const override {
    DeviceTake out;
    const Shape& shape = model_.shape_of(task);
    for (const Chip& chip : chips_) {
      if (wants(shape, chip) && is_on(node, chip) && !take_chip(shape, chip, node, out, misfit)) return std::nullopt;
    }
    const std::string seconds = std::to_string(now.ns / 1'000'000'000);
    out.annotations.insert_or_assign("predicate-time", seconds);
    out.annotations.insert_or_assign("hami.io/vgpu-node", model_.nodes[node].name);
    out.annotations.insert_or_assign("hami.io/vgpu-time", seconds);
    out.annotations.insert_or_assign("hami.io/bind-phase", "allocating");
    out.annotations.insert_or_assign("hami.io/bind-time", seconds);
    return out;
  }

 private:
  void use(std::vector<Chip> chips) {
    chips_ = std::move(chips);
    // Amounts that the cards themselves keep count of are not resources of the node.
    for (const Chip& chip : chips_) {
      model_.ignore_resource(chip.memory_resource);
      model_.ignore_resource(chip.core_resource);
    }
  }

  static std::string register_key(const Chip& chip) { return "hami.io/node-register-" + chip.word; }

  static bool wants(const Shape& shape, const Chip& chip) {
    return std::any_of(shape.asks.begin(), shape.asks.end(),
                       [&](const ContainerAsk& ask) { return ask.devices.contains(chip.resource); });
  }

  bool is_on(NodeId node, const Chip& chip) const {
    const Json& facts = model_.devices.node(node);
    const auto offered = api::Quantity::from_json(facts["allocatable"][chip.resource]);
    return offered && !offered->is_zero() && facts["annotations"].has(register_key(chip));
  }

  bool shares_cores(const Shape& shape, NodeId node) const {
    if (value_in(shape.device_preferences, "huawei.com/vnpu-mode") != "hami-core") return false;
    return core_mode_ || model_.devices.node(node)["annotations"]["hami-vnpu-core"].as_string() == "true";
  }

  // Empty when a card has no such piece.
  static std::optional<Wanted> wanted_by(const ContainerAsk& ask, const Chip& chip, bool shares_cores) {
    const auto asked = [&](const std::string& name) -> std::int64_t {
      auto found = ask.devices.find(name);
      return found == ask.devices.end() ? 0 : std::clamp<std::int64_t>(found->second, 0, kAmountMax);
    };
    Wanted out{asked(chip.resource), asked(chip.memory_resource), asked(chip.core_resource), ""};
    if (out.count == 0 || out.memory == 0 || shares_cores) return out;
    if (out.memory > chip.memory_capacity) return std::nullopt;
    for (const Template& one : chip.templates) {
      if (one.memory < out.memory) continue;
      out.memory = one.memory;
      out.cores = one.cores;
      out.piece = one.name;
      return out.count > 1 ? std::nullopt : std::optional(out);
    }
    out.memory = chip.memory_allocatable;
    return out;
  }

  bool take_chip(const Shape& shape, const Chip& chip, NodeId node, DeviceTake& out, DeviceMisfit& misfit) const {
    std::vector<Card> cards = cards_of(chip, node);
    const bool cores = shares_cores(shape, node);
    std::string text;
    std::vector<Json> chosen;
    for (const ContainerAsk& ask : shape.asks) {
      if (ask.init) continue;
      const auto wanted = wanted_by(ask, chip, cores);
      if (!wanted) {
        misfit = {FitCode::kError, base::format("{}: no such part of a card", chip.resource)};
        return false;
      }
      if (!text.empty() || !chosen.empty()) text += ';';
      if (wanted->count > 0 && !take_cards(chip, *wanted, cores, cards, text, chosen, out.score)) {
        misfit = {FitCode::kUnschedulable, "no ascend device available"};
        return false;
      }
    }
    out.annotations.insert_or_assign("hami.io/" + chip.word + "-devices-to-allocate", text);
    out.annotations.insert_or_assign("hami.io/" + chip.word + "-devices-allocated", text);
    out.annotations.insert_or_assign("huawei.com/" + chip.word, Json::array(std::move(chosen)).dump());
    return true;
  }

  std::vector<Card> cards_of(const Chip& chip, NodeId node) const {
    std::vector<Card> out;
    const auto list = api::parse_json(model_.devices.node(node)["annotations"][register_key(chip)].as_string());
    if (!list.ok()) return out;
    for (const Json& one : list->items()) {
      if (out.size() >= kCardsMax || one["id"].as_string().empty()) continue;
      Card card{.index = out.size(),
                .id = one["id"].str(),
                .type = one["type"].str(),
                .count = amount(one["count"]),
                .memory = amount(one["devmem"]),
                .cores = amount(one["devcore"]),
                .network = amount(one["customInfo"]["NetworkID"], -1)};
      card.healthy = one["health"].as_bool(true);
      out.push_back(std::move(card));
    }
    const std::string key = "hami.io/" + chip.word + "-devices-allocated";
    for_each_holder(model_, node, [&](const Task&, const Annotations& devices) {
      for_each_device_in(value_in(devices, key), [&](std::string_view id, std::int64_t memory, std::int64_t cores) {
        for (Card& card : out) {
          if (card.id != id) continue;
          ++card.used_count;
          card.used_memory = std::min(card.used_memory + memory, kAmountMax);
          card.used_cores = std::min(card.used_cores + cores, kAmountMax);
        }
      });
    });
    return out;
  }

  double score_of(const Card& card, std::int64_t more) const {
    return card_score(settings_.policy, card.used_memory + more, card.memory, card.used_count == 0);
  }

  static bool fits(const Chip& chip, const Card& card, const Wanted& wanted, std::int64_t memory, bool shares_cores) {
    const std::int64_t total = shares_cores ? kCoresOfCard : card.cores;
    if (!card.healthy || card.chosen || card.type != chip.word || card.used_count >= card.count) return false;
    if (card.memory - card.used_memory < memory || total - card.used_cores < wanted.cores) return false;
    if (wanted.cores == kCoresOfCard && card.used_count > 0) return false;
    return wanted.cores != 0 || card.used_cores < total || total == 0;
  }

  bool take_cards(const Chip& chip, const Wanted& wanted, bool shares_cores, std::vector<Card>& cards,
                  std::string& text, std::vector<Json>& chosen, double& score) const {
    std::vector<Card*> fitting;
    for (Card& card : cards) {
      if (fits(chip, card, wanted, wanted.memory > 0 ? wanted.memory : card.memory, shares_cores))
        fitting.push_back(&card);
    }
    if (static_cast<std::int64_t>(fitting.size()) < wanted.count) return false;
    std::stable_sort(fitting.begin(), fitting.end(),
                     [&](const Card* a, const Card* b) { return score_of(*a, 0) > score_of(*b, 0); });
    std::map<std::int64_t, std::int64_t> networks;
    const bool linked = chip.word.starts_with("Ascend910") &&
                        std::all_of(cards.begin(), cards.end(), [](const Card& c) { return c.network >= 0; });
    if (linked) {
      for (const Card* card : fitting) ++networks[card->network];
      std::stable_sort(fitting.begin(), fitting.end(), [&](const Card* a, const Card* b) {
        const std::int64_t left = networks[a->network], right = networks[b->network];
        return left != right ? left > right : a->network < b->network;
      });
    }
    std::map<std::int64_t, std::int64_t> of_network;
    std::int64_t most = 0;
    for (std::int64_t i = 0; i < wanted.count; ++i) {
      Card& card = *fitting[static_cast<std::size_t>(i)];
      const std::int64_t memory = wanted.memory > 0 ? wanted.memory : card.memory;
      score += score_of(card, memory);
      most = std::max(most, ++of_network[card.network]);
      card.chosen = true;
      ++card.used_count;
      card.used_memory += memory;
      card.used_cores += wanted.cores;
      text += base::format("{},{},{},{}:", card.id, card.type, memory, wanted.cores);
      Json one = Json::object({{"UUID", card.id}});
      if (!wanted.piece.empty())
        one.set("temp", wanted.piece);
      else if (shares_cores)
        one.set("memory", memory), one.set("core", wanted.cores);
      chosen.push_back(std::move(one));
    }
    if (linked) score += 10.0 * static_cast<double>(most) / static_cast<double>(wanted.count);
    return true;
  }

  Model& model_;
  const VgpuSettings settings_;
  std::vector<Chip> chips_;
  bool core_mode_ = false;
  Json read_from_;
};

}  // namespace

std::unique_ptr<DeviceFamily> make_hami_vnpu(Model& model, VgpuSettings settings) {
  return std::make_unique<HamiVnpu>(model, std::move(settings));
}

}  // namespace scheduler
