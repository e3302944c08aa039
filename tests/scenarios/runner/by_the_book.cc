// Which pods does `allocate` bind, read from the specification alone?
//
// Lists and loops; every sum is added up anew whenever it is asked for.
#include "by_the_book.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/format.h"
#include "book_claims.h"
#include "book_cpus.h"
#include "book_deviceshare.h"
#include "book_npus.h"
#include "book_objects.h"

namespace scenario {
namespace {

using book::Amounts;
using book::Group;
using book::Node;
using book::Pod;
using book::Queue;

// The offer of a node to a pod, and its score.
struct Offer {
  std::size_t node = 0;
  book::Given given;
  double score = 0, claim_score = 0;
  int numa_nodes = 0;
  bool downgraded = false;
};

class Book {
 public:
  base::Result<std::string> read(std::string_view text) {
    const base::Error unknown = base::make_error(base::Code::kInvalid, "not in the book");
    std::string out;
    bool expected = false;  // what is written below ----, to the next empty line
    for (std::size_t start = 0; start < text.size();) {
      const std::size_t end = std::min(text.find('\n', start), text.size());
      const std::string_view one = text.substr(start, end - start);
      start = end + 1;
      expected = (expected || one == "----") && !one.empty();
      if (expected || one.empty() || one[0] == '#') continue;
      TRY(const Line line, parse_line(one, 0));
      if (line.verb == "cycle") {
        if (!line.name.empty() || all_.plugins.empty()) return unknown;
        out += "----\n" + cycle();
      } else if (!all_.take(line)) {
        return unknown;
      }
    }
    return out;
  }

 private:
  bool has(std::string_view plugin) const { return all_.plugin(plugin) != nullptr; }

  // ---- sums, always added up anew
  template <class Which>
  Amounts sum(Which&& which) const {
    Amounts out;
    for (const Pod& pod : all_.pods) {
      if (which(pod)) out.add(pod.asks);
    }
    return out;
  }
  bool is_of_queue(const Pod& pod, std::size_t queue) const {
    return pod.group != book::kNoGroup && all_.groups[pod.group].queue == queue;
  }
  Amounts held_by_queue(std::size_t queue) const {
    return sum([&](const Pod& pod) { return pod.node >= 0 && is_of_queue(pod, queue); });
  }
  Amounts held_by_group(std::size_t group) const {
    return sum([&](const Pod& pod) { return pod.node >= 0 && pod.group == group; });
  }
  Amounts total() const {
    Amounts out;
    for (const Node& node : all_.nodes) out.add(node.all);
    return out;
  }
  std::size_t count(std::size_t group) const {
    return static_cast<std::size_t>(
        std::count_if(all_.pods.begin(), all_.pods.end(), [&](const Pod& pod) { return pod.group == group; }));
  }
  bool is_ready(std::size_t group) const {
    const auto ready = std::count_if(all_.pods.begin(), all_.pods.end(), [&](const Pod& pod) {
      return pod.group == group && (pod.node >= 0 || pod.is_done || pod.asks.is_nothing());
    });
    return static_cast<std::size_t>(ready) >= all_.groups[group].min;
  }
  bool has_group(std::size_t queue) const {
    return std::any_of(all_.groups.begin(), all_.groups.end(),
                       [&](const Group& group) { return group.queue == queue; });
  }

  // ---- what queues may have
  void settle_limits() {
    Amounts guaranteed;
    for (const Queue& queue : all_.queues) guaranteed.add(queue.guarantee);
    const Amounts all = total();
    for (Queue& queue : all_.queues) {
      queue.most = queue.deserved = {};
      for (const std::string& name : book::names_of(all, guaranteed)) {
        double most = std::max(0.0, all[name] - guaranteed[name]) + queue.guarantee[name];
        if (queue.capability[name] > 0) most = std::min(most, queue.capability[name]);
        queue.most.set(name, most);
        if (!has("capacity")) continue;
        queue.deserved.set(name, std::max(std::min(queue.wanted[name], most), queue.guarantee[name]));
      }
    }
    if (has("proportion")) fill(all);
  }

