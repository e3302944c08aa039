// Encoding of keys and values, and the two walks: all of it at start, one batch at a commit.
#include "store/persist.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "api/kinds.h"
#include "base/format.h"
#include "base/quote.h"
#include "store/sealed_kv.h"

namespace store {
namespace {

using base::Code;
using base::make_error;
using base::Result;

std::string big_endian(std::int64_t value) {
  std::string out(8, '\0');
  for (std::size_t i = 0; i < 8; ++i)
    out[7 - i] = static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xff);
  return out;
}

std::int64_t from_big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char c : bytes.substr(0, 8)) value = value << 8 | static_cast<unsigned char>(c);
  return static_cast<std::int64_t>(value);
}

std::vector<std::string> make_resource_keys() {
  std::vector<std::string> keys;
  for (const api::KindInfo& kind : api::all_kinds()) {
    std::string key = kind.resource.group + "/" + kind.resource.plural;
    // The first of two kinds of one name can do without its version.
    if (std::ranges::find(keys, key) != keys.end()) key += "/" + kind.resource.version;
    keys.push_back(std::move(key));
  }
  return keys;
}

std::string object_key(const std::string& table, const Object& object) {
  std::string key = "o" + table;
  key += '\0';
  key += object.ns;
  key += '\0';
  key += object.name;
  return key;
}

std::string history_key(std::int64_t revision) { return "h" + big_endian(revision); }

Result<ObjectPtr> parse_object(std::string_view json, std::int64_t revision) {
  if (is_sealed(json))
    return make_error(Code::kInvalid, "it is encrypted, and damaged or moved here from another record");
  TRY_VOID(api::check_readable(json));
  TRY(const api::Json parsed, api::parse_json(json));
  if (!parsed.is_object() || !parsed["metadata"].is_object())
    return make_error(Code::kInvalid, "it is not an object with metadata");
  auto object = std::make_shared<Object>();
  object->ns = api::namespace_of(parsed);
  object->name = api::name_of(parsed);
  object->uid = api::uid_of(parsed);
  object->revision = revision;
  object->bytes = json;
  return ObjectPtr(std::move(object));
}

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return std::max<std::int64_t>(value, 0);
}

// "group/plural" or "group/plural/version".
std::string_view plural_of(std::string_view key) {
  key.remove_prefix(std::min(key.find('/') + 1, key.size()));
  return key.substr(0, key.find('/'));
}

// Up to the next zero byte, which goes too.
std::string_view take_part(std::string_view& text) {
  const std::size_t at = text.find('\0');
  const std::string_view part = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return part;
}

// A key that was damaged may hold anything, also what a terminal obeys: such a one is shown in quotes, escaped.
std::string shown(const std::string& text) {
  const bool plain = std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f && c != '"' && c != '\\'; });
  return plain && !text.empty() ? text : base::go_quoted(text);
}

// A table is made for a stranger's kind, or one of a later version of the program.
void load_object(std::string_view key, std::string_view value, Loaded& loaded) {
  std::string_view rest = key.substr(1);
  const std::uint32_t table = loaded.tables.number_of(take_part(rest));
  const std::string_view ns = take_part(rest);
  const auto broken = [&](std::string why) {
    const std::string path = ns.empty() ? std::string(rest) : base::format("{}/{}", ns, rest);
    loaded.broken.push_back(
        {std::string(key), std::string(value),
         base::format("{} {}", shown(std::string(plural_of(loaded.tables.keys[table]))), shown(path)), std::move(why),
         table, std::string(ns), std::string(rest)});
  };
  if (value.size() < 8) return broken("it is cut off");
  auto object = parse_object(value.substr(8), from_big_endian(value));
  if (!object.ok()) return broken(object.error().message);
  if ((*object)->ns != ns || (*object)->name != rest)
    return broken(base::format("its own name is {}", base::go_quoted((*object)->ns + "/" + (*object)->name)));
  if ((*object)->revision < 1) return broken("its revision is not a number above 0");
  loaded.revision = std::max(loaded.revision, (*object)->revision);
  loaded.objects.emplace_back(table, *std::move(object));
}

base::Status load_objects(const rt::KvStore& kv, Loaded& loaded) {
  return kv.scan("o", "p", [&](std::string_view key, std::string_view value) {
    load_object(key, value, loaded);
    return true;
  });
}

