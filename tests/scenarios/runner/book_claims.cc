// Which devices of a node does a pod's claims get (5.8.2, DynamicResources)?
#include "book_claims.h"

#include <algorithm>
#include <functional>

namespace scenario::book {
namespace {

constexpr double kMostAlternatives = 8;

// A request, or an alternative of one.
struct Request {
  std::string name;
  Line words;
};

// Each request as its alternatives.
std::vector<std::vector<Request>> requests_of(const Line& claim) {
  std::vector<std::vector<Request>> out;
  for (const Line& item : items_of(claim.get("requests"))) {
    std::vector<Request> choices;
    for (const auto& [word, value] : item.fields) {
      if (word.find('(') == std::string::npos) continue;
      for (const Line& choice : items_of(word)) choices.push_back({item.name, choice});
    }
    if (choices.empty()) choices.push_back({item.name, item});
    out.push_back(std::move(choices));
  }
  if (out.empty() && claim.find("class") != nullptr) out.push_back({{"r", claim}});
  return out;
}

std::string key_of(const Device& device) { return device.driver + "/" + device.node + "/" + device.words.name; }

// A device that lacks an attribute which is asked for is an error of the expression: the node is unfit (nullopt).
std::optional<bool> is_selected(const Objects& objects, const Request& request, const Device& device) {
  const Line& device_class = objects.device_classes.at(request.words.get("class"));
  if (device_class.find("driver") != nullptr && device_class.get("driver") != device.driver) return false;
  const api::Json wanted = map_from(request.words.get("where"));
  for (const auto& one : wanted.members()) {
    const std::string* value = device.words.find(one.name());
    if (value == nullptr) return std::nullopt;
    if (*value != one.value.str()) return false;
  }
  return true;
}

bool is_tolerated(const Request& request, const Device& device) {
  const std::string* taint = device.words.find("tainted");
  if (taint == nullptr) return true;
  const std::string key = taint->substr(0, taint->find(':'));
  const std::vector<std::string> tolerated = split(request.words.get("tolerates"), ',');
  return std::find(tolerated.begin(), tolerated.end(), key) != tolerated.end();
}

// Amounts beside names, as in "uses=set.memory:40Gi".
std::map<std::string, double> named_amounts(const Line& words, std::string_view key) {
  std::map<std::string, double> out;
  const api::Json amounts = map_from(words.get(key));
  for (const auto& one : amounts.members()) out[std::string(one.name())] = amount_of(one.value.str());
  return out;
}

// One place to fill: a device for a request of a claim.
class Search {
 public:
  Search(const Objects& objects, std::size_t node) : objects_(objects), node_(objects.nodes[node].name) {
    for (const auto& [name, slice] : objects.slices) {
      if (slice.node != node_) continue;
      const auto is_of_pool = [&slice = slice](const auto& other) {
        return other.second.node == slice.node && other.second.driver == slice.driver;
      };
      const auto there = std::count_if(objects.slices.begin(), objects.slices.end(), is_of_pool);
      lacks_slices_ |= static_cast<std::size_t>(there) != slice.of_pool && !slice.devices.empty();
      for (const auto& [counter, amount] : slice.counters) left_[slice.driver + "/" + counter] += amount;
      if (static_cast<std::size_t>(there) != slice.of_pool) continue;
      for (const Device& device : slice.devices) devices_.push_back(&device);
    }
    std::set<std::string> counted;  // a claim may be that of several pods
    for (const Pod& pod : objects.pods) {
      for (const auto& [claim, held] : pod.given.devices) taken_.insert(held.begin(), held.end());
      for (const auto& [claim, held] : pod.given.shares) {
        if (!counted.insert(claim).second) continue;
        for (const auto& [device, share] : held) {
          for (const auto& [name, amount] : share) used_[device][name] += amount;
        }
      }
    }
    for (const Device* device : devices_) {
      if (!is_taken(*device)) continue;
      for (const auto& [counter, amount] : device->draws()) left_[device->driver + "/" + counter] -= amount;
    }
  }

  // Seen before all orders of too few devices are tried, and whoever else could be chosen: what "all" is must be known.
  bool may_fit(const std::vector<std::string>& claims) const {
    double wanted = 0;
    for (const std::string& claim : claims) {
      for (const auto& choices : requests_of(objects_.claims.at(claim))) {
        const bool has_all = std::any_of(choices.begin(), choices.end(),
                                         [](const Request& one) { return one.words.find("all") != nullptr; });
        if (has_all && lacks_slices_) return false;
        wanted += choices.size() == 1 && !has_all ? number_of(choices[0].words, "count", 1) : 0;
      }
    }
    const auto is_shared = [](const Device* device) { return device->is_shared(); };
    return wanted <= static_cast<double>(devices_.size()) || std::any_of(devices_.begin(), devices_.end(), is_shared);
  }