  void fill(Amounts remaining) {
    std::vector<std::size_t> open;
    for (std::size_t q = 0; q < all_.queues.size(); ++q) {
      if (has_group(q)) open.push_back(q);
    }
    while (!open.empty()) {
      double weights = 0;
      for (const std::size_t q : open) weights += all_.queues[q].weight;
      if (weights == 0) return;
      Amounts more, less;
      std::vector<std::size_t> still;
      for (const std::size_t q : open) {
        Queue& queue = all_.queues[q];
        const Amounts old = queue.deserved,
                      request = sum([&](const Pod&pod) { return is_of_queue(pod, q) && !pod.is_done; });
        for (const std::string& name : book::names_of(remaining, queue.guarantee)) {
          const double grown = queue.deserved[name] + remaining[name] * (queue.weight / weights);
          const double now = std::max(std::min({grown, queue.most[name], request[name]}), queue.guarantee[name]);
          queue.deserved.set(name, now);
          more.set(name, more[name] + std::max(0.0, now - old[name]));
          less.set(name, less[name] + std::max(0.0, old[name] - now));
        }
        if (!book::all_less_equal(request, queue.deserved) && !book::equal(queue.deserved, old)) still.push_back(q);
      }
      const Amounts before = remaining;
      for (const std::string& name : book::names_of(remaining, less))
        remaining.set(name, std::max(0.0, before[name] + less[name] - more[name]));
      if (remaining.is_nothing() || book::equal(remaining, before)) return;
      open = std::move(still);
    }
  }

  bool is_overused(std::size_t q) const {
    return has("proportion") && book::all_less_equal(all_.queues[q].deserved, held_by_queue(q));
  }

  bool may_have(std::size_t q, const Pod& pod) const {
    if (!has("proportion") && !has("capacity")) return true;
    const Queue& queue = all_.queues[q];
    const Amounts held = held_by_queue(q);
    const Amounts& limit = has("proportion") ? queue.deserved : queue.most;
    for (const std::string& name : pod.asks.names()) {
      if (name != "pods" && pod.asks[name] > 0 && held[name] + pod.asks[name] > limit[name]) return false;
    }
    return queue.is_open && (has("proportion") || may_have_devices(q, pod));
  }

  // Each claim counts once in its queue (5.7.8).
  bool may_have_devices(std::size_t q, const Pod& pod) const {
    const std::vector<std::string> own = pod.claims();
    std::set<std::string> claims(own.begin(), own.end());
    const auto wanted = book::devices_asked(all_, claims);
    for (const Pod& other : all_.pods) {
      if (other.node < 0 || !is_of_queue(other, q)) continue;
      for (const std::string& claim : other.claims()) claims.insert(claim);
    }
    const auto then = book::devices_asked(all_, claims);
    const auto& limits = all_.queues[q].devices;
    return std::all_of(limits.begin(), limits.end(), [&](const auto& limit) {
      return limit.second == 0 || !wanted.contains(limit.first) || then.at(limit.first) <= limit.second;
    });
  }

  // ---- orders
  bool queue_before(std::size_t a, std::size_t b) const {
    const Queue &l = all_.queues[a], &r = all_.queues[b];
    if (has("proportion") || has("capacity")) {
      if (l.priority != r.priority) return l.priority > r.priority;
      const bool l_empty = has("capacity") && l.deserved.is_nothing(),
                 r_empty = has("capacity") && r.deserved.is_nothing();
      const double l_share = l_empty ? 1 : book::largest_share(held_by_queue(a), l.deserved);
      const double r_share = r_empty ? 1 : book::largest_share(held_by_queue(b), r.deserved);
      if (l_share != r_share) return l_share < r_share;
      if (l_empty != r_empty) return r_empty;
    }
    return l.name < r.name;
  }

  // Some of its pods have nodes, and they are fewer than its minimum (docs/compat: broken-gangs).
  bool is_broken(std::size_t group) const {
    return !is_ready(group) && std::any_of(all_.pods.begin(), all_.pods.end(),
                                           [&](const Pod& pod) { return pod.group == group && pod.node >= 0; });
  }

