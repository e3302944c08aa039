// A reader of the wire format along the numbers of messages.
#include <bit>
#include <cmath>

#include "api/kinds.h"
#include "api/other_versions.h"
#include "api/protobuf/messages.h"
#include "api/protobuf/protobuf.h"
#include "api/protobuf/recent_messages.h"
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
using base::WireReader;
using Kind = Schema::Kind;

constexpr int kDepthMax = 64;
constexpr std::string_view kList = "List";

base::Error malformed() { return make_error(Code::kBadRequest, "the protobuf body is malformed"); }

bool is_zero(const Json& value) {
  if (value.is_string()) return value.as_string().empty();
  if (value.is_bool()) return !value.as_bool();
  return value.is_int() && value.as_int() == 0;
}

// Builds values. Each function returns false where the bytes are bad, and error() says how.
class Reader {
 public:
  // `recent`: where equal parts are looked for; null: nowhere.
  explicit Reader(RecentMessages* recent) : recent_(recent) {}

  base::Error error() { return error_ ? *std::move(error_) : malformed(); }

  bool object(const NumberedMessage& message, std::string_view bytes, const Projection* only, int depth, Json& out) {
    return shared(&message, bytes, only, out, [&](Json& made) {
      std::vector<Json::Member> members;
      if (!fields(message, bytes, only, depth, members)) return false;
      made = Json::object_of(std::move(members));
      return true;
    });
  }

  // Appends the members that are in `bytes`.
  bool fields(const NumberedMessage& message, std::string_view bytes, const Projection* only, int depth,
              std::vector<Json::Member>& members) {
    if (depth > kDepthMax) return false;
    WireReader reader(bytes);
    std::string_view here = reader.rest();
    for (WireField value; reader.next(value); here = reader.rest()) {
      const NumberedField* field = message.find(value.number);
      if (!field) continue;
      if (field->in_place) {
        if (!fields(*field->in_place, value.bytes, only, depth + 1, members)) return false;
        continue;
      }
      const Projection::Choice choice = only ? only->choose(field->row->name) : Projection::Choice{true, nullptr};
      if (!choice.keep) continue;
      Json made;
      if (field->row->schema->element) {
        skip_equal(reader, value.number);
        if (!entries(*field, here.substr(0, here.size() - reader.rest().size()), choice.inner, depth, made))
          return false;
        if (add_to(members, field->name, made)) continue;
      } else if (!this->value(*field->row->schema, field->message, value, choice.inner, depth, made)) {
        return false;
      }
      if (made.is_null() || (field->row->omits_zero && is_zero(made))) continue;
      members.push_back({field->name, std::move(made)});
    }
    return !reader.malformed();
  }

 private:
  // Whatever is read whole may have been read before.
  template <class Make>
  bool shared(const void* what, std::string_view bytes, const Projection* only, Json& out, Make make) {
    RecentMessages* const recent = only ? nullptr : recent_;
    if (const Json* same = recent ? recent->find(what, bytes) : nullptr) {
      out = *same;
      return true;
    }
    if (!make(out)) return false;
    if (recent) recent->keep(what, bytes, out);
    return true;
  }

  // Passes the entries of a list or map that follow each other, as everybody writes them.
  static void skip_equal(WireReader& reader, int number) {
    WireReader ahead = reader;
    for (WireField next; ahead.next(next) && next.number == number;) reader = ahead;
  }

  // Entries of a list or map that come later than others of it.
  static bool add_to(std::vector<Json::Member>& members, const Json& name, const Json& more) {
    for (Json::Member& member : members) {
      if (!member.key.same_as(name) && member.name() != name.as_string()) continue;
      for (const Json& item : more.items()) member.value.push_back(item);
      for (const Json::Member& one : more.members()) member.value.set(one.name(), one.value);
      return true;
    }
    return false;
  }

  // `bytes` are fields of one number: the entries of a list or a map.
  bool entries(const NumberedField& field, std::string_view bytes, const Projection* only, int depth, Json& out) {
    return shared(&field, bytes, only, out, [&](Json& made) {
      const Schema& element = *field.row->schema->element;
      WireReader reader(bytes);
      std::vector<Json> items;
      std::vector<Json::Member> members;
      const bool is_list = field.row->schema->kind == Kind::kList;
      for (WireField entry; reader.next(entry);) {
        if (is_list) {
          if (!value(element, field.message, entry, only, depth, items.emplace_back())) return false;
        } else if (!pair(element, field.message, entry.bytes, only, depth, members)) {
          return false;
        }
      }
      made = is_list ? Json::array(std::move(items)) : Json::object_of(std::move(members));
      return true;
    });
  }

