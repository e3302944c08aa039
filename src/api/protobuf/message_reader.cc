// Values of messages, lists and maps.
#include "api/protobuf/message_reader.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "base/base64.h"
#include "base/format.h"
#include "base/unix_time.h"
#include "base/utf8.h"

namespace api {

using base::WireField;
using base::WireReader;
using base::WireType;
using Kind = Schema::Kind;

namespace {

constexpr int kDepthMax = 64;
constexpr std::size_t kMembersUsual = 8, kItemsUsual = 4;

bool is_zero(const Json& value) {
  if (value.is_string()) return value.as_string().empty();
  if (value.is_bool()) return !value.as_bool();
  return value.is_int() && value.as_int() == 0;
}

WireType type_of(const Schema& schema) {
  if (schema.kind == Kind::kInteger || schema.kind == Kind::kBoolean) return WireType::kVarint;
  return schema.kind == Kind::kNumber ? WireType::kFixed64 : WireType::kBytes;
}

// 0: it has no such field.
int number_of(const NumberedMessage& message, std::string_view name) {
  for (std::size_t number = 0; !name.empty() && number < message.fields.size(); ++number)
    if (message.fields[number].row && message.fields[number].row->name == name) return static_cast<int>(number);
  return 0;
}

// Passes the entries of a list or map that follow each other, as everybody writes them.
void skip_equal(WireReader& reader, int number) {
  WireReader ahead = reader;
  for (WireField next; ahead.next(next) && next.number == number;) reader = ahead;
}

}  // namespace

// The places of one message's fields among the members.
class MessageReader::Places {
 public:
  explicit Places(const NumberedMessage& message) {
    if (message.fields.size() > few_.size()) many_.resize(message.fields.size());
  }
  // One more than the index; 0: not there yet.
  std::uint16_t of(int number) const {
    const auto at = static_cast<std::size_t>(number);
    if (!many_.empty()) return many_[at];
    return (known_ >> at & 1) != 0 ? few_[at] : std::uint16_t{0};
  }
  void set(int number, std::size_t place) {
    const auto at = static_cast<std::size_t>(number);
    (many_.empty() ? few_[at] : many_[at]) = static_cast<std::uint16_t>(place);
    if (many_.empty()) known_ |= std::uint64_t{1} << at;
  }