  bool group_before(std::size_t a, std::size_t b) const {
    const Group &l = all_.groups[a], &r = all_.groups[b];
    for (const book::Plugin& plugin : all_.plugins) {
      if (plugin.name == "priority" && l.priority != r.priority) return l.priority > r.priority;
      if (plugin.name == "gang" && is_ready(a) != is_ready(b)) return is_ready(b);
      if (plugin.name == "gang" && is_broken(a) != is_broken(b)) return is_broken(a);
      if (plugin.name != "drf") continue;
      const double l_share = book::largest_share(held_by_group(a), total()),
                   r_share = book::largest_share(held_by_group(b), total());
      if (l_share != r_share) return l_share < r_share;
    }
    return a < b;
  }

  // "g-x-3" has an index, "a-3" has none.
  static double index_of(const Pod& pod) {
    const std::string name = pod.key.substr(pod.key.find('/') + 1);
    const std::size_t last = name.rfind('-');
    if (last == std::string::npos || name.find('-') == last) return -1;
    const std::string end = name.substr(last + 1);
    return end.empty() || end.find_first_not_of("0123456789") != std::string::npos ? -1 : std::atof(end.c_str());
  }

  bool pod_before(const Pod& a, const Pod& b) const {
    if (has("priority") && a.priority != b.priority) return a.priority > b.priority;
    const double l = index_of(a), r = index_of(b);
    if (l >= 0 && r >= 0 && l != r) return l < r;
    return a.order < b.order;
  }

  // ---- nodes
  std::optional<Offer> offer_of(const Pod& pod, std::size_t n) const {
    const Node& node = all_.nodes[n];
    const std::vector<const Pod*> others = all_.pods_on(n);
    Amounts then = pod.asks;
    for (const Pod* other : others) then.add(other->asks);
    for (const auto& [label, value] : book::list_of(pod.words, "selector").fields) {
      if (node.label(label) != value) return std::nullopt;
    }
    for (const std::string& name : pod.asks.names()) {
      if (then[name] > node.all[name]) return std::nullopt;
    }
    Offer out{.node = n};
    if (!pod.claims().empty()) {
      auto devices = book::choose_devices(all_, n, pod);
      if (!devices) return std::nullopt;
      out.given.devices = std::move(devices->devices);
      out.given.shares = std::move(devices->shares);
      out.given.devices_on = static_cast<int>(n);
      out.claim_score = devices->score;
    }
    if (const book::Plugin* plugin = all_.plugin("deviceshare")) {
      auto choice = book::choose_shares(all_, n, pod);
      if (!choice) return std::nullopt;
      choice->given.devices = std::move(out.given.devices);
      choice->given.shares = std::move(out.given.shares);
      choice->given.devices_on = out.given.devices_on;
      out.given = std::move(choice->given);
      out.score += choice->score * plugin->number("deviceshare.ScheduleWeight", 0);
      out.downgraded = choice->downgraded;
    }
    if (has("numa-aware")) {
      auto cpus = book::choose_cpus(node, pod, others);
      if (!cpus) return std::nullopt;
      out.numa_nodes = book::numa_nodes_of(node, *cpus);
      out.given.cpus = *std::move(cpus);
    }
    if (has("binpack")) out.score += binpack(pod, node, then);
    if (const book::Plugin* plugin = all_.plugin("nodeorder")) out.score += nodeorder(*plugin, pod, node, others);
    return out;
  }

  static double binpack(const Pod& pod, const Node& node, const Amounts& then) {
    double score = 0, weights = 0;
    for (const char* name : {"cpu", "memory"}) {
      if (pod.asks[name] < 0.1) continue;
      weights += 1;
      if (node.all[name] > 0) score += then[name] / node.all[name];
    }
    return weights > 0 ? score / weights * 100 : 0;
  }

