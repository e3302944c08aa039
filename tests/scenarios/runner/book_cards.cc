// Which cards of a node does the specification (5.16.3 and 5.16.4) give to a pod?
#include "book_cards.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

namespace scenario::book {
namespace {

double whole(const Amounts& amounts, const char* name) { return amounts[std::string("volcano.sh/") + name] / 1000; }

// ---- 5.16.3: cards shared by memory, or given whole

std::optional<CardChoice> choose_shared(bool by_memory, const Node& node, const Pod& pod,
                                        const std::vector<const Pod*>& others) {
  const double wanted = whole(pod.asks, by_memory ? "gpu-memory" : "gpu-number");
  const int cards = static_cast<int>(whole(node.all, "gpu-number"));
  if (wanted == 0 || cards == 0) return CardChoice();
  const double each = std::floor(whole(node.all, "gpu-memory") / cards);
  const api::Json notes = map_from(node.words.get("annotations"));
  const std::vector<std::string> bad = split(notes["volcano.sh/gpu-unhealthy-ids"].str(), ',');
  CardChoice out;
  for (int card = 0; card < cards; ++card) {
    if (std::find(bad.begin(), bad.end(), std::to_string(card)) != bad.end()) continue;
    double used = 0;
    int users = 0;
    for (const Pod* other : others) {
      if (!other->given.shared_gpus.contains(card)) continue;
      used += whole(other->asks, "gpu-memory"), ++users;
    }
    if (by_memory ? each - used < wanted : users > 0) continue;
    out.shared_gpus.insert(card);
    if (by_memory || static_cast<double>(out.shared_gpus.size()) == wanted) return out;
  }
  return std::nullopt;
}

// ---- 5.16.4: HAMi's vGPUs

struct Card {
  std::string id, type;
  std::size_t index = 0;
  double sharers = 0, all = 0;  // what it has
  double users = 0, memory = 0, cores = 0;
  bool is_healthy = true, has_group = false;
};

std::vector<Card> cards_of(const Node& node, const Pod& pod, const std::vector<const Pod*>& others) {
  std::vector<Card> out;
  for (const Line& words : items_of(node.words.get("vgpus"))) {
    Card card{.id = words.name, .type = words.get("type", "NVIDIA-A100"), .index = out.size()};
    card.sharers = number_of(words, "count", 10);
    card.all = number_of(words, "memory", 8000);
    card.is_healthy = words.find("unhealthy") == nullptr;
    for (const Pod* other : others) {
      for (const CardPart& part : other->given.cards) {
        if (part.card != card.id) continue;
        card.users += 1, card.memory += part.memory, card.cores += part.cores;
        card.has_group |= other->group == pod.group;
      }
    }
    out.push_back(card);
  }
  return out;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool is_allowed(const Card& card, const Pod& pod) {
  const std::string use = pod.annotation("volcano.sh/vgpu-use-gpuuuid"),
                    avoid = pod.annotation("volcano.sh/vgpu-nouse-gpuuuid"),
                    type = pod.annotation("nvidia.com/use-gputype"),
                    no_type = pod.annotation("nvidia.com/nouse-gputype");
  if (!use.empty() && use != card.id) return false;
  if (!avoid.empty() && avoid == card.id) return false;
  if (card.type.find("NVIDIA") == std::string::npos) return false;
  if (!type.empty()) return lower(card.type).find(lower(type)) != std::string::npos;
  return no_type.empty() || lower(card.type).find(lower(no_type)) == std::string::npos;
}

std::optional<CardChoice> choose_vgpus(const std::string& policy, const Node& node, const Pod& pod,
                                       const std::vector<const Pod*>& others) {
  const double memory = whole(pod.asks, "vgpu-memory"), cores = whole(pod.asks, "vgpu-cores");
  double count = whole(pod.asks, "vgpu-number");
  if (count == 0 && memory > 0) count = 1;
  std::vector<Card> cards = cards_of(node, pod, others);
  if (count == 0 || cards.empty()) return CardChoice();
  const std::string mode = pod.annotation("volcano.sh/vgpu-mode");
  if (!mode.empty() && mode != "hami-core") return std::nullopt;
  if (count > static_cast<double>(cards.size())) return std::nullopt;
  std::sort(cards.begin(), cards.end(), [&](const Card& a, const Card& b) {
    if (policy == "binpack" && a.memory != b.memory) return a.memory > b.memory;
    if (policy == "spread" && a.users != b.users) return a.users < b.users;
    return policy == "binpack" || policy == "spread" ? a.index < b.index : a.index > b.index;
  });
  const bool apart = pod.annotation("volcano.sh/vgpu-podgroup-policy") == "spread";
  CardChoice out;
  for (const Card& card : cards) {
    const double wanted = memory > 0 ? memory : card.all;
    if (!card.is_healthy || !is_allowed(card, pod) || card.users >= card.sharers) continue;
    if (apart && card.has_group) continue;
    if (card.all - card.memory < wanted || card.cores + cores > 100) continue;
    if ((cores == 100 && card.users > 0) || (card.cores == 100 && cores == 0)) continue;
    out.cards.push_back({card.id, wanted, cores});
    if (policy == "binpack") out.score += 100 * (card.memory + wanted) / card.all;
    if (static_cast<double>(out.cards.size()) == count) return out;
  }
  return std::nullopt;
}

}  // namespace

std::optional<CardChoice> choose_cards(const Plugin& deviceshare, const Node& node, const Pod& pod,
                                       const std::vector<const Pod*>& others) {
  if (deviceshare.is_on("deviceshare.GPUSharingEnable")) return choose_shared(true, node, pod, others);
  if (deviceshare.is_on("deviceshare.GPUNumberEnable")) return choose_shared(false, node, pod, others);
  if (!deviceshare.is_on("deviceshare.VGPUEnable")) return CardChoice();
  const auto policy = deviceshare.arguments.find("deviceshare.SchedulePolicy");
  auto out = choose_vgpus(policy == deviceshare.arguments.end() ? "" : policy->second, node, pod, others);
  if (out) out->score = std::round(out->score);
  return out;
}

}  // namespace scenario::book
