// Representation, sharing and editing of Json values. Parsing and writing are in json_text.cc.
#include "api/json/json.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <optional>
#include <set>

#include "api/json/work.h"

namespace api {

struct Json::StringRep {
  std::atomic<std::uint32_t> count{1};
  std::string text;
};
struct Json::ArrayRep {
  std::atomic<std::uint32_t> count{1};
  std::vector<Json> items;
};

// Orders positions by the names of their members.
struct ByName {
  using is_transparent = void;
  const std::vector<Json::Member>* members;
  std::string_view name(std::uint32_t position) const { return (*members)[position].name(); }
  static std::string_view name(std::string_view text) { return text; }
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    count_work(1);
    return name(a) < name(b);
  }
};

// Where the members of a large object are: open addressing by hash; a slot holds the member's position plus one. Names
// that were made to share one place (whoever knows the hash can make as many as they like) are looked up in order
// instead. Only the object's owner changes it, so readers in other threads need no lock.
struct LargeIndex {
  std::vector<std::uint32_t> slots;
  std::optional<std::set<std::uint32_t, ByName>> sorted;  // then there are no slots
};

struct Json::ObjectRep {
  static constexpr std::size_t kScannedMax = 32;  // up to so many members a scan is as fast
  static constexpr std::size_t kProbesMax = 256;  // names that are not made to collide need far fewer

  std::atomic<std::uint32_t> count{1};
  std::vector<Member> members;
  std::unique_ptr<LargeIndex> index;  // of objects with more members than are scanned

  const Member* find(std::string_view key) const {
    if (!index) {
      for (const Member& member : members)
        if (member.name() == key) return &member;
      return nullptr;
    }
    if (index->sorted) {
      const auto found = index->sorted->find(key);
      return found == index->sorted->end() ? nullptr : &members[*found];
    }
    const std::size_t slot = slot_of(key);
    return slot == kNowhere ? nullptr : &members[index->slots[slot] - 1];
  }

  // The key is not there yet.
  Member& append(Member member) {
    members.push_back(std::move(member));
    if (!index ? members.size() > kScannedMax : !index->sorted && members.size() * 2 > index->slots.size())
      make_index();
    else if (index)
      place(members.size() - 1);
    return members.back();
  }

  void erase(std::size_t position) {
    count_work(members.size() - position);
    if (index) unplace(position);
    members.erase(members.begin() + static_cast<std::ptrdiff_t>(position));
    if (members.size() <= kScannedMax) index.reset();
  }

  void make_index() {
    index.reset();
    if (members.size() <= kScannedMax) return;
    count_work(members.size());
    index = std::make_unique<LargeIndex>();
    index->slots.resize(std::bit_ceil(members.size() * 4));
    for (std::size_t i = 0; i < members.size() && !index->sorted; ++i) place(i);
  }

 private:
  static constexpr std::size_t kNowhere = SIZE_MAX;

  std::size_t home_of(std::string_view key) const {
    return std::hash<std::string_view>()(key) & (index->slots.size() - 1);
  }

  std::size_t slot_of(std::string_view key) const {
    const std::vector<std::uint32_t>& slots = index->slots;
    for (std::size_t at = home_of(key);; at = (at + 1) & (slots.size() - 1)) {
      count_work(1);
      if (slots[at] == 0) return kNowhere;
      if (members[slots[at] - 1].name() == key) return at;
    }
  }

  void place(std::size_t position) {
    const auto number = static_cast<std::uint32_t>(position);
    if (index->sorted) {
      index->sorted->insert(number);
      return;
    }
    std::vector<std::uint32_t>& slots = index->slots;
    std::size_t at = home_of(members[position].name());
    for (std::size_t probes = 0; slots[at] != 0; at = (at + 1) & (slots.size() - 1)) {
      count_work(1);
      if (++probes > kProbesMax) return sort_index();
    }
    slots[at] = number + 1;
  }