 private:
  std::array<std::uint16_t, 64> few_;  // those that have a bit in known_
  std::uint64_t known_ = 0;
  std::vector<std::uint16_t> many_;
};

base::Error MessageReader::error() {
  return error_ ? *std::move(error_) : base::make_error(base::Code::kBadRequest, "the protobuf body is malformed");
}

bool MessageReader::refuse(std::string why) {
  error_ = base::make_error(base::Code::kBadRequest, "the protobuf body has " + why);
  return false;
}

bool MessageReader::has_type(const WireField& field, WireType type) {
  return field.type == type || refuse(base::format("field {} in a wire type that is not the field's", field.number));
}

Json MessageReader::Members::take() {
  if (has_nulls) std::erase_if(list, [](const Json::Member& member) { return member.value.is_null(); });
  return Json::object_of(std::move(list));
}

bool MessageReader::object(const NumberedMessage& message, std::string_view bytes, const Projection* only, int depth,
                           Json& out) {
  const auto make = [&](Json& made) {
    Members members;
    if (!fields(message, bytes, only, depth, members)) return false;
    made = members.take();
    return true;
  };
  // A message that is read in parts is an object with a name of its own, or a part that has one.
  return only ? make(out) : shared({&message, 0}, bytes, out, make);
}

bool MessageReader::fields(const NumberedMessage& message, std::string_view bytes, const Projection* only, int depth,
                           Members& out) {
  if (depth > kDepthMax) return false;
  Places places(message);
  const std::vector<Projection::Choice>* const choices = only && recent_ ? &recent_->choices(message, *only) : nullptr;
  out.list.reserve(std::min(message.fields.size(), kMembersUsual));
  WireReader reader(bytes);
  std::string_view here = reader.rest();
  for (WireField value; reader.next(value); here = reader.rest()) {
    const NumberedField* field = message.find(value.number);
    if (!field) continue;
    Projection::Choice choice{true, nullptr};
    if (choices)
      choice = (*choices)[static_cast<std::size_t>(value.number)];
    else if (only && field->row)
      choice = only->choose(field->row->name);
    if (!choice.keep) continue;
    if (field->in_place) {
      if (places.of(value.number) != 0) return refuse(base::format("field {} twice", value.number));
      places.set(value.number, 1);
      if (!has_type(value, WireType::kBytes) || !fields(*field->in_place, value.bytes, only, depth + 1, out))
        return false;
      continue;
    }
    Json made;
    if (field->row->schema->element) {
      skip_equal(reader, value.number);
      if (!entries(*field, here.substr(0, here.size() - reader.rest().size()), choice.inner, depth, made)) return false;
    } else if (!this->value(*field->row->schema, field->message, value, choice.inner, depth, made)) {
      return false;
    }
    if (field->row->omits_zero && is_zero(made)) made = Json();
    if (!put(*field, value.number, std::move(made), places, out)) return false;
  }
  return !reader.malformed();
}

// The last of several is the value, but for lists and maps, which grow. Clients do not write a message in pieces.
bool MessageReader::put(const NumberedField& field, int number, Json made, Places& places, Members& out) {
  const std::uint16_t place = places.of(number);
  if (place == 0) {
    if (made.is_null()) return true;
    out.list.push_back({field.name, std::move(made)});
    places.set(number, out.list.size());
    return true;
  }
  Json& known = out.list[place - 1].value;
  if (field.row->schema->element) {
    for (const Json& item : made.items()) known.push_back(item);
    for (const Json::Member& one : made.members()) known.set(one.name(), one.value);
    return true;
  }
  if (field.row->schema->kind == Kind::kObject) return refuse(base::format("{} twice", field.row->name));
  out.has_nulls = out.has_nulls || made.is_null();
  known = std::move(made);
  return true;
}

// May have been read before.
template <class Make>
bool MessageReader::shared(const RecentMessages::Way& way, std::string_view bytes, Json& out, Make make) {
  RecentMessages::Slot* const place = recent_ ? recent_->place(way, bytes) : nullptr;
  if (place && place->holds(way, bytes)) {
    out = place->value;
    return true;
  }
  if (!make(out)) return false;
  if (!place) return true;
  place->way = way;
  place->bytes.assign(bytes);  // in the memory of what it replaces
  place->value = out;
  return true;
}

// `bytes` are fields of one number: the entries of a list or a map.
bool MessageReader::entries(const NumberedField& field, std::string_view bytes, const Projection* only, int depth,
                            Json& out) {
  const auto make = [&](Json& made) {
    WireReader reader(bytes);
    std::vector<Json> items;
    std::vector<Json::Member> members;
    const bool is_list = field.row->schema->kind == Kind::kList;
    is_list ? items.reserve(kItemsUsual) : members.reserve(kMembersUsual);
    const int chosen_by = only && is_list && field.message ? number_of(*field.message, only->items().member) : 0;
    for (WireField from; reader.next(from);)
      if (chosen_by != 0 && !is_chosen(from, chosen_by, only->items()))
        continue;
      else if (!(is_list ? entry(field, from, only, depth, items)
                         : pair(*field.row->schema->element, field.message, from, only, depth, members)))
        return false;
    made = is_list ? Json::array(std::move(items)) : Json::object_of(std::move(members));
    return true;
  };
  // Lists of which items are chosen say what has become of one object, such as its conditions.
  const bool is_own = only && !only->items().member.empty();
  return is_own ? make(out) : shared({&field, only ? only->number() : 0}, bytes, out, make);
}

// By a text of it. Malformed bytes are for the reader of the whole to find.
bool MessageReader::is_chosen(const WireField& item, int number, const Projection::Items& wanted) {
  std::string_view text;
  WireReader reader(item.bytes);
  for (WireField part; reader.next(part);)
    if (part.number == number) text = part.bytes;
  return reader.malformed() || wanted.takes(text);
}

bool MessageReader::entry(const NumberedField& field, const WireField& from, const Projection* only, int depth,
                          std::vector<Json>& items) {
  const Schema& element = *field.row->schema->element;
  const WireType type = type_of(element);
  if (type == WireType::kBytes || from.type != WireType::kBytes)
    return value(element, field.message, from, only, depth, items.emplace_back());
  WireReader packed(from.bytes);
  for (WireField one{from.number, type}; packed.next_packed(type, one.integer);)
    if (!value(element, field.message, one, only, depth, items.emplace_back())) return false;
  return !packed.malformed();
}

bool MessageReader::pair(const Schema& element, const NumberedMessage* message, const WireField& from,
                         const Projection* only, int depth, std::vector<Json::Member>& members) {
  if (!has_type(from, WireType::kBytes)) return false;
  WireReader reader(from.bytes);
  std::string_view key;
  WireField content{0, type_of(element)};
  for (WireField part; reader.next(part);) {
    if (part.number == 1 && !has_type(part, WireType::kBytes)) return false;
    if (part.number == 1) key = part.bytes;
    if (part.number == 2) content = part;
  }
  const Projection::Choice choice = only ? only->choose(key) : Projection::Choice{true, nullptr};
  if (!choice.keep) return !reader.malformed();
  Json::Member& member = members.emplace_back();
  return !reader.malformed() && name(key, member.key) &&
         value(element, message, content, choice.inner, depth, member.value);
}

bool MessageReader::value(const Schema& schema, const NumberedMessage* message, const WireField& from,
                          const Projection* only, int depth, Json& out) {
  if (!has_type(from, type_of(schema))) return false;
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
    case Kind::kList: return list_in_map(schema, message, from.bytes, only, depth, out);
    case Kind::kMap: break;
  }
  return false;
}