  bool fill(const std::vector<std::string>& claims, std::size_t at = 0) {
    if (failed_) return false;
    if (at == claims.size()) return true;
    const Line& claim = objects_.claims.at(claims[at]);
    return fill_request(claim, requests_of(claim), 0, [&] {
      choice.devices[claims[at]] = names_;
      choice.shares[claims[at]] = shares_;
      const auto shares = std::exchange(shares_, {});
      const auto names = std::exchange(names_, {});
      const auto chosen = std::exchange(chosen_, {});
      if (fill(claims, at + 1)) return true;
      names_ = names, chosen_ = chosen, shares_ = shares;
      return false;
    });
  }

  ClaimChoice choice;

 private:
  using Next = std::function<bool()>;

  bool fill_request(const Line& claim, const std::vector<std::vector<Request>>& requests, std::size_t at,
                    const Next& next) {
    if (at == requests.size()) return next();
    const std::vector<Request>& choices = requests[at];
    for (std::size_t i = 0; i < choices.size() && !failed_; ++i) {
      const double gained = choices.size() > 1 ? kMostAlternatives - static_cast<double>(i) : 0;
      choice.score += gained;
      const auto rest = [&] { return fill_request(claim, requests, at + 1, next); };
      if (choices[i].words.find("all") != nullptr
              ? take_all(claim, choices[i], rest)
              : take(claim, choices[i], number_of(choices[i].words, "count", 1), rest))
        return true;
      choice.score -= gained;
    }
    return false;
  }

  // A request takes each device once, in their order.
  bool take(const Line& claim, const Request& request, double count, const Next& next, std::size_t from = 0) {
    if (count == 0) return next();
    for (std::size_t i = from; i < devices_.size(); ++i) {
      const Device& device = *devices_[i];
      if (is_taken(device)) continue;
      const auto selected = is_selected(objects_, request, device);
      failed_ |= !selected;
      if (failed_) return false;
      if (!*selected || !has_capacity(request, device) || !is_possible(claim, request, device)) continue;
      add(request, device);
      if (take(claim, request, count - 1, next, i + 1)) return true;
      remove(request, device);
      if (failed_) return false;
    }
    return false;
  }

  // All that match and are large enough, none of which may be in use.
  bool take_all(const Line& claim, const Request& request, const Next& next) {
    std::vector<const Device*> added;
    bool possible = true;
    for (const Device* device : devices_) {
      const auto selected = is_selected(objects_, request, *device);
      failed_ |= !selected;
      if (failed_) break;
      if (!*selected || !has_capacity(request, *device)) continue;
      possible &= !is_taken(*device) && is_possible(claim, request, *device);
      if (!possible) break;
      add(request, *device);
      added.push_back(device);
    }
    if (!failed_ && possible && !added.empty() && next()) return true;
    for (auto one = added.rbegin(); one != added.rend(); ++one) remove(request, **one);
    return false;
  }

  bool is_taken(const Device& device) const { return !device.is_shared() && taken_.contains(key_of(device)); }
  bool is_possible(const Line& claim, const Request& request, const Device& device) {
    const auto draws = device.draws();
    return is_tolerated(request, device) && keeps_constraints(claim, request, device) &&
           std::all_of(draws.begin(), draws.end(),
                       [&](const auto& one) { return left_[device.driver + "/" + one.first] >= one.second; });
  }

  // The amounts of a shared device that are asked for, and all of what is not spoken of.
  static std::map<std::string, double> share_of(const Request& request, const Device& device) {
    std::map<std::string, double> out = device.capacity();
    for (const auto& [name, amount] : named_amounts(request.words, "capacity")) out[name] = amount;
    return out;
  }

  bool has_capacity(const Request& request, const Device& device) {
    const std::map<std::string, double> capacity = device.capacity();
    const auto asked = device.is_shared() ? share_of(request, device) : named_amounts(request.words, "capacity");
    auto& used = used_[key_of(device)];  // of shared devices
    return std::all_of(asked.begin(), asked.end(), [&](const auto& one) {
      return capacity.contains(one.first) && used[one.first] + one.second <= capacity.at(one.first);
    });
  }

