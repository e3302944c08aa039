// GPU share: cards of a node shared by memory, or given out whole.
#include <algorithm>

#include "base/format.h"
#include "base/number.h"
#include "base/split.h"
#include "scheduler/plugins/devices/device_family.h"

namespace scheduler {

std::vector<std::string_view> split_text(std::string_view text, char by) {
  std::vector<std::string_view> out = base::split(text, by);
  if (out.back().empty()) out.pop_back();
  return out;
}

std::optional<std::int64_t> amount_in(std::string_view text) {
  const auto out = base::parse_number<std::int64_t>(text);
  return out && *out >= 0 && *out <= std::int64_t{1} << 50 ? out : std::nullopt;
}

namespace {

constexpr std::string_view kMemory = "volcano.sh/gpu-memory";
constexpr std::string_view kNumber = "volcano.sh/gpu-number";
constexpr std::string_view kIndex = "volcano.sh/gpu-index";
constexpr std::int64_t kCardsMax = 1024;

// The sum over containers, or the largest init container where that is more.
std::int64_t request_of(const Shape& shape, std::string_view resource) {
  std::int64_t sum = 0, most = 0;
  for (const ContainerAsk& ask : shape.asks) {
    auto found = ask.devices.find(resource);
    if (found == ask.devices.end()) continue;
    if (ask.init)
      most = std::max(most, found->second);
    else
      sum = std::min<std::int64_t>(sum + found->second, std::int64_t{1} << 50);
  }
  return std::max(sum, most);
}

std::int64_t offer_of(const api::Json& facts, std::string_view resource) {
  const api::Json& capacity =
      facts["capacity"].has(resource) ? facts["capacity"][resource] : facts["allocatable"][resource];
  const auto amount = api::Quantity::from_json(capacity);
  return amount ? std::clamp<std::int64_t>(amount->value(), 0, std::int64_t{1} << 50) : 0;
}

class GpuShare final : public DeviceFamily {
 public:
  GpuShare(const Model& model, bool memory) : model_(model), memory_(memory) {}
  std::string_view lock_name() const override { return "gpu"; }
  bool wants(const Shape& shape) const override { return request_of(shape, memory_ ? kMemory : kNumber) > 0; }
  bool is_on(NodeId node) const override { return offer_of(model_.devices.node(node), kNumber) > 0; }

  std::optional<DeviceTake> take(const Task& task, NodeId node, base::Time now, DeviceMisfit& misfit) const override {
    const std::vector<Card> cards = cards_of(node);
    const std::int64_t wanted = request_of(model_.shape_of(task), memory_ ? kMemory : kNumber);
    std::string index;
    if (memory_) {
      auto free = std::find_if(cards.begin(), cards.end(), [&](const Card& card) { return card.idle >= wanted; });
      if (free == cards.end()) return refuse(misfit, "GpuShare no enough gpu memory on node ", node);
      index = std::to_string(free->id);
    } else {
      std::int64_t found = 0;
      for (const Card& card : cards) {
        if (found == wanted || card.used) continue;
        index += (found++ > 0 ? "," : "") + std::to_string(card.id);
      }
      if (found < wanted) return refuse(misfit, "GpuNumber no enough gpu number on node ", node);
    }
    return DeviceTake{{{"volcano.sh/predicate-time", std::to_string(now.ns)}, {std::string(kIndex), index}}, 0};
  }

 private:
  struct Card {
    std::int64_t id;
    std::int64_t idle;
    bool used = false;
  };

  std::optional<DeviceTake> refuse(DeviceMisfit& misfit, std::string_view text, NodeId node) const {
    misfit = {FitCode::kUnschedulable, std::string(text) + model_.nodes[node].name};
    return std::nullopt;
  }

  std::vector<Card> cards_of(NodeId node) const {
    const api::Json& facts = model_.devices.node(node);
    const std::int64_t count = std::min(offer_of(facts, kNumber), kCardsMax);
    std::vector<Card> out;
    const auto unhealthy = split_text(facts["annotations"]["volcano.sh/gpu-unhealthy-ids"].as_string(), ',');
    for (std::int64_t id = 0; id < count; ++id) {
      const bool bad =
          std::any_of(unhealthy.begin(), unhealthy.end(), [&](std::string_view text) { return amount_in(text) == id; });
      if (!bad) out.push_back({id, offer_of(facts, kMemory) / count});
    }
    for_each_holder(model_, node, [&](const Task& task, const Annotations& devices) {
      const std::int64_t memory = request_of(model_.shape_of(task), kMemory);
      for (const std::string_view text : split_text(value_in(devices, kIndex), ',')) {
        for (Card& card : out) {
          if (amount_in(text) != card.id) continue;
          card.used = true;
          card.idle = std::max<std::int64_t>(card.idle - memory, 0);
        }
      }
    });
    return out;
  }

  const Model& model_;
  const bool memory_;
};

}  // namespace

std::unique_ptr<DeviceFamily> make_gpu_share(const Model& model, bool memory) {
  return std::make_unique<GpuShare>(model, memory);
}

}  // namespace scheduler
