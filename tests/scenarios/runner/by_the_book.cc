// Which pods does `allocate` bind, read from the specification alone?
//
// Lists and loops; every sum is added up anew whenever it is asked for.
#include "by_the_book.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "api/schema/quantity.h"
#include "base/format.h"
#include "objects.h"

namespace scenario {
namespace {

constexpr std::size_t kDims = 3;  // milli-cores, bytes, pods
using Amounts = std::array<double, kDims>;

Amounts operator+(Amounts a, const Amounts& b) {
  for (std::size_t d = 0; d < kDims; ++d) a[d] += b[d];
  return a;
}

bool about_less(double a, double b) { return a < b || std::fabs(a - b) < 0.1; }

bool all_less_equal(const Amounts& a, const Amounts& b) {
  for (std::size_t d = 0; d < kDims; ++d) {
    if (!about_less(a[d], b[d])) return false;
  }
  return true;
}

bool is_nothing(const Amounts& a) { return a[0] < 0.1 && a[1] < 0.1; }

double share_of(double part, double whole) { return whole == 0 ? (part == 0 ? 0 : 1) : part / whole; }

double largest_share(const Amounts& part, const Amounts& whole) {
  double out = 0;
  for (std::size_t d = 0; d < kDims; ++d) {
    if (whole[d] >= 0.1) out = std::max(out, share_of(part[d], whole[d]));
  }
  return out;
}

struct Node {
  std::string name, zone;
  Amounts all{};
};

struct Queue {
  std::string name;
  double weight = 1, priority = 0;
  bool is_open = true, is_limited = false;
  Amounts capability{}, guarantee{}, wanted{};  // wanted: spec.deserved
  Amounts most{}, deserved{};                   // of this cycle
};

struct Group {
  std::string key;
  std::size_t queue = 0, min = 1;
  double priority = 0;
};

struct Pod {
  std::string key, zone;
  std::size_t group = 0;
  double priority = 1, index = 0;
  Amounts asks{};
  int node = -1;
};

class Book {
 public:
  base::Result<std::string> read(std::string_view text) {
    std::string out;
    for (std::size_t start = 0; start < text.size();) {
      const std::size_t end = std::min(text.find('\n', start), text.size());
      const std::string_view one = text.substr(start, end - start);
      start = end + 1;
      if (one.empty() || one[0] == '#') continue;
      TRY(const Line line, parse_line(one, 0));
      if (line.verb == "cycle") {
        if (!line.name.empty() || plugins_.empty()) return base::make_error(base::Code::kInvalid, "not in the book");
        out += "----\n" + cycle();
        continue;
      }
      for (const std::string& name : expand(line.name)) {
        if (!take(line, name)) return base::make_error(base::Code::kInvalid, "not in the book");
      }
    }
    return out;
  }

 private:
  static double number(const Line& line, const char* key, double fallback) {
    const std::string* text = line.find(key);
    return text == nullptr ? fallback : std::atof(text->c_str());
  }

  static double quantity(const std::string& text, bool milli) {
    const auto out = api::Quantity::from_json(api::Json(text));
    return !out ? 0 : static_cast<double>(milli ? out->milli_value() : out->value());
  }

  static Amounts amounts(const Line& line) {
    return {quantity(line.get("cpu", "0"), true), quantity(line.get("memory", "0"), false), 0};
  }

  // "cpu:2,memory:1Gi"
  static Amounts list(const Line& line, const char* key) {
    Line inner;
    const std::string text = line.get(key);
    for (std::size_t start = 0; start < text.size();) {
      const std::size_t end = std::min(text.find(',', start), text.size()), colon = text.find(':', start);
      if (colon < end)
        inner.fields.emplace_back(text.substr(start, colon - start), text.substr(colon + 1, end - colon - 1));
      start = end + 1;
    }
    return amounts(inner);
  }

  static bool knows(const Line& line, std::initializer_list<std::string_view> keys) {
    return line.patch.is_null() && std::all_of(line.fields.begin(), line.fields.end(), [&](const auto& field) {
             return std::find(keys.begin(), keys.end(), field.first) != keys.end();
           });
  }

  static std::string zone_of(const std::string& text) { return text.starts_with("zone:") ? text.substr(5) : text; }

