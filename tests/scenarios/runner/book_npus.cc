// Which Ascend NPUs that HAMi registers does the specification (5.16.5) give to a pod?
#include "book_npus.h"

#include <algorithm>
#include <cstdlib>

namespace scenario::book {
namespace {

struct Template {
  double memory;
  std::string name;
  double cores;
};

// The configuration of a chip (5.16.1).
struct Family {
  std::string word;
  double most = 21527, capacity = 24576;  // memory
  std::vector<Template> templates = {};

  std::string resource() const { return "huawei.com/" + word; }
};

std::vector<Family> families_of(const Objects& objects) {
  std::vector<Family> out;
  const Plugin* plugin = objects.plugin("deviceshare");
  if (plugin == nullptr || !plugin->is_on("deviceshare.AscendHAMiVNPUEnable")) return out;
  for (const Line& chip : items_of(objects.device_config().get("vnpus"))) {
    const double memory = number_of(chip, "memory", 65536);
    out.push_back({.word = chip.name, .most = memory, .capacity = memory});
  }
  if (out.empty())
    out.push_back({.word = "Ascend310P", .templates = {{3072, "vir01", 1}, {6144, "vir02", 2}, {12288, "vir04", 4}}});
  return out;
}

struct Card {
  std::string id;
  const std::string* network = nullptr;
  double sharers = 0, memory = 0, cores = 0;  // what it has
  bool is_healthy = true;
  double users = 0, used_memory = 0, used_cores = 0, score = 0;
};

std::vector<Card> cards_of(const Family& family, const std::string& policy, const std::vector<Line>& items,
                           const std::vector<const Pod*>& others) {
  std::vector<Card> out;
  for (const Line& words : items) {
    if (words.get("type", "Ascend310P") != family.word) continue;
    Card card{.id = words.name, .network = words.find("network")};
    card.sharers = number_of(words, "count", 7);
    card.memory = number_of(words, "memory", 21527);
    card.cores = number_of(words, "cores", 8);
    card.is_healthy = words.find("unhealthy") == nullptr;
    for (const Pod* other : others) {
      const auto held = other->given.npus.find(family.word);
      if (held == other->given.npus.end()) continue;
      for (const CardPart& part : held->second) {
        if (part.card != card.id) continue;
        card.users += 1, card.used_memory += part.memory, card.used_cores += part.cores;
      }
    }
    if (policy == "binpack") card.score = 100 * card.used_memory / card.memory;
    if (policy == "spread") card.score = card.users == 0 ? 100 : 0;
    out.push_back(card);
  }
  std::stable_sort(out.begin(), out.end(), [](const Card& a, const Card& b) { return a.score > b.score; });
  return out;
}

struct Request {
  double count = 0, memory = 0, cores = 0;  // no memory: a whole card's
  std::string cut{};
  bool by_share = false;  // as hami-core counts: memory as asked, cores of a hundred
  bool is_possible = true;
};

Request request_of(const Family& family, const Node& node, const Pod& pod) {
  Request out{.count = pod.wants(family.resource()),
              .memory = pod.wants(family.resource() + "-memory"),
              .cores = pod.wants(family.resource() + "-core")};
  out.by_share = pod.annotation("huawei.com/vnpu-mode") == "hami-core" && node.annotation("hami-vnpu-core") == "true";
  if (out.memory == 0 || out.by_share) return out;
  for (const Template& one : family.templates) {
    if (out.memory > one.memory) continue;
    out.memory = one.memory, out.cut = one.name, out.cores = one.cores;
    out.is_possible = out.count <= 1;
    return out;
  }
  out.is_possible = out.memory <= family.capacity;
  out.memory = family.most;
  return out;
}

bool fits(const Card& card, const Request& request) {
  const double all_cores = request.by_share ? 100 : card.cores;
  const double memory = request.memory == 0 ? card.memory : request.memory;
  if (!card.is_healthy || card.users >= card.sharers || card.memory - card.used_memory < memory) return false;
  if (card.used_cores + request.cores > all_cores) return false;
  return !(request.cores == 100 && card.users > 0) && !(card.used_cores == all_cores && request.cores == 0);
}

// The cards of the network with most of them first.
void put_networks_first(std::vector<Card>& cards) {
  std::map<std::string, int> count;
  for (const Card& card : cards) ++count[*card.network];
  std::stable_sort(cards.begin(), cards.end(), [&](const Card& a, const Card& b) {
    const int l = count[*a.network], r = count[*b.network];
    return l != r ? l > r : std::atoi(a.network->c_str()) < std::atoi(b.network->c_str());
  });
}

bool choose_of_family(const Family& family, const std::string& policy, const Node& node, const Pod& pod,
                      const std::vector<const Pod*>& others, Given& given, double& score) {
  const std::vector<Line> items = items_of(node.words.get("vnpus"));
  std::vector<Card> cards = cards_of(family, policy, items, others);
  const Request request = request_of(family, node, pod);
  if (request.count == 0 || node.all[family.resource()] == 0 || cards.empty()) return true;
  if (!request.is_possible) return false;
  const bool has_networks =
      family.word.starts_with("Ascend910") &&
      std::all_of(cards.begin(), cards.end(), [](const Card& card) { return card.network != nullptr; });
  std::erase_if(cards, [&](const Card& card) { return !fits(card, request); });
  if (static_cast<double>(cards.size()) < request.count) return false;
  if (has_networks) put_networks_first(cards);
  cards.resize(static_cast<std::size_t>(request.count));
  std::map<std::string, int> by_network;
  int most = 0;
  for (const Card& card : cards) {
    given.npus[family.word].push_back(
        {card.id, request.memory == 0 ? card.memory : request.memory, request.cores, {}, request.cut});
    score += card.score;
    if (has_networks) most = std::max(most, ++by_network[*card.network]);
  }
  given.npu_cores = request.by_share;
  score += 10.0 * most / request.count;
  return true;
}

}  // namespace

std::set<std::string> counted_by_npus(const Objects& objects) {
  std::set<std::string> out;
  for (const Family& family : families_of(objects))
    out.insert({family.resource() + "-memory", family.resource() + "-core"});
  return out;
}

std::vector<std::string> npu_families(const Objects& objects) {
  std::vector<std::string> out;
  for (const Family& family : families_of(objects)) out.push_back(family.word);
  return out;
}

bool wants_npus(const Pod& pod, const std::string& family) { return pod.wants("huawei.com/" + family) > 0; }

bool choose_npus(const Objects& objects, const Node& node, const Pod& pod, const std::vector<const Pod*>& others,
                 Given& given, double& score) {
  const auto& arguments = objects.plugin("deviceshare")->arguments;
  const auto policy = arguments.find("deviceshare.SchedulePolicy");
  const std::vector<Family> families = families_of(objects);
  return std::all_of(families.begin(), families.end(), [&](const Family& family) {
    return choose_of_family(family, policy == arguments.end() ? "" : policy->second, node, pod, others, given, score);
  });
}

}  // namespace scenario::book