  // An entry of a map.
  bool pair(const Schema& element, const NumberedMessage* message, std::string_view bytes, const Projection* only,
            int depth, std::vector<Json::Member>& members) {
    WireReader reader(bytes);
    std::string_view key;
    WireField content;
    for (WireField part; reader.next(part);) {
      if (part.number == 1) key = part.bytes;
      if (part.number == 2) content = part;
    }
    const Projection::Choice choice = only ? only->choose(key) : Projection::Choice{true, nullptr};
    if (!choice.keep) return !reader.malformed();
    Json::Member& member = members.emplace_back();
    return !reader.malformed() && text(key, member.key) &&
           value(element, message, content, choice.inner, depth, member.value);
  }

  bool text(std::string_view bytes, Json& out) {
    if (!base::is_utf8(bytes)) {
      error_ = make_error(Code::kBadRequest, "the protobuf body has a string that is no UTF-8");
      return false;
    }
    out = Json(bytes);
    return true;
  }

  bool value(const Schema& schema, const NumberedMessage* message, const WireField& from, const Projection* only,
             int depth, Json& out) {
    switch (schema.kind) {
      case Kind::kString: return string(schema, from.bytes, out);
      case Kind::kInteger:
        out = schema.format == "int32" ? Json(std::int64_t{static_cast<std::int32_t>(from.integer)})
                                       : Json(static_cast<std::int64_t>(from.integer));
        return true;
      case Kind::kNumber: return number(std::bit_cast<double>(from.integer), out);
      case Kind::kBoolean: out = Json(from.integer != 0); return true;
      case Kind::kQuantity: {
        WireField content;
        if (!first_field(from.bytes, content)) return false;
        return text(content.number == 0 ? "0" : content.bytes, out);
      }
      case Kind::kIntOrString: return int_or_string(from.bytes, out);
      case Kind::kAny: return any(from.bytes, out);
      case Kind::kObject: return object(*message, from.bytes, only, depth + 1, out);
      case Kind::kList: {  // in a map: a message of its items
        WireReader parts(from.bytes);
        std::vector<Json> items;
        for (WireField part; parts.next(part);)
          if (part.number == 1 && !value(*schema.element, message, part, only, depth + 1, items.emplace_back()))
            return false;
        out = Json::array(std::move(items));
        return !parts.malformed();
      }
      case Kind::kMap: break;
    }
    return false;
  }

  bool string(const Schema& schema, std::string_view bytes, Json& out) {
    if (schema.format == "date-time" || schema.format == "micro-time")
      return time(bytes, schema.format == "micro-time", out);
    if (schema.format != "byte") return text(bytes, out);
    out = Json(base::base64_encode(bytes));
    return true;
  }

