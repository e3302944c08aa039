// A writer of the wire format along a schema with field numbers.
#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "api/protobuf/protobuf.h"
#include "base/base64.h"
#include "base/protobuf_wire.h"
#include "base/unix_time.h"

namespace api {
namespace {

using base::WireWriter;
using Kind = Schema::Kind;

constexpr std::string_view kList = "List";

std::uint64_t wire(std::int64_t number) { return static_cast<std::uint64_t>(number); }

// JSON has the type of an object in it; its message has it in the envelope.
bool is_type(const SchemaField& field) {
  return field.number == 0 && (field.name == "apiVersion" || field.name == "kind");
}

void add_time(int number, const Json& value, WireWriter& out) {
  const auto time = base::parse_rfc3339_unix(value.as_string());
  if (!time) return;
  WireWriter message;
  message.add_integer(1, wire(time->seconds));
  message.add_integer(2, wire(time->nanos));
  out.add_entry(number, message.take());
}

void add_string(const Schema& schema, int number, const Json& value, WireWriter& out) {
  if (!value.is_string()) return;
  if (schema.format == "date-time" || schema.format == "micro-time") return add_time(number, value, out);
  if (schema.format != "byte") return out.add_entry(number, value.as_string());
  if (const auto bytes = base::base64_decode(value.as_string()); bytes.ok()) out.add_entry(number, *bytes);
}

void add_int_or_string(int number, const Json& value, WireWriter& out) {
  WireWriter message;
  message.add_integer(1, value.is_string() ? 1 : 0);
  message.add_integer(2, wire(value.is_string() ? 0 : value.as_int()));
  message.add_entry(3, value.is_string() ? value.as_string() : "");
  out.add_entry(number, message.take());
}

// One field with the text of a value: quantities, and values of any form.
void add_text(int number, std::string_view text, WireWriter& out) {
  WireWriter message;
  message.add_entry(1, text);
  out.add_entry(number, message.take());
}

std::string message_of(const Schema& schema, const Json& object);

void add_value(const Schema& schema, int number, const Json& value, WireWriter& out);

void add_map(const Schema& schema, int number, const Json& value, WireWriter& out) {
  for (const Json::Member& member : value.members()) {
    WireWriter pair;
    pair.add_entry(1, member.name());
    if (schema.element->kind == Kind::kList) {  // a message of its items
      WireWriter items;
      add_value(*schema.element, 1, member.value, items);
      pair.add_entry(2, items.take());
    } else {
      add_value(*schema.element, 2, member.value, pair);
    }
    out.add_entry(number, pair.take());
  }
}

void add_value(const Schema& schema, int number, const Json& value, WireWriter& out) {
  if (value.is_null()) return;
  switch (schema.kind) {
    case Kind::kString: return add_string(schema, number, value, out);
    case Kind::kInteger: return value.is_number() ? out.add_integer(number, wire(value.as_int())) : void();
    case Kind::kNumber: return value.is_number() ? out.add_double(number, value.as_double()) : void();
    case Kind::kBoolean: return value.is_bool() ? out.add_integer(number, value.as_bool() ? 1 : 0) : void();
    case Kind::kIntOrString: return add_int_or_string(number, value, out);
    case Kind::kQuantity: return add_text(number, value.is_string() ? value.as_string() : value.dump(), out);
    case Kind::kAny: return add_text(number, value.dump(), out);
    case Kind::kObject: return value.is_object() ? out.add_entry(number, message_of(schema, value)) : void();
    case Kind::kList:
      for (const Json& item : value.items()) add_value(*schema.element, number, item, out);
      return;
    case Kind::kMap: return add_map(schema, number, value, out);
  }
}

// The parts that are written of a message, and of those in it whose fields JSON writes in place.
struct Parts {
  WireWriter out = {};
  std::map<int, Parts> inner = {};

  std::string take() {
    for (auto& [number, part] : inner) out.add_entry(number, part.take());
    return out.take();
  }
};

std::string message_of(const Schema& schema, const Json& object) {
  Parts parts;
  for (const Json::Member& member : object.members()) {
    const SchemaField* field = schema.field(member.name());
    if (!field || field->number == 0) continue;
    Parts* place = &parts;
    for (const int outer : field->outer_numbers)
      if (outer != 0) place = &place->inner[outer];
    add_value(*field->schema, field->number, member.value, place->out);
  }
  return parts.take();
}

std::string enveloped(std::string_view api_version, std::string_view kind, std::string_view message) {
  WireWriter type, unknown;
  type.add(1, api_version);
  type.add(2, kind);
  unknown.add_entry(1, type.take());
  unknown.add_entry(2, message);
  return std::string(kProtobufMagic) + unknown.take();
}

bool all_numbered(const Schema& schema, std::set<const Schema*>& seen) {
  if (schema.element) return all_numbered(*schema.element, seen);
  if (schema.kind != Kind::kObject || !seen.insert(&schema).second) return true;
  return std::all_of(schema.fields.begin(), schema.fields.end(), [&](const SchemaField& field) {
    return is_type(field) || (field.number != 0 && all_numbered(*field.schema, seen));
  });
}

bool is_numbered(const Schema& message) {
  static const std::set<const Schema*> known = [] {
    std::set<const Schema*> out;
    for (const Schema* one : all_core_schemas()) {
      std::set<const Schema*> seen;
      if (all_numbered(*one, seen)) out.insert(one);
    }
    return out;
  }();
  return known.contains(&message);
}

const Schema* writable_schema(std::string_view api_version, std::string_view kind) {
  if (kind == "DeleteOptions") return nullptr;
  const Schema* schema = protobuf_schema(api_version, kind);
  return schema && is_numbered(*schema) ? schema : nullptr;
}

// The schema of a list's items, by the kind of the list.
const Schema* schema_of_items(const Json& list) {
  std::string_view kind = list["kind"].as_string();
  if (!kind.ends_with(kList)) return nullptr;
  kind.remove_suffix(kList.size());
  return writable_schema(list["apiVersion"].as_string(), kind);
}

}  // namespace

bool has_protobuf(std::string_view api_version, std::string_view kind) {
  return writable_schema(api_version, kind) != nullptr;
}

std::string to_protobuf(const Json& object) {
  const std::string_view api_version = object["apiVersion"].as_string(), kind = object["kind"].as_string();
  if (const Schema* schema = writable_schema(api_version, kind))
    return enveloped(api_version, kind, message_of(*schema, object));
  const std::span<const Json> items = object["items"].items();
  return list_to_protobuf(object, items.size(), [&](std::size_t i) { return items[i]; });
}

std::string list_to_protobuf(const Json& around, std::size_t size, const std::function<Json(std::size_t)>& item) {
  const Schema* schema = schema_of_items(around);
  if (!schema) return {};
  WireWriter out;
  out.add_entry(1, message_of(core_schema("meta.v1.ListMeta"), around["metadata"]));
  for (std::size_t i = 0; i < size; ++i) out.add_entry(2, message_of(*schema, item(i)));
  return enveloped(around["apiVersion"].as_string(), around["kind"].as_string(), out.take());
}

std::string event_to_protobuf(std::string_view type, const Json& object) {
  WireWriter raw, event;
  raw.add_entry(1, to_protobuf(object));
  event.add_entry(1, type);
  event.add_entry(2, raw.take());
  const std::string message = event.take();
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(message.size() >> shift & 0xff);
  return out + message;
}

}  // namespace api