  void sort_index() {
    index->slots = {};
    index->sorted.emplace(ByName{&members});
    for (std::uint32_t i = 0; i < members.size(); ++i) index->sorted->insert(i);
  }

  // Before the member goes; those behind it move up.
  void unplace(std::size_t position) {
    count_work(members.size());
    if (index->sorted) {
      index->sorted->erase(index->sorted->find(static_cast<std::uint32_t>(position)));
      // The order is that of the names, which stays.
      for (const std::uint32_t& other : *index->sorted)
        if (other > position) --const_cast<std::uint32_t&>(other);
      return;
    }
    std::vector<std::uint32_t>& slots = index->slots;
    const std::size_t mask = slots.size() - 1;
    std::size_t hole = slot_of(members[position].name());
    // What did not fit where the hole is comes back to it.
    for (std::size_t at = (hole + 1) & mask; slots[at] != 0; at = (at + 1) & mask) {
      const std::size_t home = home_of(members[slots[at] - 1].name());
      if (((at - home) & mask) < ((at - hole) & mask)) continue;
      slots[hole] = slots[at];
      hole = at;
    }
    slots[hole] = 0;
    for (std::uint32_t& slot : slots)
      if (slot > position + 1) --slot;
  }
};

namespace {

const Json kNull;

template <class Rep>
void drop(Rep* rep) noexcept {
  if (rep->count.fetch_sub(1, std::memory_order_acq_rel) == 1) delete rep;
}

}  // namespace

Json::Json(std::uint64_t value) noexcept {
  raw_clear();
  tag_ = value <= INT64_MAX ? kTagInt : kTagUint;
  set_word(value);
}

Json::Json(double value) noexcept {
  raw_clear();
  tag_ = kTagDouble;
  set_word(std::bit_cast<std::uint64_t>(value));
}

Json::Json(std::string_view value) {
  raw_clear();
  if (value.size() <= kInlineMax) {
    if (!value.empty()) std::memcpy(bytes_, value.data(), value.size());
    bytes_[kInlineMax] = static_cast<unsigned char>(value.size());
    tag_ = kTagShort;
  } else {
    auto rep = std::make_unique<StringRep>();
    rep->text = value;
    set_word(reinterpret_cast<std::uint64_t>(rep.release()));
    tag_ = kTagString;
  }
}

Json Json::array(std::vector<Json> items) {
  auto rep = std::make_unique<ArrayRep>();
  rep->items = std::move(items);
  Json json;
  json.set_word(reinterpret_cast<std::uint64_t>(rep.release()));
  json.tag_ = kTagArray;
  return json;
}

Json Json::object(std::initializer_list<std::pair<std::string_view, Json>> members) {
  auto rep = std::make_unique<ObjectRep>();
  rep->members.reserve(members.size());
  for (const auto& [key, value] : members) rep->members.push_back({Json(key), value});
  rep->make_index();
  Json json;
  json.set_word(reinterpret_cast<std::uint64_t>(rep.release()));
  json.tag_ = kTagObject;
  return json;
}

void Json::copy_from(const Json& other) noexcept {
  std::memcpy(bytes_, other.bytes_, sizeof bytes_);
  tag_ = other.tag_;
  switch (tag_) {
    case kTagString: rep<StringRep>()->count.fetch_add(1, std::memory_order_relaxed); break;
    case kTagArray: rep<ArrayRep>()->count.fetch_add(1, std::memory_order_relaxed); break;
    case kTagObject: rep<ObjectRep>()->count.fetch_add(1, std::memory_order_relaxed); break;
    default: break;
  }
}

void Json::release() noexcept {
  switch (tag_) {
    case kTagString: drop(rep<StringRep>()); break;
    case kTagArray: drop(rep<ArrayRep>()); break;
    case kTagObject: drop(rep<ObjectRep>()); break;
    default: break;
  }
}

