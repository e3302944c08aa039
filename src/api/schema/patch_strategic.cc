// Strategic merge patch along a schema.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "api/json/json_bulk.h"
#include "api/json/problems.h"
#include "api/json/work.h"
#include "api/schema/patch.h"
#include "base/format.h"

namespace api {
namespace {

using base::Code;
using base::make_error;
using base::Result;

constexpr std::string_view kOrderPrefix = "$setElementOrder/";
constexpr std::string_view kDeletePrefix = "$deleteFromPrimitiveList/";
constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";

const Schema& field_schema(const Schema& schema, std::string_view name) {
  if (schema.kind == Schema::Kind::kMap) return *schema.element;
  const SchemaField* field = schema.kind == Schema::Kind::kObject ? schema.field(name) : nullptr;
  return field ? *field->schema : any_schema();
}

bool is_directive(std::string_view name) {
  return name == kDirective || name == kRetainKeys || name.starts_with(kOrderPrefix) || name.starts_with(kDeletePrefix);
}

// The patch value without directives, as it is stored when there was nothing before.
Json without_directives(const Json& patch) {
  if (patch.is_array()) {
    Json out = Json::array();
    for (const Json& item : patch.items())
      if (item["$patch"].as_string() != "delete") out.push_back(without_directives(item));
    return out;
  }
  if (!patch.is_object()) return patch;
  Json out = Json::object();
  for (const Json::Member& member : patch.members())
    if (!is_directive(member.name()) && !member.value.is_null())
      out.set(member.name(), without_directives(member.value));
  return out;
}

// Each part of a patch is looked at once, and so is what it merges into; but items of one key may come without end, and
// lists in what they merge into are looked at anew for each.
struct StepLimit {
  std::uint64_t most;
  std::uint64_t begun = work_steps;

  bool is_exceeded() const { return work_steps - begun > most; }
};

// The document is handed over: with a second handle of it elsewhere, every edit would copy what it edits.
Result<Json> merge_object(const Schema& schema, Json document, const Json& patch, const StepLimit& limit);

// The identity of a list's items: a merge key, or the whole item.
std::string item_identity(const Json& item, const std::string& key) {
  std::string identity = identity_of(key.empty() ? item : item[key]);
  // To look it up among others takes as long as to move several members, and longer the longer it is.
  count_work(8 + identity.size() / 16);
  return identity;
}

// The places of a list's items.
using Places = std::map<std::string, std::size_t>;

Places places_of(const Json& list, const std::string& key) {
  Places places;
  for (std::size_t i = 0; i < list.items().size(); ++i) places.emplace(item_identity(list[i], key), i);
  return places;
}

// Items in the order of `order` (values of the merge key, or scalars). Others go before the next of these that comes
// after them in `live`, the list before the patch; items that `live` has not let no others go before them.
void reorder(Json& list, const Places& live, const Json& order, const std::string& key) {
  struct Row {
    std::size_t rank;                  // in `order`
    std::optional<std::size_t> place;  // in `live`
    const Json* item;
  };
  const Places ranks = places_of(order, key);
  std::vector<Row> ordered;
  std::vector<Row> others;
  for (const Json& item : list.items()) {
    const std::string identity = item_identity(item, key);
    const auto rank = ranks.find(identity);
    const auto place = live.find(identity);
    (rank == ranks.end() ? others : ordered)
        .push_back({rank == ranks.end() ? 0 : rank->second,
                    place == live.end() ? std::nullopt : std::optional(place->second), &item});
  }
  std::ranges::stable_sort(ordered, {}, &Row::rank);
  std::vector<Json> out;
  out.reserve(list.size());
  auto other = others.begin();
  for (const Row& row : ordered) {
    for (; row.place && other != others.end() && other->place && *other->place < *row.place; ++other)
      out.push_back(*other->item);
    out.push_back(*row.item);
  }
  for (; other != others.end(); ++other) out.push_back(*other->item);
  list = Json::array(std::move(out));
}

// A list of objects while items of a patch are merged into it: where the items of each key are.
class KeyedList {
 public:
  // The list goes, so that its items are edited in place.
  KeyedList(Json list, const std::string& key) : key_(key) {
    for (const Json& item : list.items()) push_back(item);
  }

  void push_back(Json item) {
    places_[item_identity(item, key_)].push_back(items_.size());
    items_.push_back(std::move(item));
  }
  // The first item with the key of `like`; null: there is none.
  Json* find(const Json& like) {
    const auto found = places_.find(item_identity(like, key_));
    return found == places_.end() ? nullptr : &items_[found->second.front()];
  }
  // All items with the key of `like`: ports of two protocols may have one number.
  void erase(const Json& like) {
    const auto found = places_.find(item_identity(like, key_));
    if (found == places_.end()) return;
    gone_.insert(found->second.begin(), found->second.end());
    places_.erase(found);
  }
  Json take() {
    if (gone_.empty()) return Json::array(std::move(items_));
    std::vector<Json> kept;
    for (std::size_t i = 0; i < items_.size(); ++i)
      if (!gone_.contains(i)) kept.push_back(std::move(items_[i]));
    return Json::array(std::move(kept));
  }

