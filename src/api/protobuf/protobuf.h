// Objects of core kinds as protocol buffers, along the numbers of fields in Kubernetes' schemas. Objects are stored as
// JSON; many clients prefer this form on the wire, and so do ours where a server has it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "api/json/json.h"
#include "api/json/projection.h"
#include "api/schema/schema.h"
#include "base/result.h"

namespace api {

// With what the enveloped form begins; no JSON does.
inline constexpr std::string_view kProtobufMagic("k8s\0", 4);

// The message that is read for objects of this kind, and of some that are not kinds of resources, such as Status; null:
// there is none.
const Schema* protobuf_schema(std::string_view api_version, std::string_view kind);
// Whether it is written, too: each of its fields, however deep, has a number. Not so for custom resources and their
// definitions.
bool has_protobuf(std::string_view api_version, std::string_view kind);

// `bytes` is the enveloped form: the magic, then runtime.Unknown with the object inside. The result is what JSON would
// have: what protobuf must have and JSON leaves out is not there.
base::Result<Json> parse_protobuf(std::string_view bytes);

// An answer: an object, or a list of them, whose items have no kind of their own.
// `only`: what is built of the object, or of each item; null: all.
base::Result<Json> parse_protobuf_answer(std::string_view bytes, const Projection* only);
// An event of a watch, without the length before it.
struct ProtobufEvent {
  std::string type;  // "ADDED", ...
  Json object;       // of an ERROR: all of it, whatever `only` says
};
base::Result<ProtobufEvent> parse_protobuf_event(std::string_view bytes, const Projection* only);

// The enveloped form of an object of core kinds, or of a list of them; empty: it has none. Members that its message
// does not have, or has in another type, are left out.
std::string to_protobuf(const Json& object);
// The same, item by item: `around` is the list with no items.
std::string list_to_protobuf(const Json& around, std::size_t size, const std::function<Json(std::size_t)>& item);
// An event of a watch, framed: its length in four bytes, then meta.v1.WatchEvent.
std::string event_to_protobuf(std::string_view type, const Json& object);

}  // namespace api