// A message of its items.
bool MessageReader::list_in_map(const Schema& schema, const NumberedMessage* message, std::string_view bytes,
                                const Projection* only, int depth, Json& out) {
  WireReader parts(bytes);
  std::vector<Json> items;
  for (WireField part; parts.next(part);)
    if (part.number == 1 && !value(*schema.element, message, part, only, depth + 1, items.emplace_back())) return false;
  out = Json::array(std::move(items));
  return !parts.malformed();
}

bool MessageReader::text(std::string_view bytes, Json& out) {
  if (base::is_utf8(bytes))
    out = Json(bytes);
  else if (of_ == Of::kAnswer)
    out = Json(base::to_utf8(bytes));
  else
    return refuse("a string that is not UTF-8");
  return true;
}

// The name of a label or annotation: few, and in all objects.
bool MessageReader::name(std::string_view bytes, Json& out) {
  Json* const known = recent_ ? recent_->name_place(bytes) : nullptr;
  if (!known) return text(bytes, out);
  if (known->as_string() != bytes && !text(bytes, *known)) return false;
  out = *known;
  return true;
}

bool MessageReader::string(const Schema& schema, std::string_view bytes, Json& out) {
  if (schema.format.empty()) return text(bytes, out);
  if (schema.format == "date-time" || schema.format == "micro-time")
    return time(bytes, schema.format == "micro-time", out);
  if (schema.format != "byte") return text(bytes, out);
  out = Json(base::base64_encode(bytes));
  return true;
}

// A time that is not set, which Go also writes as the first second of the year 1, stays null.
bool MessageReader::time(std::string_view bytes, bool micro, Json& out) {
  constexpr std::int64_t kUnset = -62'135'596'800;
  base::UnixTime at;
  WireReader parts(bytes);
  for (WireField part; parts.next(part);) {
    if (!has_type(part, WireType::kVarint)) return false;
    if (part.number == 1) at.seconds = static_cast<std::int64_t>(part.integer);
    if (part.number == 2) at.nanos = static_cast<std::int32_t>(part.integer);
  }
  if (parts.malformed()) return false;
  if (bytes.empty() || (at.seconds == kUnset && at.nanos == 0)) return true;
  if (!at.in_rfc3339()) return of_ == Of::kAnswer || refuse("a time beyond the years 0 to 9999");
  std::array<char, base::kRfc3339Bytes> buffer;
  out = micro ? Json(base::format_rfc3339_micro(at)) : Json(base::write_rfc3339(at, buffer));
  return true;
}

bool MessageReader::number(double number, Json& out) {
  if (!std::isfinite(number)) return of_ == Of::kAnswer || refuse("a number that is none");
  out = Json(number);
  return true;
}

bool MessageReader::int_or_string(std::string_view bytes, Json& out) {
  std::uint64_t type = 0;
  std::int64_t number = 0;
  std::string_view characters;
  WireReader parts(bytes);
  for (WireField part; parts.next(part);) {
    if (part.number <= 3 && !has_type(part, part.number == 3 ? WireType::kBytes : WireType::kVarint)) return false;
    if (part.number == 1) type = part.integer;
    if (part.number == 2) number = static_cast<std::int32_t>(part.integer);
    if (part.number == 3) characters = part.bytes;
  }
  if (type != 0) return !parts.malformed() && text(characters, out);
  out = Json(number);
  return !parts.malformed();
}

// FieldsV1 and RawExtension hold JSON text.
bool MessageReader::any(std::string_view bytes, Json& out) {
  WireField content;
  if (!first_field(bytes, content)) return false;
  if (content.number == 0) out = Json::object();
  if (content.bytes.empty()) return true;
  auto parsed = parse_json(content.bytes);
  if (parsed.ok())
    out = *std::move(parsed);
  else if (of_ == Of::kRequest)
    error_ = parsed.take_error();
  return !error_;
}

// The field with number 1; its number stays 0 where there is none.
bool MessageReader::first_field(std::string_view bytes, WireField& out) {
  WireReader parts(bytes);
  for (WireField part; parts.next(part);) {
    if (part.number != 1) continue;
    if (!has_type(part, WireType::kBytes)) return false;
    out = part;
  }
  return !parts.malformed();
}

}  // namespace api
