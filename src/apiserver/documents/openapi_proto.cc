// A writer of the openapi.v2 messages that our document uses.
#include "apiserver/documents/openapi_proto.h"

#include <bit>

#include "api/json/yaml.h"

namespace apiserver {

using api::Json;

namespace {

// Appends wire-format fields to a string.
class Message {
 public:
  void varint(int field, std::uint64_t value) {
    tag(field, 0);
    raw(value);
  }
  void boolean(int field, bool value) {
    if (value) varint(field, 1);
  }
  void number(int field, double value) {
    tag(field, 1);
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(bits >> shift & 0xff);
  }
  void text(int field, std::string_view value) {
    if (value.empty()) return;
    sized(field, value);
  }
  void message(int field, const Message& inner) { sized(field, inner.bytes_); }
  const std::string& bytes() const { return bytes_; }

 private:
  void tag(int field, int type) { raw(static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(type)); }
  void sized(int field, std::string_view value) {
    tag(field, 2);
    raw(value.size());
    bytes_ += value;
  }
  void raw(std::uint64_t value) {
    while (value >= 0x80) {
      bytes_ += static_cast<char>(value | 0x80);
      value >>= 7;
    }
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

// Any { google.protobuf.Any value = 1; string yaml = 2; }
Message any(const Json& value) {
  Message message;
  message.text(2, api::to_yaml(value));
  return message;
}

// NamedAny { string name = 1; Any value = 2; }
void extensions(Message& target, int field, const Json& object) {
  for (const Json::Member& member : object.members()) {
    if (!member.name().starts_with("x-")) continue;
    Message named;
    named.text(1, member.name());
    named.message(2, any(member.value));
    target.message(field, named);
  }
}

Message schema_message(const Json& schema);

// NamedSchema { string name = 1; Schema value = 2; }
Message named_schema(std::string_view name, const Json& schema) {
  Message named;
  named.text(1, name);
  named.message(2, schema_message(schema));
  return named;
}

Message schema_message(const Json& schema) {
  Message out;
  out.text(1, schema["$ref"].as_string());
  out.text(2, schema["format"].as_string());
  out.text(4, schema["description"].as_string());
  if (schema.has("default")) out.message(5, any(schema["default"]));
  if (schema.has("maximum")) out.number(7, schema["maximum"].as_double());
  if (schema.has("minimum")) out.number(9, schema["minimum"].as_double());
  if (schema.has("maxLength")) out.varint(11, schema["maxLength"].as_uint());
  if (schema.has("minLength")) out.varint(12, schema["minLength"].as_uint());
  out.text(13, schema["pattern"].as_string());
  if (schema.has("minItems")) out.varint(15, schema["minItems"].as_uint());
  for (const Json& name : schema["required"].items()) out.text(19, name.as_string());
  for (const Json& value : schema["enum"].items()) out.message(20, any(value));
  if (schema.has("additionalProperties")) {
    Message item;  // AdditionalPropertiesItem { Schema schema = 1; bool boolean = 2; }
    item.message(1, schema_message(schema["additionalProperties"]));
    out.message(21, item);
  }
  if (schema.has("type")) {
    Message type;  // TypeItem { repeated string value = 1; }
    type.text(1, schema["type"].as_string());
    out.message(22, type);
  }
  if (schema.has("items")) {
    Message items;  // ItemsItem { repeated Schema schema = 1; }
    items.message(1, schema_message(schema["items"]));
    out.message(23, items);
  }
  if (schema.has("properties")) {
    Message properties;  // Properties { repeated NamedSchema additional_properties = 1; }
    for (const Json::Member& member : schema["properties"].members())
      properties.message(1, named_schema(member.name(), member.value));
    out.message(25, properties);
  }
  extensions(out, 31, schema);
  return out;
}

// ParametersItem > Parameter > NonBodyParameter > QueryParameterSubSchema
Message parameter_message(const Json& parameter) {
  Message query;
  query.text(2, parameter["in"].as_string());
  query.text(3, parameter["description"].as_string());
  query.text(4, parameter["name"].as_string());
  query.text(6, parameter["type"].as_string());
  Message non_body;  // oneof: header 1, form data 2, query 3, path 4
  non_body.message(3, query);
  Message row;  // Parameter: oneof body 1, non body 2
  row.message(2, non_body);
  Message item;  // ParametersItem: oneof parameter 1, json reference 2
  item.message(1, row);
  return item;
}

Message operation_message(const Json& operation) {
  Message out;
  out.text(5, operation["operationId"].as_string());
  for (const Json& parameter : operation["parameters"].items()) out.message(8, parameter_message(parameter));
  Message responses;
  for (const Json::Member& member : operation["responses"].members()) {
    Message response;
    response.text(1, member.value["description"].as_string());
    Message value;  // ResponseValue: oneof response 1
    value.message(1, response);
    Message named;
    named.text(1, member.name());
    named.message(2, value);
    responses.message(1, named);
  }
  out.message(9, responses);
  extensions(out, 13, operation);
  return out;
}

Message path_message(const Json& path) {
  Message out;  // PathItem: get 2, put 3, post 4, delete 5, options 6, head 7, patch 8
  constexpr std::pair<const char*, int> kVerbs[] = {{"get", 2}, {"put", 3}, {"post", 4}, {"delete", 5}, {"patch", 8}};
  for (const auto& [verb, field] : kVerbs)
    if (path.has(verb)) out.message(field, operation_message(path[verb]));
  return out;
}

}  // namespace

std::string openapi_v2_proto(const Json& document) {
  Message out;  // Document: swagger 1, info 2, paths 8, definitions 9
  out.text(1, document["swagger"].as_string());
  Message info;
  info.text(1, document["info"]["title"].as_string());
  info.text(2, document["info"]["version"].as_string());
  out.message(2, info);
  Message paths;  // Paths { repeated NamedAny vendor_extension = 1; repeated NamedPathItem path = 2; }
  for (const Json::Member& member : document["paths"].members()) {
    Message named;
    named.text(1, member.name());
    named.message(2, path_message(member.value));
    paths.message(2, named);
  }
  out.message(8, paths);
  Message definitions;  // Definitions { repeated NamedSchema additional_properties = 1; }
  for (const Json::Member& member : document["definitions"].members())
    definitions.message(1, named_schema(member.name(), member.value));
  out.message(9, definitions);
  return out.bytes();
}

}  // namespace apiserver