  // 5.9: of its scores those that differ where nobody wishes anything of nodes and other pods.
  static double nodeorder(const book::Plugin& plugin, const Pod& pod, const Node& node,
                          std::vector<const Pod*> others) {
    const auto used = [&](const char* name, double at_least) {
      double out = 0;
      for (const Pod* other : others) out += other->asks[name] == 0 ? at_least : other->asks[name];
      return out;
    };
    const auto fraction = [&](const char* name) {
      return node.all[name] == 0 ? 0 : std::min(1.0, used(name, 0) / node.all[name]);
    };
    const auto balance = [&] { return std::floor((1 - std::fabs(fraction("cpu") - fraction("memory")) / 2) * 100); };
    const double before = balance();
    others.push_back(&pod);
    double least = 0, most = 0, parts = 0;
    for (const auto& [name, at_least] : {std::pair("cpu", 100.0), {"memory", 200.0 * 1024 * 1024}}) {
      const double capacity = node.all[name], asked = used(name, at_least);
      if (capacity == 0) continue;
      parts += 1;
      least += asked > capacity ? 0 : std::floor((capacity - asked) * 100 / capacity);
      most += std::floor(std::min(asked, capacity) * 100 / capacity);
    }
    double out = 0;
    if (parts > 0) {
      out += std::floor(least / parts) * plugin.number("leastrequested.weight", 1);
      out += std::floor(most / parts) * plugin.number("mostrequested.weight", 0);
    }
    if (pod.asks["cpu"] > 0 || pod.asks["memory"] > 0)
      out += (50 + std::trunc((50 + balance() - before) / 2)) * plugin.number("balancedresource.weight", 1);
    return out;
  }

  // Places the pod on the best node, the first of equal ones.
  bool place_one(Pod& pod) {
    std::vector<Offer> offers;
    for (std::size_t n = 0; n < all_.nodes.size(); ++n) {
      if (auto offer = offer_of(pod, n)) offers.push_back(*std::move(offer));
    }
    if (offers.empty()) return false;
    double claims = 0;
    int numa_nodes = 0;
    for (const Offer& one : offers)
      claims = std::max(claims, one.claim_score), numa_nodes = std::max(numa_nodes, one.numa_nodes);
    add_chip_scores(pod, offers);
    for (Offer& one : offers) {
      if (claims > 0) one.score += std::floor(100 * one.claim_score / claims);
      if (has("numa-aware") && book::has_numa_policy(pod) && numa_nodes > 0)
        one.score += (100 - 100 * one.numa_nodes / numa_nodes) * all_.plugin("numa-aware")->number("weight", 1);
    }
    Offer& best = *std::max_element(offers.begin(), offers.end(),
                                    [](const Offer& a, const Offer& b) { return a.score < b.score; });
    pod.node = static_cast<int>(best.node);
    pod.given = std::move(best.given);
    pod.bound_at = all_.now;
    return true;
  }

  void add_chip_scores(const Pod& pod, std::vector<Offer>& offers) const {
    if (!has("deviceshare")) return;
    std::vector<book::Candidate> nodes;
    for (const Offer& one : offers) nodes.push_back({one.node, one.downgraded});
    const std::vector<double> scores = book::chip_scores(all_, pod, nodes);
    for (std::size_t i = 0; i < offers.size(); ++i)
      offers[i].score += scores[i] * all_.plugin("deviceshare")->number("deviceshare.ScheduleWeight", 0);
  }

  // ---- the action
  struct Work {
    std::size_t group;
    std::vector<std::string> pods;  // that wait, in order
  };

  Pod& find_pod(const std::string& key) {
    return *std::find_if(all_.pods.begin(), all_.pods.end(), [&](const Pod& pod) { return pod.key == key; });
  }

  // Places pods until the group is ready; the keys of those that were placed, in order.
  std::vector<std::string> place(Work& work) {
    std::vector<std::string> placed;
    const Group& group = all_.groups[work.group];
    while (!work.pods.empty()) {
      Pod& pod = find_pod(work.pods.front());
      work.pods.erase(work.pods.begin());
      if (!may_have(group.queue, pod)) continue;
      if (!place_one(pod)) {
        if (group.min >= count(work.group)) break;
        continue;
      }
      placed.push_back(pod.key);
      if (is_ready(work.group)) break;
    }
    if (is_ready(work.group)) return placed;
    for (const std::string& key : placed) find_pod(key).node = -1, find_pod(key).given = {};
    return {};
  }

