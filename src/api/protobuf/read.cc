// The frames around messages: the envelope, lists, events.
#include "api/kinds.h"
#include "api/other_versions.h"
#include "api/protobuf/message_reader.h"
#include "api/protobuf/protobuf.h"
#include "base/format.h"
#include "base/utf8.h"

namespace api {
namespace {

using base::Code;
using base::make_error;
using base::Result;
using base::WireField;
using base::WireReader;
using base::WireType;
using Of = MessageReader::Of;

constexpr std::string_view kList = "List";
constexpr std::size_t kRootMembersUsual = 8;

base::Error malformed() { return make_error(Code::kBadRequest, "the protobuf body is malformed"); }

struct Envelope {
  std::string_view api_version, kind, raw;
};

Result<Envelope> open_envelope(std::string_view bytes) {
  if (!bytes.starts_with(kProtobufMagic)) return malformed();
  Envelope out;
  WireReader reader(bytes.substr(kProtobufMagic.size()));
  for (WireField field; reader.next(field);) {
    if (field.number <= 2 && field.type != WireType::kBytes) return malformed();
    if (field.number == 2) out.raw = field.bytes;
    if (field.number != 1) continue;
    WireReader type(field.bytes);
    for (WireField part; type.next(part);) {
      if (part.type != WireType::kBytes) return malformed();
      (part.number == 1 ? out.api_version : out.kind) = part.bytes;
    }
    if (type.malformed()) return malformed();
  }
  if (reader.malformed()) return malformed();
  return out;
}

base::Error unknown_kind(const Envelope& envelope, Of of) {
  constexpr std::size_t kNamed = 100;  // bytes
  const std::string version = base::to_utf8(envelope.api_version.substr(0, kNamed));
  const std::string kind = base::to_utf8(envelope.kind.substr(0, kNamed));
  if (of == Of::kAnswer)
    return make_error(
        Code::kInternal,
        base::format("the server answers in protobuf with {} {}, which is not known here", version, kind));
  return make_error(Code::kUnsupportedMediaType,
                    base::format("the body of the request was in an unknown format - {} {} is accepted as "
                                 "application/json or application/yaml only",
                                 version, kind));
}

const NumberedMessage* find_message(std::string_view api_version, std::string_view kind) {
  const Schema* const schema = protobuf_schema(api_version, kind);
  const NumberedMessage* const message = schema ? numbered_message(*schema) : nullptr;
  return message && !message->fields.empty() ? message : nullptr;  // definitions of kinds have no numbers
}

// Nearly always that of the last object. Kinds that have numbers never change.
const NumberedMessage* message_of(std::string_view api_version, std::string_view kind) {
  struct Known {
    std::string api_version, kind;
    const NumberedMessage* message = nullptr;
  };
  thread_local Known last;
  if (last.message && last.kind == kind && last.api_version == api_version) return last.message;
  const NumberedMessage* const found = find_message(api_version, kind);
  if (found) last = {std::string(api_version), std::string(kind), found};
  return found;
}

Result<Json> object_in(const Envelope& envelope, Of of, const Projection* only, RecentMessages* recent) {
  const NumberedMessage* const message = message_of(envelope.api_version, envelope.kind);
  if (!message) return unknown_kind(envelope, of);
  MessageReader reader(of, recent);
  MessageReader::Members members;
  members.list.reserve(kRootMembersUsual);
  members.list.push_back({Json("apiVersion"), Json(envelope.api_version)});
  members.list.push_back({Json("kind"), Json(envelope.kind)});
  if (!reader.fields(*message, envelope.raw, only, 0, members)) return reader.error();
  return members.take();
}

Result<Json> list_in(const Envelope& envelope, const NumberedMessage& message, const Projection* only,
                     RecentMessages* recent) {
  static const NumberedMessage& about = *numbered_message(core_schema("meta.v1.ListMeta"));
  MessageReader reader(Of::kAnswer, recent);
  Json metadata = Json::object();
  std::vector<Json> items;
  WireReader parts(envelope.raw);
  for (WireField part; parts.next(part);) {
    if (part.number <= 2 && part.type != WireType::kBytes) return malformed();
    if (part.number == 1 && !reader.object(about, part.bytes, nullptr, 0, metadata)) return reader.error();
    if (part.number == 2 && !reader.object(message, part.bytes, only, 0, items.emplace_back())) return reader.error();
  }
  if (parts.malformed()) return malformed();
  return Json::object({{"apiVersion", Json(envelope.api_version)},
                       {"kind", Json(envelope.kind)},
                       {"metadata", std::move(metadata)},
                       {"items", Json::array(std::move(items))}});
}

RecentMessages* recent_messages(const Projection* only) {
  thread_local RecentMessages recent;
  recent.begin();
  return only ? &recent : nullptr;
}

}  // namespace

const Schema* protobuf_schema(std::string_view api_version, std::string_view kind) {
  if (const KindInfo* info = find_kind_named(api_version, kind); info && !info->custom) return info->schema;
  for (const OtherVersion& other : other_versions())
    if (other.kind.kind == kind && other.kind.resource.api_version() == api_version && !other.kind.custom)
      return other.kind.schema;
  if (kind == "Scale" && api_version == "autoscaling/v1") return &core_schema("autoscaling.v1.Scale");
  if (kind == "PartialObjectMetadata" && api_version == "meta.k8s.io/v1")
    return &core_schema("meta.v1.PartialObjectMetadata");
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
  TRY(const Envelope envelope, open_envelope(bytes));
  return object_in(envelope, Of::kRequest, nullptr, nullptr);
}

Result<Json> parse_protobuf_answer(std::string_view bytes, const Projection* only) {
  TRY(const Envelope envelope, open_envelope(bytes));
  if (envelope.kind.ends_with(kList)) {
    const std::string_view kind = envelope.kind.substr(0, envelope.kind.size() - kList.size());
    if (const NumberedMessage* message = message_of(envelope.api_version, kind))
      return list_in(envelope, *message, only, recent_messages(only));
  }
  return object_in(envelope, Of::kAnswer, only, recent_messages(only));
}

Result<ProtobufEvent> parse_protobuf_event(std::string_view bytes, const Projection* only) {
  ProtobufEvent out;
  std::string_view raw;
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) {
    if (field.number <= 2 && field.type != WireType::kBytes) return malformed();
    if (field.number == 1) out.type = field.bytes;
    if (field.number != 2) continue;
    WireReader extension(field.bytes);
    for (WireField part; extension.next(part);)
      if (part.number == 1) raw = part.bytes;
    if (extension.malformed()) return malformed();
  }
  if (reader.malformed()) return malformed();
  // All of a Status counts, and of a bookmark an annotation that nobody reads elsewhere.
  const Projection* const wanted = out.type == "ERROR" || out.type == "BOOKMARK" ? nullptr : only;
  TRY(const Envelope envelope, open_envelope(raw));
  TRY(out.object, object_in(envelope, Of::kAnswer, wanted, recent_messages(wanted)));
  return out;
}

}  // namespace api
