// Lists in which the order is of no matter: sets, and those whose items are known by keys.
#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>

#include "api/cel/value.h"

namespace api::cel {
namespace {

// A text that only equal values have; nothing for a value that other ones may equal, as a double does an integer.
std::optional<std::string> identity_of(const Value& value) {
  if (const auto* s = value.get<std::string>()) return std::to_string(s->size()) + "s" + *s;
  if (const auto* i = value.get<std::int64_t>()) return std::to_string(*i) + "i";
  if (const auto* b = value.get<bool>()) return std::string(*b ? "t" : "f");
  return {};
}

const Value* member(const Map& item, const std::string& name) {
  for (const auto& [key, value] : item.entries) {
    const auto* text = key.get<std::string>();
    if (text != nullptr && *text == name) return &value;
  }
  return nullptr;
}

std::optional<std::string> identity_in(const List& list, const Value& item) {
  if (!list.keys) return identity_of(item);
  const Map* map = item.get<Map>();
  if (map == nullptr) return {};
  std::string out;
  for (const std::string& name : *list.keys) {
    const Value* part = member(*map, name);
    const auto one = part == nullptr ? std::optional<std::string>("-") : identity_of(*part);
    if (!one) return {};
    out += *one;
  }
  return out;
}

// Finds the items of a list: at once by their identity, and the few that have none one by one.
class Items {
 public:
  Items(const List& list, std::uint64_t& work) : list_(list), work_(work) {
    for (std::size_t i = 0; i < list.size(); ++i) add(list[i], i);
  }

  void add(const Value& item, std::size_t at) {
    if (auto text = identity_in(list_, item))
      known_.emplace(*std::move(text), at);
    else
      others_.emplace_back(item, at);
  }

  std::optional<std::size_t> find(const Value& item) const {
    work_ += 1;
    if (const auto text = identity_in(list_, item)) {
      if (const auto found = known_.find(*text); found != known_.end()) return found->second;
    }
    for (const auto& [other, at] : others_) {
      if (work_ > kWorkMax) return {};
      if (is_same(other, item)) return at;
    }
    return {};
  }

 private:
  bool is_same(const Value& a, const Value& b) const {
    if (!list_.keys) return equal(a, b, work_);
    const Map *x = a.get<Map>(), *y = b.get<Map>();
    if (x == nullptr || y == nullptr) return false;
    return std::ranges::all_of(*list_.keys, [&](const std::string& name) {
      const Value *one = member(*x, name), *other = member(*y, name);
      return one == nullptr || other == nullptr ? one == other : equal(*one, *other, work_);
    });
  }

  const List& list_;
  std::uint64_t& work_;
  std::unordered_map<std::string, std::size_t> known_;
  std::vector<std::pair<Value, std::size_t>> others_;
};

}  // namespace

bool equal_unordered(const List& a, const List& b, std::uint64_t& work, int depth) {
  const Items items(a, work);
  return std::ranges::all_of(b, [&](const Value& item) {
    const auto at = items.find(item);
    return at && (!a.keys || equal(a[*at], item, work, depth));
  });
}

List joined(const List& a, const List& b, std::uint64_t& work) {
  List out = a;
  Items items(a, work);
  for (const Value& item : b) {
    if (const auto at = items.find(item)) {
      if (a.keys) out[*at] = item;
      continue;
    }
    items.add(item, out.size());
    out.push_back(item);
  }
  return out;
}

}  // namespace api::cel
