// The representations of a text, a list and an object of a Json, and how an object finds its members. Private to
// json.cc.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "api/json/shared_text.h"
#include "api/json/work.h"
#include "base/check.h"

namespace api {

// The text stands behind its length, in the same piece of memory: objects are mostly texts. Or it lies elsewhere, and
// what stands here says where.
struct Json::StringRep {
  static constexpr std::uint32_t kElsewhere = std::uint32_t{1} << 31;  // in `size`
  struct Place {
    std::shared_ptr<const void> owner;
    const char* text;
  };

  std::atomic<std::uint32_t> count{1};
  std::uint32_t size = 0;

  ~StringRep() {
    if ((size & kElsewhere) != 0) place().~Place();
  }
  static Json share(std::string_view text, std::shared_ptr<const void> owner) {
    CHECK(text.size() < kElsewhere);
    auto* rep = new (::operator new(sizeof(StringRep) + sizeof(Place))) StringRep;
    rep->size = static_cast<std::uint32_t>(text.size()) | kElsewhere;
    new (static_cast<void*>(rep + 1)) Place{std::move(owner), text.data()};
    Json json;
    json.set_word(reinterpret_cast<std::uint64_t>(rep));
    json.tag_ = kTagString;
    return json;
  }

  static StringRep* make(std::string_view text) {
    CHECK(text.size() < kElsewhere);  // no document is as long
    auto* rep = new (::operator new(sizeof(StringRep) + text.size())) StringRep;
    rep->size = static_cast<std::uint32_t>(text.size());
    std::memcpy(static_cast<void*>(rep + 1), text.data(), text.size());
    return rep;
  }
  static void operator delete(void* rep) { ::operator delete(rep); }
  bool is(std::string_view other) const { return text() == other; }
  std::string_view text() const {
    if ((size & kElsewhere) != 0) return {place().text, size & ~kElsewhere};
    return {reinterpret_cast<const char*>(this + 1), size};
  }
  Place& place() { return *std::launder(reinterpret_cast<Place*>(this + 1)); }
  const Place& place() const { return *std::launder(reinterpret_cast<const Place*>(this + 1)); }
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

// The places of a large object's members: open addressing by hash; a slot holds the member's position plus one. Names
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
    if (!index) return scan(key);
    if (index->sorted) {
      const auto found = index->sorted->find(key);
      return found == index->sorted->end() ? nullptr : &members[*found];
    }
    const std::size_t slot = slot_of(key);
    return slot == kNowhere ? nullptr : &members[index->slots[slot] - 1];
  }

  const Member* find(const Words& name) const {
    if (index) return find(std::string_view(reinterpret_cast<const char*>(&name), name.high >> 48 & 0xff));
    return scan(name);
  }

  static bool equal_names(const Json& a, const Json& b) {
    if (a.tag_ == kTagString && b.tag_ == kTagString) return a.as_string() == b.as_string();
    return a.words() == b.words();
  }

  // Whether there are no equal names. Two of equal bits are compared, which most objects have none of.
  static bool all_differ(const std::vector<Member>& members) {
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const std::uint64_t bit = std::uint64_t{1} << bit_of(members[i].key);
      for (std::size_t k = 0; k < i && (seen & bit) != 0; ++k)
        if (equal_names(members[i].key, members[k].key)) return false;
      seen |= bit;
    }
    return true;
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

  // One of 64, the same for equal names.
  static unsigned bit_of(const Json& name) {
    Words words = name.words();
    if (name.tag_ == kTagString) {
      const std::string_view text = name.as_string();  // longer than a word
      std::memcpy(&words.low, text.data(), sizeof words.low);
      std::memcpy(&words.high, text.data() + text.size() - sizeof words.high, sizeof words.high);
    }
    return static_cast<unsigned>(((words.low ^ std::rotl(words.high, 32)) * 0x9E3779B97F4A7C15) >> 58);
  }

  const Member* scan(const Words& name) const {
    for (const Member& member : members)
      if (member.key.words() == name) return &member;
    return nullptr;
  }

  // Most names are short, and two words say whether they are equal.
  const Member* scan(std::string_view key) const {
    if (key.size() <= kInlineMax) return scan(short_words(key));
    for (const Member& member : members)
      if (member.key.tag_ == kTagString && member.key.rep<StringRep>()->is(key)) return &member;
    return nullptr;
  }

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
    // An entry that did not fit where the hole is comes back to it.
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

}  // namespace api
