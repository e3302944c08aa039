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

// One place to fill: a device for a request of a claim.
class Search {
 public:
  Search(const Objects& objects, std::size_t node) : objects_(objects), node_(objects.nodes[node].name) {
    for (const auto& [name, slice] : objects.slices) {
      for (const Device& device : slice) {
        if (device.node == node_) devices_.push_back(&device);
      }
    }
    for (const Pod& pod : objects.pods) {
      for (const auto& [claim, held] : pod.given.devices) taken_.insert(held.begin(), held.end());
    }
  }

  // Seen before all orders of too few devices are tried.
  bool has_enough(const std::vector<std::string>& claims) const {
    double wanted = 0;
    for (const std::string& claim : claims) {
      for (const auto& choices : requests_of(objects_.claims.at(claim))) {
        const bool has_number = choices.size() == 1 && choices[0].words.find("all") == nullptr;
        wanted += has_number ? number_of(choices[0].words, "count", 1) : 0;
      }
    }
    return wanted <= static_cast<double>(devices_.size());
  }

  bool fill(const std::vector<std::string>& claims, std::size_t at = 0) {
    if (failed_) return false;
    if (at == claims.size()) return true;
    const Line& claim = objects_.claims.at(claims[at]);
    return fill_request(claim, requests_of(claim), 0, [&] {
      choice.devices[claims[at]] = names_;
      const auto names = std::exchange(names_, {});
      const auto chosen = std::exchange(chosen_, {});
      if (fill(claims, at + 1)) return true;
      names_ = names, chosen_ = chosen;
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

  bool take(const Line& claim, const Request& request, double count, const Next& next) {
    if (count == 0) return next();
    for (const Device* device : devices_) {
      if (taken_.contains(key_of(*device))) continue;
      const auto selected = is_selected(objects_, request, *device);
      failed_ |= !selected;
      if (failed_) return false;
      if (!*selected || !is_tolerated(request, *device) || !keeps_constraints(claim, request, *device)) continue;
      add(request, *device);
      if (take(claim, request, count - 1, next)) return true;
      remove(*device);
      if (failed_) return false;
    }
    return false;
  }

  // All that match, none of which may be in use.
  bool take_all(const Line& claim, const Request& request, const Next& next) {
    std::vector<const Device*> added;
    bool possible = true;
    for (const Device* device : devices_) {
      const auto selected = is_selected(objects_, request, *device);
      failed_ |= !selected;
      if (failed_) break;
      if (!*selected) continue;
      possible &= !taken_.contains(key_of(*device)) && is_tolerated(request, *device) &&
                  keeps_constraints(claim, request, *device);
      if (!possible) break;
      add(request, *device);
      added.push_back(device);
    }
    if (!failed_ && possible && !added.empty() && next()) return true;
    for (auto one = added.rbegin(); one != added.rend(); ++one) remove(**one);
    return false;
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
    taken_.insert(key_of(device));
    names_.push_back(key_of(device));
    chosen_.emplace_back(request.name, &device);
  }
  void remove(const Device& device) {
    taken_.erase(key_of(device));
    names_.pop_back();
    chosen_.pop_back();
  }

  const Objects& objects_;
  const std::string node_;
  std::vector<const Device*> devices_;
  std::set<std::string> taken_;
  std::vector<std::string> names_;                             // of the claim that is filled
  std::vector<std::pair<std::string, const Device*>> chosen_;  // with their requests
  bool failed_ = false;
};

}  // namespace

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
    }
  }
  Search search(objects, node);
  if (!search.has_enough(open) || !search.fill(open)) return std::nullopt;
  search.choice.devices.merge(held.devices);
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