  // A time that is not set stays null.
  static bool time(std::string_view bytes, bool micro, Json& out) {
    std::int64_t seconds = 0;
    std::int64_t nanos = 0;
    WireReader parts(bytes);
    for (WireField part; parts.next(part);)
      (part.number == 1 ? seconds : nanos) = static_cast<std::int64_t>(part.integer);
    if (bytes.empty() || seconds < -9'000'000'000 || seconds > 9'000'000'000 || nanos < 0 || nanos > 999'999'999)
      return !parts.malformed();
    const base::Time at{seconds * 1'000'000'000 + nanos};
    out = Json(micro ? base::format_rfc3339_micro(at) : base::format_rfc3339(at));
    return !parts.malformed();
  }

  bool number(double number, Json& out) {
    if (!std::isfinite(number)) {
      error_ = make_error(Code::kBadRequest, "the protobuf body has a number that is none");
      return false;
    }
    out = Json(number);
    return true;
  }

  bool int_or_string(std::string_view bytes, Json& out) {
    std::uint64_t type = 0;
    std::int64_t number = 0;
    std::string_view characters;
    WireReader parts(bytes);
    for (WireField part; parts.next(part);) {
      if (part.number == 1) type = part.integer;
      if (part.number == 2) number = static_cast<std::int32_t>(part.integer);
      if (part.number == 3) characters = part.bytes;
    }
    if (type != 0) return !parts.malformed() && text(characters, out);
    out = Json(number);
    return !parts.malformed();
  }

  // FieldsV1 and RawExtension hold JSON text.
  bool any(std::string_view bytes, Json& out) {
    WireField content;
    if (!first_field(bytes, content)) return false;
    if (content.number == 0) {
      out = Json::object();
      return true;
    }
    auto parsed = parse_json(content.bytes);
    if (!parsed.ok()) {
      error_ = parsed.take_error();
      return false;
    }
    out = *std::move(parsed);
    return true;
  }

  // The field with number 1; its number stays 0 where there is none.
  static bool first_field(std::string_view bytes, WireField& out) {
    WireReader parts(bytes);
    for (WireField part; parts.next(part);)
      if (part.number == 1 && out.number == 0) out = part;
    return !parts.malformed();
  }

  RecentMessages* recent_;
  std::optional<base::Error> error_;
};

struct Envelope {
  std::string_view api_version, kind, raw;
};

Result<Envelope> open_envelope(std::string_view bytes) {
  if (!bytes.starts_with(kProtobufMagic)) return malformed();
  Envelope out;
  WireReader reader(bytes.substr(kProtobufMagic.size()));
  for (WireField field; reader.next(field);) {
    if (field.number == 2) out.raw = field.bytes;
    if (field.number != 1) continue;
    WireReader type(field.bytes);
    for (WireField part; type.next(part);) (part.number == 1 ? out.api_version : out.kind) = part.bytes;
    if (type.malformed()) return malformed();
  }
  if (reader.malformed()) return malformed();
  return out;
}

base::Error unknown_kind(const Envelope& of) {
  return make_error(Code::kUnsupportedMediaType,
                    base::format("the body of the request was in an unknown format - {} {} is accepted as "
                                 "application/json or application/yaml only",
                                 of.api_version, of.kind));
}

const NumberedMessage* message_of(std::string_view api_version, std::string_view kind) {
  const Schema* const schema = protobuf_schema(api_version, kind);
  return schema ? numbered_message(*schema) : nullptr;
}

Result<Json> object_in(const Envelope& envelope, const Projection* only, RecentMessages* recent) {
  const NumberedMessage* const message = message_of(envelope.api_version, envelope.kind);
  if (!message) return unknown_kind(envelope);
  Reader reader(recent);
  std::vector<Json::Member> members{{Json("apiVersion"), Json(envelope.api_version)},
                                    {Json("kind"), Json(envelope.kind)}};
  if (!reader.fields(*message, envelope.raw, only, 0, members)) return reader.error();
  return Json::object_of(std::move(members));
}

Result<Json> list_in(const Envelope& envelope, const NumberedMessage& message, const Projection* only,
                     RecentMessages* recent) {
  static const NumberedMessage& about = *numbered_message(core_schema("meta.v1.ListMeta"));
  Reader reader(recent);
  Json metadata = Json::object();
  std::vector<Json> items;
  WireReader parts(envelope.raw);
  for (WireField part; parts.next(part);) {
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
  return only ? &recent : nullptr;
}

}  // namespace

const Schema* protobuf_schema(std::string_view api_version, std::string_view kind) {
  if (const KindInfo* info = find_kind_named(api_version, kind); info && !info->custom) return info->schema;
  for (const OtherVersion& other : other_versions())
    if (other.kind.kind == kind && other.kind.resource.api_version() == api_version) return other.kind.schema;
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
  return object_in(envelope, nullptr, nullptr);
}

Result<Json> parse_protobuf_answer(std::string_view bytes, const Projection* only) {
  TRY(const Envelope envelope, open_envelope(bytes));
  if (envelope.kind.ends_with(kList)) {
    const std::string_view kind = envelope.kind.substr(0, envelope.kind.size() - kList.size());
    if (const NumberedMessage* message = message_of(envelope.api_version, kind))
      return list_in(envelope, *message, only, recent_messages(only));
  }
  return object_in(envelope, only, recent_messages(only));
}

Result<ProtobufEvent> parse_protobuf_event(std::string_view bytes, const Projection* only) {
  ProtobufEvent out;
  std::string_view raw;
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) {
    if (field.number == 1) out.type = field.bytes;
    if (field.number != 2) continue;
    WireReader extension(field.bytes);
    for (WireField part; extension.next(part);)
      if (part.number == 1) raw = part.bytes;
    if (extension.malformed()) return malformed();
  }
  if (reader.malformed()) return malformed();
  const Projection* const wanted = out.type == "ERROR" ? nullptr : only;
  TRY(const Envelope envelope, open_envelope(raw));
  TRY(out.object, object_in(envelope, wanted, recent_messages(wanted)));
  return out;
}

}  // namespace api