 private:
  const std::string& key_;
  std::vector<Json> items_;
  std::map<std::string, std::vector<std::size_t>> places_;
  std::set<std::size_t> gone_;
};

Result<Json> merge_keyed_list(const Schema& schema, Json document, const Json& patch, const StepLimit& limit) {
  const std::string& key = schema.patch_merge_key;
  for (const Json& item : patch.items())
    if (item["$patch"].as_string() == "replace") {
      Json replaced = Json::array();
      for (const Json& other : patch.items())
        if (!other.has(kDirective)) replaced.push_back(without_directives(other));
      return replaced;
    }
  KeyedList result(std::move(document), key);
  // Deletions come before anything merges, wherever the patch says them.
  for (const Json& item : patch.items()) {
    if (!item.has(key))
      return make_error(Code::kBadRequest, base::format("map: {} does not contain declared merge key: {}",
                                                        shortened(item.dump(), 256), key));
    if (item[kDirective].as_string() == "delete") result.erase(item);
  }
  for (const Json& item : patch.items()) {
    if (item[kDirective].as_string() == "delete") continue;
    if (Json* there = result.find(item)) {
      TRY(*there, merge_object(*schema.element, std::move(*there), item, limit));
    } else {
      result.push_back(without_directives(item));
    }
    if (limit.is_exceeded())
      return make_error(
          Code::kTooLarge,
          base::format("the strategic merge patch takes more than {} steps of work: it stopped at an item with {} {}",
                       limit.most, key, shown(item[key])));
  }
  return result.take();
}

Json merge_scalar_list(Json document, const Json& patch) {
  Json result = document.is_array() ? std::move(document) : Json::array();
  std::set<std::string> present;
  for (const Json& item : result.items()) present.insert(item_identity(item, {}));
  for (const Json& item : patch.items())
    if (present.insert(item_identity(item, {})).second) result.push_back(item);
  return result;
}

// `old` is null where there was nothing.
Result<Json> merge_value(const Schema& schema, Json old, const Json& value, const StepLimit& limit) {
  if (value.is_object() && schema.kind != Schema::Kind::kAny) return merge_object(schema, std::move(old), value, limit);
  if (value.is_object()) return apply_merge_patch(std::move(old), value);
  if (value.is_array() && schema.kind == Schema::Kind::kList && schema.patch_merge) {
    if (schema.patch_merge_key.empty()) return merge_scalar_list(std::move(old), value);
    return merge_keyed_list(schema, std::move(old), value, limit);
  }
  return value;
}

// By list: where its items were before the patch, of the lists that the patch puts in order.
using LivePlaces = std::map<std::string, Places, std::less<>>;

LivePlaces live_places(const Schema& schema, const Json& document, const Json& patch) {
  LivePlaces places;
  for (const Json::Member& member : patch.members()) {
    if (!member.name().starts_with(kOrderPrefix)) continue;
    const std::string_view name = member.name().substr(kOrderPrefix.size());
    places.emplace(name, places_of(document[name], field_schema(schema, name).patch_merge_key));
  }
  return places;
}

void apply_list_directives(const Schema& schema, const LivePlaces& live, const Json& patch, Json& result) {
  for (const Json::Member& member : patch.members()) {
    if (member.name().starts_with(kDeletePrefix)) {
      const std::string name(member.name().substr(kDeletePrefix.size()));
      if (!result.has(name)) continue;
      std::set<std::string> gone;
      for (const Json& item : member.value.items()) gone.insert(item_identity(item, {}));
      Json kept = Json::array();
      for (const Json& item : result[name].items())
        if (!gone.contains(item_identity(item, {}))) kept.push_back(item);
      result.set(name, std::move(kept));
    } else if (member.name().starts_with(kOrderPrefix)) {
      const std::string name(member.name().substr(kOrderPrefix.size()));
      if (result[name].is_array())
        reorder(result.edit(name), live.at(name), member.value, field_schema(schema, name).patch_merge_key);
    }
  }
}

Result<Json> merge_object(const Schema& schema, Json document, const Json& patch, const StepLimit& limit) {
  const std::string_view directive = patch["$patch"].as_string();
  if (directive == "replace") return without_directives(patch);
  if (directive == "delete") return Json::object();
  if (!directive.empty() && directive != "merge")
    return make_error(Code::kBadRequest, base::format("unknown patch type found: {}", shortened(directive, 64)));
  const LivePlaces live = live_places(schema, document, patch);
  Json result = document.is_object() ? std::move(document) : Json::object();
  std::set<std::string, std::less<>> gone;
  for (const Json::Member& member : patch.members()) {
    if (is_directive(member.name())) continue;
    if (member.value.is_null()) {
      gone.emplace(member.name());
      continue;
    }
    Json old;
    if (result.has(member.name())) old.swap(result.edit(member.name()));
    TRY(Json merged, merge_value(field_schema(schema, member.name()), std::move(old), member.value, limit));
    result.set(member.name(), std::move(merged));
  }
  erase_members(result, gone);
  apply_list_directives(schema, live, patch, result);
  if (const Json* retain = patch.find(kRetainKeys)) {
    std::set<std::string, std::less<>> kept;
    for (const Json& name : retain->items()) kept.emplace(name.as_string());
    erase_members(result, [&](const Json::Member& member) { return !kept.contains(member.name()); });
  }
  return result;
}

}  // namespace

Result<Json> apply_strategic_patch(const Schema& schema, const Json& document, const Json& patch,
                                   std::uint64_t steps_max) {
  if (!patch.is_object()) return make_error(Code::kBadRequest, "a strategic merge patch must be an object");
  return merge_object(schema, document, patch, {.most = steps_max});
}

}  // namespace api