base::Status load_history(const rt::KvStore& kv, Loaded& loaded) {
  std::map<std::string, ObjectPtr> last;  // by object key: what the next event of it replaces
  return kv.scan("h", "i", [&](std::string_view key, std::string_view value) {
    const std::int64_t revision = from_big_endian(key.substr(1));
    const auto broken = [&](std::string why) {
      loaded.broken.push_back(
          {std::string(key), std::string(value), base::format("history of revision {}", revision), std::move(why)});
      return true;
    };
    const std::size_t end = value.find('\0', 1);
    if (end == std::string_view::npos || key.size() != 9 || revision < 1) return broken("it is cut off");
    const std::string_view table = value.substr(1, end - 1);
    Event event;
    if (static_cast<unsigned char>(value[0]) > static_cast<unsigned char>(EventType::kDeleted))
      return broken("its kind of change is none");
    event.type = static_cast<EventType>(value[0]);
    event.revision = revision;
    event.resource = loaded.tables.number_of(table);
    auto object = parse_object(value.substr(end + 1), event.revision);
    if (!object.ok()) return broken(object.error().message);
    event.object = *std::move(object);
    ObjectPtr& before = last[object_key(std::string(table), *event.object)];
    event.before = before;
    before = event.type == EventType::kDeleted ? nullptr : event.object;
    loaded.revision = std::max(loaded.revision, revision);
    loaded.history.push_back(std::move(event));
    return true;
  });
}

}  // namespace

TableKeys TableKeys::of_all_kinds() {
  TableKeys made;
  for (std::string& key : make_resource_keys()) made.number_of(key);
  return made;
}

std::uint32_t TableKeys::number_of(std::string_view key) {
  if (const auto found = numbers.find(key); found != numbers.end()) return found->second;
  const auto number = static_cast<std::uint32_t>(keys.size());
  keys.emplace_back(key);
  numbers.emplace(keys.back(), number);
  return number;
}

Result<Loaded> load(const rt::KvStore& kv) {
  Loaded loaded;
  loaded.tables = TableKeys::of_all_kinds();
  TRY_VOID(kv.scan("m", "n", [&](std::string_view key, std::string_view value) {
    if (key == "mrevision") loaded.revision = number(value);
    if (key == "mcompacted") loaded.compacted = number(value);
    return true;
  }));
  TRY_VOID(load_objects(kv, loaded));
  TRY_VOID(load_history(kv, loaded));
  loaded.compacted = std::min(loaded.compacted, loaded.revision);
  return loaded;
}

base::Status remove(rt::KvStore& kv, const std::vector<Broken>& broken, const std::vector<Event>& history,
                    std::int64_t revision) {
  return kv.commit_with_reserve([&](rt::KvWriter& writer) {
    for (const Broken& record : broken) writer.erase(record.key);
    for (const Event& event : history) writer.erase(history_key(event.revision));
    writer.put("mrevision", std::to_string(revision));
    writer.put("mcompacted", std::to_string(revision));
  });
}

namespace {

void drop_history(rt::KvWriter& writer, std::int64_t from, std::int64_t to) {
  for (std::int64_t revision = from + 1; revision <= to; ++revision) writer.erase(history_key(revision));
  writer.put("mcompacted", std::to_string(std::max(from, to)));
}

}  // namespace

base::Status persist(rt::KvStore& kv, const TableKeys& tables, const std::vector<Event>& events, std::int64_t trim_from,
                     std::int64_t trim_to, bool gives_room) {
  const auto changes = [&](rt::KvWriter& writer) {
    for (const Event& event : events) {
      const std::string& table = tables.keys[event.resource];
      const std::string key = object_key(table, *event.object);
      if (event.type == EventType::kDeleted)
        writer.erase(key);
      else
        writer.put(key, big_endian(event.revision) + event.object->bytes);
      std::string value(1, static_cast<char>(event.type));
      value += table;
      value += '\0';
      value += event.object->bytes;
      writer.put(history_key(event.revision), value);
    }
    writer.put("mrevision", std::to_string(events.back().revision));
    drop_history(writer, trim_from, trim_to);
  };
  return gives_room ? kv.commit_with_reserve(changes) : kv.commit(changes);
}

base::Status trim(rt::KvStore& kv, std::int64_t trim_from, std::int64_t trim_to) {
  return kv.commit_with_reserve([&](rt::KvWriter& writer) { drop_history(writer, trim_from, trim_to); });
}

}  // namespace store
