// Bookkeeping of owners, and the three-way merge of server-side apply.
#include "api/schema/managed_fields.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>

#include "api/json/json_bulk.h"
#include "api/json/problems.h"
#include "api/json/work.h"
#include "api/schema/field_set.h"
#include "base/format.h"

namespace api {
namespace {

constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";
constexpr std::size_t kAnnotationBytesMax = std::size_t{256} << 10;  // of all of an object; Kubernetes' own

using base::Cause;
using base::Code;

constexpr std::size_t kKeyShownMax = 256;  // of a key in a message

struct Entry {
  std::string manager, operation, api_version, subresource, time;
  FieldSet fields;
};

std::vector<Entry> entries_in(const Json& list) {
  std::vector<Entry> entries;
  for (const Json& row : list.items())
    entries.push_back({row["manager"].str(), row["operation"].str(), row["apiVersion"].str(), row["subresource"].str(),
                       row["time"].str(), field_set_from(row["fieldsV1"])});
  return entries;
}

std::vector<Entry> entries_of(const Json& object) { return entries_in(object["metadata"]["managedFields"]); }

// The owners that a client names, as far as a server could have written them; entries of the same writer are one.
std::vector<Entry> entries_sent(const Json& list) {
  constexpr std::size_t kManagerBytesMax = 128;  // Kubernetes' own limits
  constexpr std::size_t kSubresourceBytesMax = 256;
  std::vector<Entry> entries;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> places;
  for (Entry& entry : entries_in(list)) {
    strip_server_fields(entry.fields);
    const auto time = base::parse_rfc3339(entry.time);
    const bool readable = std::ranges::none_of(entry.manager, [](unsigned char c) { return c < ' ' || c == 0x7f; });
    if ((entry.operation != "Apply" && entry.operation != "Update") || entry.fields.empty() || !readable ||
        entry.manager.size() > kManagerBytesMax || entry.subresource.size() > kSubresourceBytesMax ||
        (!time && !entry.time.empty()))
      continue;
    if (time) entry.time = base::format_rfc3339(*time);
    const auto [place, is_first] =
        places.try_emplace(std::tuple(entry.manager, entry.operation, entry.subresource), entries.size());
    if (is_first) {
      entries.push_back(std::move(entry));
      continue;
    }
    Entry& into = entries[place->second];
    add(into.fields, entry.fields);
    into.time = std::max(into.time, entry.time);
  }
  return entries;
}

// An empty list, or one of an empty entry, which JSON patches can write: nobody owns anything.
bool is_reset(const Json& list) {
  return list.is_array() && list.size() <= 1 && (list.empty() || list[std::size_t{0}].empty());
}

void store_entries(std::vector<Entry> entries, Json& object) {
  if (!object["metadata"].is_null() && !object["metadata"].is_object()) return;  // validation names it
  std::erase_if(entries, [](const Entry& e) { return e.fields.empty(); });
  // Applies first, then by time, then by name, as Kubernetes orders them.
  std::ranges::stable_sort(entries, [](const Entry& a, const Entry& b) {
    if (a.operation != b.operation) return a.operation == "Apply";
    if (a.time != b.time) return a.time < b.time;
    return std::tie(a.manager, a.subresource) < std::tie(b.manager, b.subresource);
  });
  if (entries.empty()) {
    object.edit("metadata").erase("managedFields");
    return;
  }
  Json list = Json::array();
  for (const Entry& entry : entries) {
    Json row =
        Json::object({{"manager", entry.manager}, {"operation", entry.operation}, {"apiVersion", entry.api_version}});
    if (!entry.time.empty()) row.set("time", entry.time);
    row.set("fieldsType", "FieldsV1");
    row.set("fieldsV1", to_fields_v1(entry.fields));
    if (!entry.subresource.empty()) row.set("subresource", entry.subresource);
    list.push_back(std::move(row));
  }
  object.edit("metadata").set("managedFields", std::move(list));
}

Entry& entry_for(std::vector<Entry>& entries, const FieldManager& manager, std::string_view operation) {
  for (Entry& entry : entries)
    if (entry.manager == manager.name && entry.operation == operation && entry.subresource == manager.subresource)
      return entry;
  entries.push_back({manager.name, std::string(operation), manager.api_version, manager.subresource, "", {}});
  return entries.back();
}

// Kubernetes' own: the oldest updates beyond so many become one entry, or whoever writes under many names makes every
// later write of the object slower.
constexpr std::size_t kUpdateManagersMax = 10;
constexpr std::string_view kOldUpdates = "ancient-changes";

void cap_update_managers(std::vector<Entry>& entries) {
  std::vector<std::size_t> updates;
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (entries[i].operation == "Update" && !entries[i].fields.empty()) updates.push_back(i);
  if (updates.size() <= kUpdateManagersMax) return;
  std::ranges::stable_sort(updates, [&](std::size_t a, std::size_t b) { return entries[a].time < entries[b].time; });
  std::size_t left = updates.size();
  std::map<std::string, std::size_t> first_of_version;
  for (const std::size_t at : updates) {
    if (left <= kUpdateManagersMax) break;
    Entry& old = entries[at];
    const auto [bucket, is_first] = first_of_version.try_emplace(old.api_version, at);
    if (is_first) continue;
    Entry& into = entries[bucket->second];
    into.manager = kOldUpdates;
    into.subresource.clear();
    into.time = old.time;
    add(into.fields, old.fields);
    old.fields = FieldSet();  // entries without fields are not stored
    --left;
  }
}

Json merge(const Schema& schema, const Json& live, const Json& config);

// One side of two lists that become one.
struct ListSide {
  std::vector<std::string> elements;                           // of the items, in order
  std::map<std::string, const Json*, std::less<>> by_element;  // null: there are several such items
  std::span<const Json> items;

