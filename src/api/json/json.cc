// Representation, sharing and editing of Json values. Parsing is in json_parse.cc, writing in json_text.cc.
#include "api/json/json.h"

#include <algorithm>
#include <bit>

#include "api/json/json_reps.h"
#include "api/json/shared_text.h"
#include "api/json/work.h"

namespace api {

namespace {

const Json kNull;

template <class Rep>
void drop(Rep* rep) noexcept {
  if (rep->count.fetch_sub(1, std::memory_order_acq_rel) == 1) delete rep;
}

}  // namespace

Json share_text(std::string_view text, std::shared_ptr<const void> owner) {
  return Json::StringRep::share(text, std::move(owner));
}

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

void Json::make_long(std::string_view text) {
  raw_clear();
  set_word(reinterpret_cast<std::uint64_t>(StringRep::make(text)));
  tag_ = kTagString;
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

Json Json::object_of(std::vector<Member> members) {
  auto rep = std::make_unique<ObjectRep>();
  if (members.size() <= ObjectRep::kScannedMax && ObjectRep::all_differ(members)) {
    rep->members = std::move(members);
  } else {
    for (Member& member : members) {
      if (const Member* found = rep->find(member.name()))
        const_cast<Member*>(found)->value = std::move(member.value);
      else
        rep->append(std::move(member));
    }
  }
  Json json;
  json.set_word(reinterpret_cast<std::uint64_t>(rep.release()));
  json.tag_ = kTagObject;
  return json;
}

void Json::retain() const noexcept {
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

std::string_view Json::long_text() const { return rep<StringRep>()->text(); }

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

const Json& Json::member_or_null(const Words& name) const {
  if (tag_ != kTagObject) return kNull;
  const Member* found = rep<ObjectRep>()->find(name);
  return found ? found->value : kNull;
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