  bool take(const Line& line, const std::string& name) {
    if (line.verb == "show") return line.name == "order" && line.fields.empty();
    if (line.verb == "conf") return take_policy(line);
    if (line.verb == "class") return knows(line, {"value"}) && (classes_[name] = number(line, "value", 0), true);
    if (line.verb == "queue")
      return knows(line, {"weight", "priority", "capability", "guarantee", "deserved", "state"}) &&
             take_queue(line, name);
    if (line.verb == "node") {
      Amounts all = amounts(line);
      if (line.find("memory") == nullptr) all[1] = 100.0 * 1024 * 1024 * 1024;
      all[2] = number(line, "pods", 110);
      nodes_.push_back({name, zone_of(line.get("labels")), all});
      return knows(line, {"cpu", "memory", "pods", "labels"});
    }
    if (line.verb == "group") {
      const auto queue = std::find_if(queues_.begin(), queues_.end(),
                                      [&](const Queue& one) { return one.name == line.get("queue", "default"); });
      if (queue == queues_.end() || find_group(name) != groups_.size()) return false;
      groups_.push_back({name, static_cast<std::size_t>(queue - queues_.begin()),
                         static_cast<std::size_t>(number(line, "min", 1)), classes_[line.get("class")]});
      return knows(line, {"queue", "min", "class"});
    }
    if (line.verb == "delete") {
      std::erase_if(pods_, [&](const Pod& pod) { return pod.key == name; });
      return knows(line, {"maybe"});
    }
    return line.verb == "pod" && take_pod(line, name);
  }

  bool take_policy(const Line& line) {
    if (!knows(line, {"actions", "tiers"}) || line.get("actions") != "allocate") return false;
    const std::string tiers = line.get("tiers");
    plugins_.clear();
    for (std::size_t start = 0; start < tiers.size();) {
      const std::size_t end = std::min(tiers.find(' ', start), tiers.size());
      const std::string one = tiers.substr(start, end - start);
      start = end + 1;
      if (one.empty() || one == "|") continue;
      static const std::array kKnown = {"priority", "gang", "drf", "proportion", "capacity", "predicates", "binpack"};
      if (std::find(kKnown.begin(), kKnown.end(), one) == kKnown.end()) return false;
      plugins_.push_back(one);
    }
    return has("gang") && has("predicates") && !(has("proportion") && has("capacity"));
  }

  bool take_queue(const Line& line, const std::string& name) {
    Queue queue{.name = name, .weight = number(line, "weight", 1), .priority = number(line, "priority", 0)};
    queue.is_open = line.get("state", "Open") == "Open";
    queue.is_limited = line.find("capability") != nullptr;
    queue.capability = list(line, "capability");
    queue.guarantee = list(line, "guarantee");
    queue.wanted = list(line, "deserved");
    queues_.push_back(queue);
    return true;
  }

  std::size_t find_group(const std::string& name) const {
    return static_cast<std::size_t>(
        std::find_if(groups_.begin(), groups_.end(), [&](const Group& one) { return one.key == name; }) -
        groups_.begin());
  }

  // "a/g01-x-3" of "group=g01"
  bool take_pod(const Line& line, const std::string& name) {
    Pod pod{.key = name, .zone = zone_of(line.get("selector")), .group = find_group("a/" + line.get("group"))};
    pod.priority = number(line, "priority", 1);
    pod.index = std::atof(name.c_str() + name.rfind('-') + 1);
    pod.asks = amounts(line);
    pod.asks[2] = 1;
    pods_.push_back(pod);
    return knows(line, {"group", "cpu", "memory", "priority", "selector"}) && pod.group != groups_.size() &&
           name.rfind("-x-") != std::string::npos;
  }

  bool has(std::string_view plugin) const {
    return std::find(plugins_.begin(), plugins_.end(), plugin) != plugins_.end();
  }

  // ---- sums, always added up anew
  template <class Which>
  Amounts sum(Which&& which) const {
    Amounts out{};
    for (const Pod& pod : pods_) {
      if (which(pod)) out = out + pod.asks;
    }
    return out;
  }
  Amounts used(std::size_t node) const {
    return sum([&](const Pod& pod) { return pod.node == static_cast<int>(node); });
  }
  Amounts held_by_queue(std::size_t queue) const {
    return sum([&](const Pod& pod) { return pod.node >= 0 && groups_[pod.group].queue == queue; });
  }
  Amounts held_by_group(std::size_t group) const {
    return sum([&](const Pod& pod) { return pod.node >= 0 && pod.group == group; });
  }
  Amounts total() const {
    Amounts out{};
    for (const Node& node : nodes_) out = out + node.all;
    return out;
  }
  std::size_t count(std::size_t group) const {
    return static_cast<std::size_t>(
        std::count_if(pods_.begin(), pods_.end(), [&](const Pod& pod) { return pod.group == group; }));
  }
  bool is_ready(std::size_t group) const {
    const auto ready = std::count_if(pods_.begin(), pods_.end(), [&](const Pod& pod) {
      return pod.group == group && (pod.node >= 0 || is_nothing(pod.asks));
    });
    return static_cast<std::size_t>(ready) >= groups_[group].min;
  }
  bool has_group(std::size_t queue) const {
    return std::any_of(groups_.begin(), groups_.end(), [&](const Group& group) { return group.queue == queue; });
  }