  ListSide(const Schema& schema, const Json& list) : items(list.items()) {
    elements.reserve(items.size());
    for (const Json& item : items) {
      elements.push_back(list_element(schema, item));
      const auto [row, is_first] = by_element.try_emplace(elements.back(), &item);
      if (!is_first) row->second = nullptr;
    }
  }
};

// Items that the configuration names come in its order; items that only the live list has keep their place relative to
// their neighbours. The configuration's item takes the place of several items of an element in the live list.
Json merge_list(const Schema& schema, const Json& live, const Json& config) {
  const ListSide left(schema, live);
  const ListSide right(schema, config);
  std::vector<std::string_view> shared;  // what both have, in the configuration's order
  for (const std::string& element : right.elements)
    if (left.by_element.contains(element)) shared.push_back(element);
  Json out = Json::array();
  std::set<std::string_view> taken;
  std::size_t l = 0;
  std::size_t r = 0;
  std::size_t next = 0;
  const auto take_configured = [&] {
    const std::string& element = right.elements[r];
    const Json& item = right.items[r++];
    const auto old = left.by_element.find(element);
    const bool merges = schema.list_type == Schema::ListType::kMap && old != left.by_element.end() && old->second;
    out.push_back(merges ? merge(*schema.element, *old->second, item) : item);
    taken.insert(element);
    if (next < shared.size() && shared[next] == element) ++next;
  };
  while (l < left.elements.size() || r < right.elements.size()) {
    count_work(1);
    if (l < left.elements.size()) {
      const std::string& element = left.elements[l];
      if (!right.by_element.contains(element)) {
        out.push_back(left.items[l++]);
        continue;
      }
      if (r < right.elements.size() && element == right.elements[r]) {
        ++l;
        take_configured();
        continue;
      }
      // It comes where the configuration has it.
      if (r < right.elements.size() && next < shared.size() && shared[next] != element) {
        ++l;
        continue;
      }
      if (taken.contains(element)) ++l;
    }
    if (r < right.elements.size()) take_configured();
  }
  return out;
}

// The value of `live` with `config` laid over it.
Json merge(const Schema& schema, const Json& live, const Json& config) {
  const Shape shape = shape_of(schema, config);
  if (shape == Shape::kLeaf) {
    // An empty object or keyed list in the configuration leaves the live content.
    const bool container =
        (config.is_object() || config.is_array()) && config.empty() && live.type() == config.type() && !schema.atomic;
    const bool keyed = schema.kind != Schema::Kind::kList || schema.list_type != Schema::ListType::kAtomic;
    return container && keyed ? live : config;
  }
  if (live.type() != config.type()) return config;
  if (shape == Shape::kObject) {
    Json out = live;
    for (const Json::Member& member : config.members()) {
      const Json* old = live.find(member.name());
      out.set(member.name(), old ? merge(child_schema(schema, member.name()), *old, member.value) : member.value);
    }
    return out;
  }
  return merge_list(schema, live, config);
}

// The part of `set` that goes while `held` stays: a field goes as a whole where nothing in it is held. (Updates own the
// maps around what they own, applies do not, and clients turn the ones into the others.)
FieldSet let_go(const FieldSet& set, const FieldSet& held, bool is_field = true) {
  count_work(1);
  FieldSet out;
  out.member = set.member && !(is_field ? !held.empty() : held.member);
  for (const auto& [element, child] : set.children) {
    const auto found = held.children.find(element);
    FieldSet left = found == held.children.end() ? child : let_go(child, found->second, element.starts_with("f:"));
    if (!left.empty()) out.children.emplace(element, std::move(left));
  }
  return out;
}

// Takes the members of `gone` out of `value`.
void remove_fields(const Schema& schema, Json& value, const FieldSet& gone) {
  const Shape shape = shape_of(schema, value);
  if (shape == Shape::kObject) {
    std::set<std::string, std::less<>> names;
    for (const auto& [element, child] : gone.children) {
      const std::string name = element.substr(2);
      if (!value.has(name)) continue;
      const Schema& inner = child_schema(schema, name);
      if (child.member && (child.children.empty() || shape_of(inner, value[name]) == Shape::kLeaf)) {
        names.insert(name);
        continue;
      }
      remove_fields(inner, value.edit(name), child);
      if (value[name].empty() && (value[name].is_object() || value[name].is_array())) names.insert(name);
    }
    erase_members(value, names);
  } else if (shape == Shape::kKeyedList || shape == Shape::kSetList) {
    Json out = Json::array();
    for (const Json& item : value.items()) {
      const auto found = gone.children.find(list_element(schema, item));
      if (found == gone.children.end()) {
        out.push_back(item);
      } else if (!found->second.member) {
        Json copy = item;
        remove_fields(*schema.element, copy, found->second);
        out.push_back(std::move(copy));
      }
    }
    value = std::move(out);
  }
}

// Keys that a list has twice, as "PATH: duplicate entries for key [name=\"a\"]": nobody could say whose fields are
// whose.
// Paths are cut, or long keys above many items would cost their product.
void find_duplicates(const Schema& schema, const Json& config, const std::string& path, std::vector<std::string>& out) {
  count_work(1);
  if (out.size() >= kProblemsMax) return;
  const Shape shape = shape_of(schema, config);
  if (shape == Shape::kObject)
    for (const Json::Member& member : config.members())
      if (member.value.is_object() || member.value.is_array())
        find_duplicates(child_schema(schema, member.name()), member.value,
                        shortened(base::format("{}.{}", path, shortened(member.name()))), out);
  if (shape != Shape::kKeyedList && shape != Shape::kSetList) return;
  std::set<std::string> seen;
  for (const Json& item : config.items()) {
    std::string element = list_element(schema, item);
    const std::string shown = shortened(element_path(element), kKeyShownMax);
    if (!seen.insert(std::move(element)).second) {
      if (out.size() < kProblemsMax) out.push_back(base::format("{}: duplicate entries for key {}", path, shown));
    } else if (shape == Shape::kKeyedList) {
      find_duplicates(*schema.element, item, shortened(path + shown), out);
    }
  }
}

base::Status check_duplicates(const Schema& schema, const Json& config) {
  std::vector<std::string> problems;
  find_duplicates(schema, config, "", problems);
  if (problems.empty()) return {};
  std::string all = problems.size() == 1 ? problems[0] : "errors:";
  if (problems.size() > 1)
    for (const std::string& problem : problems) all += "\n  " + problem;
  const std::string_view version = config["apiVersion"].as_string();
  return base::make_error(
      Code::kBadRequest,
      base::format("failed to create typed patch object ({}/{}; {}{}, Kind={}): {}",
                   config["metadata"]["namespace"].as_string(), config["metadata"]["name"].as_string(),
                   version.find('/') == std::string_view::npos ? "/" : "", version, config["kind"].as_string(), all));
}

// The fields that kubectl applied by itself the last time and that still stand, as its annotation says.
FieldSet owned_by_last_applied(const Schema& schema, const Json& live, std::string_view api_version) {
  const Json& annotation = live["metadata"]["annotations"][kLastApplied];
  if (annotation.as_string().empty() || annotation.as_string().size() > kAnnotationBytesMax) return {};
  const auto last = parse_json(annotation.as_string());
  if (!last.ok() || !last->is_object() || (*last)["apiVersion"].as_string() != api_version ||
      !check_duplicates(schema, *last).ok())
    return {};
  const Comparison since = compare(schema, *last, live);
  return subtract(subtract(owned_by_apply(schema, *last), since.changed), since.removed);
}

bool is_of(const Entry& entry, const FieldManager& manager) {
  return entry.manager == manager.name && entry.operation == "Apply" && entry.subresource == manager.subresource;
}

base::Error conflicts_error(std::vector<Cause> causes, std::size_t managers) {
  std::string message;
  if (managers == 1 && causes.size() == 1) {
    message = base::format("Apply failed with 1 conflict: {}: {}", causes[0].message, causes[0].field);
  } else {
    message = base::format("Apply failed with {} conflicts: conflicts with", causes.size());
    for (const Cause& cause : causes) message += base::format("\n- {}: {}", cause.message, cause.field);
  }
  base::Error error = base::make_error(Code::kConflict, std::move(message));
  error.causes = std::move(causes);
  return error;
}

// Takes the fields `touched` from the other managers, or says which of them clash. Fields that kubectl applied by
// itself pass to it without force, when it goes over to server-side apply.
base::Status take_over(const Schema& schema, const Json& live, const FieldSet& touched, const FieldManager& manager,
                       bool force, std::vector<Entry>& entries) {
  constexpr std::string_view kKubectl = "kubectl";
  std::vector<Cause> causes;
  std::size_t managers = 0;
  std::optional<FieldSet> last_applied;
  for (const Entry& entry : entries) {
    if (force || is_of(entry, manager)) continue;
    FieldSet clash = intersect(entry.fields, touched);
    if (clash.empty()) continue;
    if (manager.name == kKubectl) {
      if (!last_applied) last_applied = owned_by_last_applied(schema, live, manager.api_version);
      clash = subtract(clash, *last_applied);
      if (clash.empty()) continue;
    }
    std::string name = base::format("conflict with \"{}\"", entry.manager);
    if (!entry.subresource.empty()) name += base::format(" with subresource \"{}\"", entry.subresource);
    if (entry.operation != "Apply") name += base::format(" using {}", entry.api_version);
    for (const std::string& path : paths_of(clash, kProblemsMax - std::min(causes.size(), kProblemsMax)))
      causes.push_back({"FieldManagerConflict", name, path});
    ++managers;
  }
  if (!causes.empty()) return conflicts_error(std::move(causes), managers);
  for (Entry& entry : entries)
    if (!is_of(entry, manager)) entry.fields = subtract(entry.fields, touched);
  return {};
}

}  // namespace

bool names_owners(const Json& old_object, const Json& object) {
  const Json& sent = object["metadata"]["managedFields"];
  const Json& held = old_object["metadata"]["managedFields"];
  return sent.is_array() && !(sent == held) && !(held.is_null() && is_reset(sent));
}

void record_update(const Schema& schema, const Json& old_object, Json& object, const FieldManager& manager) {
  std::vector<Entry> entries;
  const Json& sent = object["metadata"]["managedFields"];
  if (!is_reset(sent)) {
    if (names_owners(old_object, object)) entries = entries_sent(sent);
    if (entries.empty()) entries = entries_of(old_object);
  }
  Comparison difference = compare(schema, old_object, object);
  strip_server_fields(difference.changed);
  strip_server_fields(difference.removed);
  const std::string time = base::format_rfc3339(manager.now);
  for (Entry& entry : entries) {
    const bool mine =
        entry.manager == manager.name && entry.operation == "Update" && entry.subresource == manager.subresource;
    FieldSet left = subtract(entry.fields, difference.removed);
    if (!mine) left = subtract(left, difference.changed);
    entry.fields = std::move(left);
  }
  if (!difference.changed.empty()) {
    Entry& mine = entry_for(entries, manager, "Update");
    add(mine.fields, difference.changed);
    mine.time = time;
  }
  cap_update_managers(entries);
  store_entries(std::move(entries), object);
}

base::Result<Json> apply_configuration(const Schema& schema, const Json& live, const Json& configuration,
                                       const FieldManager& manager, bool force) {
  if (!configuration["metadata"]["managedFields"].empty())
    return base::make_error(Code::kBadRequest, "metadata.managedFields must be nil");
  TRY_VOID(check_duplicates(schema, configuration));
  std::vector<Entry> entries = entries_of(live);
  FieldSet wanted = owned_by_apply(schema, configuration);
  strip_server_fields(wanted);
  FieldSet before;
  for (const Entry& entry : entries)
    if (is_of(entry, manager)) before = entry.fields;

  Json merged = live.is_null() ? configuration : merge(schema, live, configuration);
  FieldSet owned_by_others;
  for (const Entry& entry : entries)
    if (!is_of(entry, manager)) add(owned_by_others, entry.fields);
  const FieldSet gone = let_go(let_go(before, wanted), owned_by_others);
  remove_fields(schema, merged, gone);

  const FieldSet touched = intersect(compare(schema, live, merged).changed, wanted);
  TRY_VOID(take_over(schema, live, touched, manager, force, entries));
  Entry& mine = entry_for(entries, manager, "Apply");
  if (!(mine.fields == wanted) || mine.time.empty()) mine.time = base::format_rfc3339(manager.now);
  mine.fields = std::move(wanted);
  store_entries(std::move(entries), merged);
  return merged;
}

Json lay_over(const Schema& schema, const Json& live, const Json& configuration) {
  return live.is_null() ? configuration : merge(schema, live, configuration);
}

// The text is the one that a stock server writes: sorted members, and a line feed at the end.
void keep_last_applied(const Json& sent, Json& object) {
  if (object["metadata"]["annotations"][kLastApplied].as_string().empty()) return;
  Json configuration = sent;
  if (configuration["metadata"]["annotations"].is_object())
    configuration.edit("metadata").edit("annotations").erase(kLastApplied);
  std::string text = configuration.sorted().dump() + "\n";
  Json& annotations = object.edit("metadata").edit("annotations");
  annotations.erase(kLastApplied);
  std::size_t bytes = kLastApplied.size() + text.size();
  for (const Json::Member& member : annotations.members())
    bytes += member.name().size() + member.value.as_string().size();
  if (bytes <= kAnnotationBytesMax) annotations.set(kLastApplied, std::move(text));
}

}  // namespace api