void Json::swap(Json& other) noexcept {
  unsigned char saved[sizeof bytes_];
  std::memcpy(saved, bytes_, sizeof bytes_);
  std::memcpy(bytes_, other.bytes_, sizeof bytes_);
  std::memcpy(other.bytes_, saved, sizeof bytes_);
  std::swap(tag_, other.tag_);
}

Json::Type Json::type() const {
  switch (tag_) {
    case kTagNull: return Type::kNull;
    case kTagBool: return Type::kBool;
    case kTagInt: return Type::kInt;
    case kTagUint: return Type::kUint;
    case kTagDouble: return Type::kDouble;
    case kTagShort:
    case kTagString: return Type::kString;
    case kTagArray: return Type::kArray;
    case kTagObject: return Type::kObject;
  }
  return Type::kNull;
}

std::int64_t Json::as_int(std::int64_t fallback) const {
  if (tag_ == kTagInt) return static_cast<std::int64_t>(word());
  if (tag_ == kTagUint) return INT64_MAX;
  if (tag_ == kTagDouble) {
    const double value = std::bit_cast<double>(word());
    if (value >= 9.2233720368547748e18) return INT64_MAX;
    if (value <= -9.2233720368547758e18) return INT64_MIN;
    return static_cast<std::int64_t>(value);
  }
  return fallback;
}

std::uint64_t Json::as_uint(std::uint64_t fallback) const {
  if (tag_ == kTagUint) return word();
  const std::int64_t value = as_int(-1);
  return value < 0 ? fallback : static_cast<std::uint64_t>(value);
}

double Json::as_double(double fallback) const {
  if (tag_ == kTagInt) return static_cast<double>(static_cast<std::int64_t>(word()));
  if (tag_ == kTagUint) return static_cast<double>(word());
  if (tag_ == kTagDouble) return std::bit_cast<double>(word());
  return fallback;
}

std::string_view Json::as_string(std::string_view fallback) const {
  if (tag_ == kTagShort) return {reinterpret_cast<const char*>(bytes_), bytes_[kInlineMax]};
  if (tag_ == kTagString) return rep<StringRep>()->text;
  return fallback;
}

std::span<const Json> Json::items() const {
  if (tag_ != kTagArray) return {};
  return rep<ArrayRep>()->items;
}

std::span<const Json::Member> Json::members() const {
  if (tag_ != kTagObject) return {};
  return rep<ObjectRep>()->members;
}

std::size_t Json::members_size() const { return rep<ObjectRep>()->members.size(); }

const Json* Json::find(std::string_view key) const {
  if (tag_ != kTagObject) return nullptr;
  const Member* found = rep<ObjectRep>()->find(key);
  return found ? &found->value : nullptr;
}

const Json& Json::operator[](std::string_view key) const {
  const Json* found = find(key);
  return found ? *found : kNull;
}

const Json& Json::operator[](std::size_t index) const {
  const auto all = items();
  return index < all.size() ? all[index] : kNull;
}

Json Json::object_of_size(std::size_t members) {
  Json out = object();
  out.own_object().members.reserve(members);
  return out;
}

Json::ObjectRep& Json::own_object() {
  if (is_null()) *this = object();
  CHECK(is_object());
  auto* mine = rep<ObjectRep>();
  if (mine->count.load(std::memory_order_acquire) != 1) {
    count_work(mine->members.size());
    auto copy = std::make_unique<ObjectRep>();
    copy->members = mine->members;
    if (mine->index && mine->index->sorted)
      copy->make_index();  // it looks at the names where they are
    else if (mine->index)
      copy->index = std::make_unique<LargeIndex>(LargeIndex{mine->index->slots, {}});
    Json replacement;
    replacement.set_word(reinterpret_cast<std::uint64_t>(copy.release()));
    replacement.tag_ = kTagObject;
    swap(replacement);
  }
  return *rep<ObjectRep>();
}