  // Nodes do not have what cards count themselves (5.16.1).
  void settle_requests() {
    const std::set<std::string> of_cards = book::counted_by_npus(all_);
    for (Pod& pod : all_.pods) {
      pod.asks = {};
      for (const std::string& name : pod.listed.names()) {
        if (!of_cards.contains(name)) pod.asks.set(name, pod.listed[name]);
      }
    }
  }

  // The notes of those who were placed; from now on they run.
  std::string end_cycle(const std::vector<std::string>& placed) {
    std::set<std::string> device_lines;
    for (const std::string& key : placed) {
      if (!all_.shown.contains("devices")) break;
      for (const std::string& device_line : book::device_lines_of(all_, find_pod(key)))
        device_lines.insert(base::format("device {} {}\n", key, device_line));
    }
    for (const std::string& key : placed) find_pod(key).has_started = true;
    all_.now += 1;
    std::string out;
    for (const std::string& device_line : device_lines) out += device_line;
    return out;
  }

  std::string cycle() {
    settle_requests();
    settle_limits();
    std::vector<std::vector<Work>> by_queue(all_.queues.size());
    for (std::size_t g = 0; g < all_.groups.size(); ++g) {
      if (count(g) < all_.groups[g].min) continue;
      std::vector<const Pod*> waiting;
      for (const Pod& pod : all_.pods) {
        if (pod.group == g && pod.node < 0 && !pod.is_done && !pod.asks.is_nothing()) waiting.push_back(&pod);
      }
      std::sort(waiting.begin(), waiting.end(), [&](const Pod* a, const Pod* b) { return pod_before(*a, *b); });
      Work work{g, {}};
      for (const Pod* pod : waiting) work.pods.push_back(pod->key);
      if (!waiting.empty()) by_queue[all_.groups[g].queue].push_back(std::move(work));
    }
    std::vector<std::size_t> open;
    for (std::size_t q = 0; q < all_.queues.size(); ++q) {
      if (!by_queue[q].empty()) open.push_back(q);
    }
    std::string out;
    std::vector<std::string> placed;
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
      for (const std::string& key : place(*job)) {
        out += base::format("bind   {} {}\n", key, all_.nodes[static_cast<std::size_t>(find_pod(key).node)].name);
        placed.push_back(key);
      }
      if (!is_ready(job->group) || job->pods.empty()) jobs.erase(job);
    }
    return out + end_cycle(placed);
  }

  book::Objects all_;
};

}  // namespace

base::Result<std::string> decide_by_the_book(std::string_view text) {
  const bool has_words_it_ignores = text.find("\n  +") != std::string_view::npos ||
                                    text.find("\nflags ") != std::string_view::npos || text.starts_with("flags ");
  if (has_words_it_ignores) return base::make_error(base::Code::kInvalid, "not in the book");
  return Book().read(text);
}

std::string binds_of(const std::string& played) {
  std::string out;
  std::set<std::string> device_lines;  // of one cycle
  for (std::size_t start = 0; start < played.size();) {
    const std::size_t end = std::min(played.find('\n', start) + 1, played.size());
    const std::string line = played.substr(start, end - start);
    if (line.starts_with("device ")) device_lines.insert(line);
    if (line.starts_with("bind ") || line == "----\n") out += line;
    start = end;
    if (line != "\n" && start < played.size()) continue;
    for (const std::string& device_line : device_lines) out += device_line;
    device_lines.clear();
  }
  return out;
}

std::string sorted_binds(const std::string& binds) {
  std::string out;
  std::set<std::string> cycle;
  const auto flush = [&] {
    for (const std::string& one : cycle) out += one;
    cycle.clear();
  };
  for (std::size_t start = 0; start < binds.size();) {
    const std::size_t end = std::min(binds.find('\n', start) + 1, binds.size());
    const std::string line = binds.substr(start, end - start);
    start = end;
    if (line == "----\n")
      flush(), out += line;
    else
      cycle.insert(line);
  }
  flush();
  return out;
}

}  // namespace scenario