  // ---- what queues may have
  void settle_limits() {
    Amounts guaranteed{};
    for (const Queue& queue : queues_) guaranteed = guaranteed + queue.guarantee;
    const Amounts all = total();
    for (Queue& queue : queues_) {
      for (std::size_t d = 0; d < kDims; ++d) {
        queue.most[d] = std::max(0.0, all[d] - guaranteed[d]) + queue.guarantee[d];
        if (queue.is_limited && queue.capability[d] > 0) queue.most[d] = std::min(queue.most[d], queue.capability[d]);
        if (has("capacity"))
          queue.deserved[d] = std::max(d == 2 ? 0 : std::min(queue.wanted[d], queue.most[d]), queue.guarantee[d]);
      }
    }
    if (has("proportion")) fill(all);
  }

  void fill(Amounts remaining) {
    std::vector<std::size_t> open;
    for (std::size_t q = 0; q < queues_.size(); ++q) {
      queues_[q].deserved = {};
      if (has_group(q)) open.push_back(q);
    }
    while (!open.empty()) {
      double weights = 0;
      for (const std::size_t q : open) weights += queues_[q].weight;
      if (weights == 0) return;
      Amounts more{}, less{};
      std::vector<std::size_t> still;
      for (const std::size_t q : open) {
        Queue& queue = queues_[q];
        const Amounts old = queue.deserved, request = sum([&](const Pod&pod) { return groups_[pod.group].queue == q; });
        for (std::size_t d = 0; d < kDims; ++d) {
          const double grown = queue.deserved[d] + remaining[d] * (queue.weight / weights);
          queue.deserved[d] = std::max(std::min({grown, queue.most[d], request[d]}), queue.guarantee[d]);
          more[d] += std::max(0.0, queue.deserved[d] - old[d]);
          less[d] += std::max(0.0, old[d] - queue.deserved[d]);
        }
        if (!all_less_equal(request, queue.deserved) && queue.deserved != old) still.push_back(q);
      }
      const Amounts before = remaining;
      for (std::size_t d = 0; d < kDims; ++d) remaining[d] = std::max(0.0, remaining[d] + less[d] - more[d]);
      if (is_nothing(remaining) || remaining == before) return;
      open = std::move(still);
    }
  }

  bool is_overused(std::size_t q) const {
    return has("proportion") && all_less_equal(queues_[q].deserved, held_by_queue(q));
  }

  bool may_have(std::size_t q, const Pod& pod) const {
    if (!has("proportion") && !has("capacity")) return true;
    const Queue& queue = queues_[q];
    const Amounts then = held_by_queue(q) + pod.asks;
    const Amounts& limit = has("proportion") ? queue.deserved : queue.most;
    for (std::size_t d = 0; d < 2; ++d) {
      if (pod.asks[d] > 0 && then[d] > limit[d]) return false;
    }
    return queue.is_open;
  }

  // ---- orders
  bool queue_before(std::size_t a, std::size_t b) const {
    const Queue &l = queues_[a], &r = queues_[b];
    if (has("proportion") || has("capacity")) {
      if (l.priority != r.priority) return l.priority > r.priority;
      const bool l_empty = has("capacity") && is_nothing(l.deserved),
                 r_empty = has("capacity") && is_nothing(r.deserved);
      const double l_share = l_empty ? 1 : largest_share(held_by_queue(a), l.deserved);
      const double r_share = r_empty ? 1 : largest_share(held_by_queue(b), r.deserved);
      if (l_share != r_share) return l_share < r_share;
      if (l_empty != r_empty) return r_empty;
    }
    return a < b;
  }

  bool group_before(std::size_t a, std::size_t b) const {
    for (const std::string& plugin : plugins_) {
      if (plugin == "priority" && groups_[a].priority != groups_[b].priority)
        return groups_[a].priority > groups_[b].priority;
      if (plugin == "gang" && is_ready(a) != is_ready(b)) return is_ready(b);
      const double l = largest_share(held_by_group(a), total()), r = largest_share(held_by_group(b), total());
      if (plugin == "drf" && l != r) return l < r;
    }
    return a < b;
  }

