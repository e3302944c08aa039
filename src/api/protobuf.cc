// A reader of the wire format along a schema with field numbers.
#include "api/protobuf.h"

#include <bit>
#include <cmath>

#include "api/kinds.h"
#include "api/other_versions.h"
#include "api/schema/schema.h"
#include "base/base64.h"
#include "base/format.h"
#include "base/protobuf_wire.h"
#include "base/time.h"
#include "base/utf8.h"

namespace api {
namespace {

using base::Code;
using base::make_error;
using base::Result;
using base::WireField;
using Kind = Schema::Kind;

constexpr int kDepthMax = 64;

base::Error malformed() { return make_error(Code::kBadRequest, "the protobuf body is malformed"); }

Result<Json> text_value(std::string_view bytes) {
  if (!base::is_utf8(bytes)) return make_error(Code::kBadRequest, "the protobuf body has a string that is no UTF-8");
  return Json(bytes);
}

Result<std::vector<WireField>> all_fields(std::string_view bytes) {
  std::vector<WireField> fields;
  base::WireReader reader(bytes);
  for (WireField field; reader.next(field);) fields.push_back(field);
  if (reader.malformed()) return malformed();
  return fields;
}

Result<Json> time_value(std::string_view bytes, bool micro) {
  std::int64_t seconds = 0;
  std::int64_t nanos = 0;
  TRY(const std::vector<WireField> values, all_fields(bytes));
  if (values.empty()) return Json();
  for (const WireField& value : values)
    (value.number == 1 ? seconds : nanos) = static_cast<std::int64_t>(value.integer);
  if (seconds < -9'000'000'000 || seconds > 9'000'000'000 || nanos < 0 || nanos > 999'999'999) return Json();
  const base::Time time{seconds * 1'000'000'000 + nanos};
  return Json(micro ? base::format_rfc3339_micro(time) : base::format_rfc3339(time));
}

Result<Json> int_or_string_value(std::string_view bytes) {
  std::int64_t type = 0;
  std::int64_t number = 0;
  std::string_view text;
  TRY(const std::vector<WireField> values, all_fields(bytes));
  for (const WireField& value : values) {
    if (value.number == 1) type = static_cast<std::int64_t>(value.integer);
    if (value.number == 2) number = static_cast<std::int32_t>(value.integer);
    if (value.number == 3) text = value.bytes;
  }
  return type == 0 ? Json(number) : text_value(text);
}

Result<Json> object_value(const Schema& schema, std::string_view bytes, int depth);

Result<Json> value_of(const Schema& schema, const WireField& value, int depth) {
  switch (schema.kind) {
    case Kind::kString:
      if (schema.format == "date-time" || schema.format == "micro-time")
        return time_value(value.bytes, schema.format == "micro-time");
      if (schema.format == "byte") return Json(base::base64_encode(value.bytes));
      return text_value(value.bytes);
    case Kind::kInteger:
      if (schema.format == "int32") return Json(static_cast<std::int64_t>(static_cast<std::int32_t>(value.integer)));
      return Json(static_cast<std::int64_t>(value.integer));
    case Kind::kNumber: {
      const auto number = std::bit_cast<double>(value.integer);
      if (!std::isfinite(number)) return make_error(Code::kBadRequest, "the protobuf body has a number that is none");
      return Json(number);
    }
    case Kind::kBoolean: return Json(value.integer != 0);
    case Kind::kQuantity: {
      TRY(const std::vector<WireField> parts, all_fields(value.bytes));
      for (const WireField& part : parts)
        if (part.number == 1) return text_value(part.bytes);
      return Json("0");
    }
    case Kind::kIntOrString: return int_or_string_value(value.bytes);
    case Kind::kAny: {  // FieldsV1 and RawExtension hold JSON text
      TRY(const std::vector<WireField> parts, all_fields(value.bytes));
      for (const WireField& part : parts)
        if (part.number == 1) return parse_json(part.bytes);
      return Json::object();
    }
    case Kind::kObject: return object_value(schema, value.bytes, depth);
    case Kind::kList: {  // in a map: a message of its items
      TRY(const std::vector<WireField> parts, all_fields(value.bytes));
      Json list = Json::array();
      for (const WireField& part : parts) {
        if (part.number != 1) continue;
        TRY(Json item, value_of(*schema.element, part, depth + 1));
        list.push_back(std::move(item));
      }
      return list;
    }
    case Kind::kMap: break;
  }
  return malformed();
}

base::Status add_field(const SchemaField& field, const WireField& value, int depth, Json& object) {
  const Schema& schema = *field.schema;
  if (schema.kind == Kind::kList) {
    TRY(Json item, value_of(*schema.element, value, depth + 1));
    object.edit(field.name).push_back(std::move(item));
    return {};
  }
  if (schema.kind == Kind::kMap) {
    TRY(const std::vector<WireField> parts, all_fields(value.bytes));
    std::string_view key;
    WireField content;
    for (const WireField& part : parts) {
      if (part.number == 1) key = part.bytes;
      if (part.number == 2) content = part;
    }
    TRY(const Json name, text_value(key));
    TRY(Json item, value_of(*schema.element, content, depth + 1));
    object.edit(field.name).set(name.as_string(), std::move(item));
    return {};
  }
  TRY(Json item, value_of(schema, value, depth + 1));
  // Protobuf writes what JSON leaves out: empty strings, zeros and unset times.
  const bool empty = item.is_null() || (item.is_string() && item.as_string().empty());
  if (!empty) object.set(field.name, std::move(item));
  return {};
}

// Fields of a message, or of one nested message that JSON writes in place (`outer`).
base::Status add_fields(const Schema& schema, std::string_view bytes, int outer, int depth, Json& object) {
  if (depth > kDepthMax) return malformed();
  base::WireReader reader(bytes);
  for (WireField value; reader.next(value);) {
    bool nested = false;
    for (const SchemaField& field : schema.fields) {
      if (field.number == value.number && field.outer_number == outer) {
        TRY_VOID(add_field(field, value, depth, object));
        nested = false;
        break;
      }
      nested = nested || (outer == 0 && field.outer_number == value.number);
    }
    if (nested) TRY_VOID(add_fields(schema, value.bytes, value.number, depth + 1, object));
  }
  if (reader.malformed()) return malformed();
  return {};
}

Result<Json> object_value(const Schema& schema, std::string_view bytes, int depth) {
  Json object = Json::object();
  TRY_VOID(add_fields(schema, bytes, 0, depth, object));
  return object;
}

}  // namespace

const Schema* protobuf_schema(std::string_view api_version, std::string_view kind) {
  if (const KindInfo* info = find_kind_named(api_version, kind); info && !info->custom) return info->schema;
  for (const OtherVersion& other : other_versions())
    if (other.kind.kind == kind && other.kind.resource.api_version() == api_version) return other.kind.schema;
  if (kind == "Scale" && api_version == "autoscaling/v1") return &core_schema("autoscaling.v1.Scale");
  if (kind == "Status" && api_version == "v1") return &core_schema("meta.v1.Status");
  // Each group has it. It is never answered, and a stranger's kind may have its name.
  if (kind == "DeleteOptions") return &core_schema("meta.v1.DeleteOptions");
  if (kind == "TokenRequest" && api_version == "authentication.k8s.io/v1")
    return &core_schema("authentication.v1.TokenRequest");
  if (kind == "Eviction" && api_version.starts_with("policy/")) return &core_schema("policy.v1.Eviction");
  if (kind == "Binding" && api_version == "v1") return &core_schema("core.v1.Binding");
  return nullptr;
}

Result<Json> parse_protobuf(std::string_view bytes) {
  constexpr std::string_view kMagic("k8s\0", 4);
  if (!bytes.starts_with(kMagic)) return malformed();
  std::string_view api_version;
  std::string_view kind;
  std::string_view raw;
  TRY(const std::vector<WireField> envelope, all_fields(bytes.substr(4)));
  for (const WireField& value : envelope) {
    if (value.number == 2) raw = value.bytes;
    if (value.number != 1) continue;
    TRY(const std::vector<WireField> type, all_fields(value.bytes));
    for (const WireField& part : type) (part.number == 1 ? api_version : kind) = part.bytes;
  }
  const Schema* schema = protobuf_schema(api_version, kind);
  if (!schema)
    return make_error(Code::kUnsupportedMediaType,
                      base::format("the body of the request was in an unknown format - {} {} is accepted as "
                                   "application/json or application/yaml only",
                                   api_version, kind));
  TRY(Json object, object_value(*schema, raw, 0));
  object.set("apiVersion", api_version);
  object.set("kind", kind);
  Json& metadata = object.edit("metadata");
  if (metadata.is_object() && metadata["generation"].as_int() == 0) metadata.erase("generation");
  if (kind == "DeleteOptions") object.erase("metadata");
  return object;
}

}  // namespace api