Json::ArrayRep& Json::own_array() {
  if (is_null()) *this = array();
  CHECK(is_array());
  auto* mine = rep<ArrayRep>();
  if (mine->count.load(std::memory_order_acquire) != 1) {
    count_work(mine->items.size());
    *this = array(mine->items);
  }
  return *rep<ArrayRep>();
}

Json& Json::edit(std::string_view key) {
  ObjectRep& mine = own_object();
  if (const Member* found = mine.find(key)) return const_cast<Member*>(found)->value;
  return mine.append({Json(key), Json()}).value;
}

Json& Json::edit(std::size_t index) {
  ArrayRep& mine = own_array();
  CHECK(index < mine.items.size());
  return mine.items[index];
}

void Json::set(std::string_view key, Json value) { edit(key) = std::move(value); }

bool Json::erase(std::string_view key) {
  if (tag_ != kTagObject) return false;
  const auto* all = rep<ObjectRep>();
  const Member* found = all->find(key);
  if (!found) return false;
  const std::size_t position = static_cast<std::size_t>(found - all->members.data());
  own_object().erase(position);
  return true;
}

void Json::push_back(Json value) { own_array().items.push_back(std::move(value)); }

void Json::insert(std::size_t index, Json value) {
  ArrayRep& mine = own_array();
  CHECK(index <= mine.items.size());
  count_work(mine.items.size() - index);
  mine.items.insert(mine.items.begin() + static_cast<std::ptrdiff_t>(index), std::move(value));
}

void Json::erase_at(std::size_t index) {
  ArrayRep& mine = own_array();
  CHECK(index < mine.items.size());
  count_work(mine.items.size() - index);
  mine.items.erase(mine.items.begin() + static_cast<std::ptrdiff_t>(index));
}

Json& Json::edit_path(std::initializer_list<std::string_view> keys) {
  Json* at = this;
  for (const std::string_view key : keys) at = &at->edit(key);
  return *at;
}

const Json& Json::at_path(std::initializer_list<std::string_view> keys) const {
  const Json* at = this;
  for (const std::string_view key : keys) at = &(*at)[key];
  return *at;
}

bool Json::same_as(const Json& other) const {
  return tag_ == other.tag_ && std::memcmp(bytes_, other.bytes_, sizeof bytes_) == 0;
}

bool operator==(const Json& a, const Json& b) {
  count_work(1);
  if (a.same_as(b)) return a.tag_ != Json::kTagDouble || a.as_double() == b.as_double();
  if (a.is_number() && b.is_number()) {
    if (a.tag_ == Json::kTagDouble || b.tag_ == Json::kTagDouble) return a.as_double() == b.as_double();
    return false;  // int and uint ranges do not meet; equal words are the same_as case
  }
  if (a.type() != b.type()) return false;
  if (a.is_string()) return a.as_string() == b.as_string();
  if (a.is_array()) return std::ranges::equal(a.items(), b.items());
  if (a.is_object()) {
    if (a.size() != b.size()) return false;
    const auto mine = a.members();
    const auto theirs = b.members();
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const bool aligned = theirs[i].name() == mine[i].name();
      const Json* other = aligned ? &theirs[i].value : b.find(mine[i].name());
      if (!other || !(mine[i].value == *other)) return false;
    }
    return true;
  }
  return false;
}

Json Json::sorted() const {
  if (is_array()) {
    std::vector<Json> out;
    out.reserve(size());
    for (const Json& item : items()) out.push_back(item.sorted());
    return array(std::move(out));
  }
  if (!is_object()) return *this;
  Json out = object();
  ObjectRep& mine = out.own_object();
  auto& target = mine.members;
  target.reserve(size());
  for (const Member& member : members()) target.push_back({member.key, member.value.sorted()});
  std::ranges::stable_sort(target, [](const Member& a, const Member& b) { return a.name() < b.name(); });
  mine.make_index();
  return out;
}

}  // namespace api