  bool pod_before(const Pod& a, const Pod& b) const {
    if (has("priority") && a.priority != b.priority) return a.priority > b.priority;
    return a.index < b.index;
  }

  // ---- nodes
  int best_node(const Pod& pod) const {
    int best = -1;
    double most = 0;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      const Amounts then = used(n) + pod.asks;
      bool fits = pod.zone.empty() || pod.zone == nodes_[n].zone;
      for (std::size_t d = 0; d < kDims; ++d) fits &= then[d] <= nodes_[n].all[d];
      if (!fits) continue;
      double score = 0, weights = 0;
      for (std::size_t d = 0; d < 2 && has("binpack"); ++d) {
        if (pod.asks[d] < 0.1) continue;
        weights += 1;
        if (nodes_[n].all[d] > 0) score += then[d] / nodes_[n].all[d];
      }
      if (weights > 0) score = score / weights * 100;
      if (best < 0 || score > most) best = static_cast<int>(n), most = score;
    }
    return best;
  }

  // ---- the action
  struct Work {
    std::size_t group;
    std::vector<std::string> pods;  // that wait, in order
  };

  Pod* find_pod(const std::string& key) {
    const auto found = std::find_if(pods_.begin(), pods_.end(), [&](const Pod& pod) { return pod.key == key; });
    return found == pods_.end() ? nullptr : &*found;
  }

  // Places pods until the group is ready; the keys of those that were placed, in order.
  std::vector<std::string> place(Work& work) {
    std::vector<std::string> placed;
    const Group& group = groups_[work.group];
    while (!work.pods.empty()) {
      Pod& pod = *find_pod(work.pods.front());
      work.pods.erase(work.pods.begin());
      if (!may_have(group.queue, pod)) continue;
      pod.node = best_node(pod);
      if (pod.node < 0) {
        if (group.min >= count(work.group)) break;
        continue;
      }
      placed.push_back(pod.key);
      if (is_ready(work.group)) break;
    }
    if (is_ready(work.group)) return placed;
    for (const std::string& key : placed) find_pod(key)->node = -1;
    return {};
  }

  std::string cycle() {
    settle_limits();
    std::vector<std::vector<Work>> by_queue(queues_.size());
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (count(g) < groups_[g].min) continue;
      std::vector<const Pod*> waiting;
      for (const Pod& pod : pods_) {
        if (pod.group == g && pod.node < 0 && !is_nothing(pod.asks)) waiting.push_back(&pod);
      }
      std::sort(waiting.begin(), waiting.end(), [&](const Pod* a, const Pod* b) { return pod_before(*a, *b); });
      Work work{g, {}};
      for (const Pod* pod : waiting) work.pods.push_back(pod->key);
      if (!waiting.empty()) by_queue[groups_[g].queue].push_back(std::move(work));
    }
    std::vector<std::size_t> open;
    for (std::size_t q = 0; q < queues_.size(); ++q) {
      if (!by_queue[q].empty()) open.push_back(q);
    }
    std::string out;
    while (!open.empty()) {
      const auto first =
          std::min_element(open.begin(), open.end(), [&](std::size_t a, std::size_t b) { return queue_before(a, b); });
      std::vector<Work>& jobs = by_queue[*first];
      if (is_overused(*first) || jobs.empty()) {
        open.erase(first);
        continue;
      }
      const auto job = std::min_element(jobs.begin(), jobs.end(),
                                        [&](const Work& a, const Work& b) { return group_before(a.group, b.group); });
      for (const std::string& key : place(*job))
        out += base::format("bind   {} {}\n", key, nodes_[static_cast<std::size_t>(find_pod(key)->node)].name);
      if (!is_ready(job->group) || job->pods.empty()) jobs.erase(job);
    }
    return out;
  }

  std::vector<std::string> plugins_;
  std::map<std::string, double> classes_;
  std::vector<Node> nodes_;
  std::vector<Queue> queues_;
  std::vector<Group> groups_;
  std::vector<Pod> pods_;
};

}  // namespace

base::Result<std::string> decide_by_the_book(std::string_view text) {
  if (text.find("\n  +") != std::string_view::npos || text.find("flags ") != std::string_view::npos)
    return base::make_error(base::Code::kInvalid, "not in the book");
  return Book().read(text);
}

}  // namespace scenario