  bool keeps_constraints(const Line& claim, const Request& request, const Device& device) const {
    for (const char* kind : {"same", "distinct"}) {
      const std::string* text = claim.find(kind);
      if (text == nullptr) continue;
      const std::size_t colon = text->find(':');
      const std::string attribute = text->substr(text->find('/') + 1, colon - text->find('/') - 1);
      const std::vector<std::string> about =
          colon == std::string::npos ? std::vector<std::string>() : split(text->substr(colon + 1), ',');
      const auto concerns = [&](const std::string& name) {
        return about.empty() || std::find(about.begin(), about.end(), name) != about.end();
      };
      if (!concerns(request.name)) continue;
      const std::string* value = device.words.find(attribute);
      if (value == nullptr) return false;
      for (const auto& [name, other] : chosen_) {
        if (concerns(name) && (other->words.get(attribute) == *value) != (kind[0] == 's')) return false;
      }
    }
    return true;
  }

  void add(const Request& request, const Device& device) {
    change(request, device, 1);
    names_.push_back(key_of(device));
    chosen_.emplace_back(request.name, &device);
  }
  void remove(const Request& request, const Device& device) {
    change(request, device, -1);
    names_.pop_back();
    chosen_.pop_back();
  }
  void change(const Request& request, const Device& device, double sign) {
    const std::string key = key_of(device);
    for (const auto& [counter, amount] : device.draws()) left_[device.driver + "/" + counter] -= sign * amount;
    if (!device.is_shared()) return sign > 0 ? void(taken_.insert(key)) : void(taken_.erase(key));
    for (const auto& [name, amount] : share_of(request, device))
      used_[key][name] += sign * amount, shares_[key][name] += sign * amount;
  }

  const Objects& objects_;
  const std::string node_;
  std::vector<const Device*> devices_;
  std::set<std::string> taken_;
  std::map<std::string, double> left_;                           // of counters, by "DRIVER/SET.NAME"
  std::map<std::string, std::map<std::string, double>> used_;    // of shared devices
  std::map<std::string, std::map<std::string, double>> shares_;  // of the claim that is filled
  bool lacks_slices_ = false;
  std::vector<std::string> names_;                             // of the claim that is filled
  std::vector<std::pair<std::string, const Device*>> chosen_;  // with their requests
  bool failed_ = false;
};

}  // namespace

std::map<std::string, double> Device::capacity() const {
  std::map<std::string, double> out;
  for (const auto& [word, value] : words.fields) {
    const std::size_t colon = word.find(':');
    if (colon != std::string::npos) out[word.substr(0, colon)] = amount_of(word.substr(colon + 1));
  }
  return out;
}

std::map<std::string, double> Device::draws() const { return named_amounts(words, "uses"); }

std::optional<ClaimChoice> choose_devices(const Objects& objects, std::size_t node, const Pod& pod) {
  std::vector<std::string> open;
  ClaimChoice held;
  for (const std::string& key : pod.claims()) {
    const auto claim = objects.claims.find(key);
    if (claim == objects.claims.end()) return std::nullopt;
    for (const auto& choices : requests_of(claim->second)) {
      for (const Request& one : choices) {
        if (!objects.device_classes.contains(one.words.get("class"))) return std::nullopt;
      }
    }
    const auto holder = std::find_if(objects.pods.begin(), objects.pods.end(),
                                     [&](const Pod& other) { return other.given.devices.contains(key); });
    if (holder == objects.pods.end()) {
      open.push_back(key);
    } else if (holder->given.devices_on != static_cast<int>(node)) {
      return std::nullopt;
    } else {
      held.devices[key] = holder->given.devices.at(key);
      held.shares[key] = holder->given.shares.at(key);
    }
  }
  Search search(objects, node);
  if (!search.may_fit(open) || !search.fill(open)) return std::nullopt;
  search.choice.devices.merge(held.devices);
  search.choice.shares.merge(held.shares);
  return search.choice;
}

std::map<std::string, double> devices_asked(const Objects& objects, const std::set<std::string>& claims) {
  std::map<std::string, double> out;
  for (const std::string& key : claims) {
    const auto claim = objects.claims.find(key);
    if (claim == objects.claims.end()) continue;
    for (const auto& choices : requests_of(claim->second)) {
      if (choices.size() == 1 && choices[0].words.find("all") == nullptr)
        out[choices[0].words.get("class")] += number_of(choices[0].words, "count", 1);
    }
  }
  return out;
}

}  // namespace scenario::book
