// Which values do expressions of the Common Expression Language (CEL) compute with?
#include "api/cel/value.h"

#include <cmath>

#include "base/format.h"
#include "base/unix_time.h"

namespace api::cel {
namespace {

constexpr int kDepthMax = 64;

bool is_number(const Value& v) { return v.get<std::int64_t>() || v.get<std::uint64_t>() || v.get<double>(); }

template <class T>
int sign_of(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

// Numbers of different types compare by value; nothing where one is not a number.
std::optional<int> compare_numbers(const Value& a, const Value& b) {
  const auto *ai = a.get<std::int64_t>(), *bi = b.get<std::int64_t>();
  const auto *au = a.get<std::uint64_t>(), *bu = b.get<std::uint64_t>();
  const auto *ad = a.get<double>(), *bd = b.get<double>();
  if (ai && bi) return sign_of(*ai, *bi);
  if (au && bu) return sign_of(*au, *bu);
  if (ai && bu) return *ai < 0 ? -1 : sign_of(static_cast<std::uint64_t>(*ai), *bu);
  if (au && bi) return *bi < 0 ? 1 : sign_of(*au, static_cast<std::uint64_t>(*bi));
  const double x = ad ? *ad : ai ? static_cast<double>(*ai) : static_cast<double>(*au);
  const double y = bd ? *bd : bi ? static_cast<double>(*bi) : static_cast<double>(*bu);
  if (std::isnan(x) || std::isnan(y)) return std::nullopt;
  return sign_of(x, y);
}

// Seconds with as many digits as it takes, never in scientific notation.
std::string seconds_text(std::int64_t ns) {
  const bool negative = ns < 0;
  const std::uint64_t size = negative ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  std::string out = base::format("{}{}", negative ? "-" : "", size / 1'000'000'000);
  if (std::string fraction = base::format("{:09}", size % 1'000'000'000); fraction != "000000000") {
    fraction.erase(fraction.find_last_not_of('0') + 1);
    out += "." + fraction;
  }
  return out + "s";
}

}  // namespace

Value some(Value value) { return Optional{std::make_shared<const Value>(std::move(value))}; }

namespace {

std::optional<Json> json_of(const Value& value, std::size_t& left, int depth) {
  const auto spend = [&left](std::size_t bytes) {
    const bool enough = bytes <= left;
    left -= enough ? bytes : left;
    return enough;
  };
  if (depth > kDepthMax || !spend(8)) return std::nullopt;
  if (value.is_null()) return Json();
  if (const auto* v = value.get<bool>()) return Json(*v);
  if (const auto* v = value.get<std::int64_t>()) return Json(*v);
  if (const auto* v = value.get<std::uint64_t>()) return Json(*v);
  if (const auto* v = value.get<double>()) return std::isfinite(*v) ? std::optional(Json(*v)) : std::nullopt;
  if (const auto* list = value.get<List>()) {
    Json out = Json::array();
    for (const Value& item : *list) {
      auto one = json_of(item, left, depth + 1);
      if (!one) return std::nullopt;
      out.push_back(*std::move(one));
    }
    return out;
  }
  if (const auto* map = value.get<Map>()) {
    Json out = Json::object_of_size(map->entries.size());
    for (const auto& [key, item] : map->entries) {
      const std::string* name = key.get<std::string>();
      if (name == nullptr || !spend(name->size())) return std::nullopt;
      auto one = json_of(item, left, depth + 1);
      if (!one) return std::nullopt;
      out.set(*name, *std::move(one));
    }
    return out;
  }
  if (value.get<Bytes>() || value.get<TypeName>()) return std::nullopt;
  const Value text = to_string(value);
  const std::string* content = text.get<std::string>();
  if (content == nullptr || !spend(content->size())) return std::nullopt;
  return Json(*content);
}

}  // namespace

std::optional<Json> to_json(const Value& value, std::size_t bytes_max) { return json_of(value, bytes_max, 0); }

Value no_overload(std::string_view what) { return fail(base::format("no such overload: {}", what)); }

Value Value::from_json(const Json& json, int depth) {
  if (depth > kDepthMax) return fail("nested too deeply");
  switch (json.type()) {
    case Json::Type::kNull: return {};
    case Json::Type::kBool: return json.as_bool();
    case Json::Type::kInt: return json.as_int();
    case Json::Type::kUint:
    case Json::Type::kDouble: return json.as_double();
    case Json::Type::kString: return json.as_string();
    case Json::Type::kArray: {
      List out;
      for (const Json& item : json.items()) out.push_back(from_json(item, depth + 1));
      return out;
    }
    case Json::Type::kObject: {
      Map out;
      for (const auto& member : json.members())
        out.entries.emplace_back(member.name(), from_json(member.value, depth + 1));
      return out;
    }
  }
  return {};
}

std::string_view Value::type_name() const {
  static constexpr std::string_view kNames[] = {"null_type",
                                                "bool",
                                                "int",
                                                "uint",
                                                "double",
                                                "type",
                                                "google.protobuf.Duration",
                                                "google.protobuf.Timestamp",
                                                "string",
                                                "error",
                                                "bytes",
                                                "kubernetes.Quantity",
                                                "kubernetes.Semver",
                                                "net.IP",
                                                "list",
                                                "map",
                                                "optional_type",
                                                "kubernetes.URL",
                                                "kubernetes.Image",
                                                "kubernetes.NamedFormat",
                                                "kubernetes.authorization.Authorizer"};
  if (const Ip* ip = get<Ip>(); ip != nullptr && ip->prefix >= 0) return "net.CIDR";
  return kNames[data_.index()];
}

bool equal(const Value& a, const Value& b, std::uint64_t& work, int depth) {
  if (depth > kDepthMax || ++work > kWorkMax) return false;
  if (is_number(a) && is_number(b)) return compare_numbers(a, b) == 0;
  if (a.is_null() || b.is_null()) return a.is_null() && b.is_null();
  if (const auto* x = a.get<bool>(), *y = b.get<bool>(); x && y) return *x == *y;
  if (const auto* x = a.get<std::string>(), *y = b.get<std::string>(); x && y) {
    if (x->size() != y->size()) return false;
    work += x->size() / 10;
    return work <= kWorkMax && *x == *y;
  }
  if (const auto* x = a.get<Bytes>(), *y = b.get<Bytes>(); x && y) {
    if (x->data.size() != y->data.size()) return false;
    work += x->data.size() / 10;
    return work <= kWorkMax && *x == *y;
  }
  if (const auto* x = a.get<TypeName>(), *y = b.get<TypeName>(); x && y) return *x == *y;
  if (const auto* x = a.get<DurationValue>(), *y = b.get<DurationValue>(); x && y) return *x == *y;
  if (const auto* x = a.get<TimeValue>(), *y = b.get<TimeValue>(); x && y) return *x == *y;
  if (const auto* x = a.get<Quantity>(), *y = b.get<Quantity>(); x && y) return *x == *y;
  if (const auto* x = a.get<Semver>(), *y = b.get<Semver>(); x && y) return x->compare(*y) == 0;
  if (const auto* x = a.get<Ip>(), *y = b.get<Ip>(); x && y) return *x == *y;
  if (const auto* x = a.get<Url>(), *y = b.get<Url>(); x && y) return *x == *y;
  if (const auto* x = a.get<Image>(), *y = b.get<Image>(); x && y) return *x == *y;
  if (const auto* x = a.get<Authorizer>(), *y = b.get<Authorizer>(); x && y) return *x == *y;
  if (const auto* x = a.get<NamedFormat>(), *y = b.get<NamedFormat>(); x && y) return *x == *y;
  if (const auto* x = a.get<Optional>(), *y = b.get<Optional>(); x && y) {
    if (!x->value || !y->value) return !x->value && !y->value;
    return equal(*x->value, *y->value, work, depth + 1);
  }
  if (const auto* x = a.get<List>(), *y = b.get<List>(); x && y) {
    if (x->size() != y->size()) return false;
    if (x->is_set || x->keys) return equal_unordered(*x, *y, work, depth + 1);
    for (std::size_t i = 0; i < x->size(); ++i) {
      if (!equal((*x)[i], (*y)[i], work, depth + 1)) return false;
    }
    return true;
  }
  if (const auto* x = a.get<Map>(), *y = b.get<Map>(); x && y) {
    if (x->entries.size() != y->entries.size()) return false;
    for (const auto& [key, value] : x->entries) {
      const Value* other = find(*y, key, work);
      if (other == nullptr || !equal(value, *other, work, depth + 1)) return false;
    }
    return true;
  }
  return false;
}

std::optional<int> compare(const Value& a, const Value& b) {
  if (is_number(a) && is_number(b)) return compare_numbers(a, b);
  if (const auto* x = a.get<bool>(), *y = b.get<bool>(); x && y) return sign_of(*x, *y);
  if (const auto* x = a.get<std::string>(), *y = b.get<std::string>(); x && y) return sign_of(*x, *y);
  if (const auto* x = a.get<Bytes>(), *y = b.get<Bytes>(); x && y) return sign_of(x->data, y->data);
  if (const auto* x = a.get<DurationValue>(), *y = b.get<DurationValue>(); x && y) return sign_of(*x, *y);
  if (const auto* x = a.get<TimeValue>(), *y = b.get<TimeValue>(); x && y) return sign_of(*x, *y);
  return std::nullopt;
}

const Value* find(const Map& map, const Value& key, std::uint64_t& work) {
  for (const auto& [name, value] : map.entries) {
    if (equal(name, key, work)) return &value;
  }
  return nullptr;
}

Value to_string(const Value& value) {
  if (value.get<std::string>() || value.is_error()) return value;
  if (const auto* v = value.get<bool>()) return *v ? "true" : "false";
  if (const auto* v = value.get<std::int64_t>()) return std::to_string(*v);
  if (const auto* v = value.get<std::uint64_t>()) return std::to_string(*v);
  if (const auto* v = value.get<double>()) return format_double(*v);
  if (const auto* v = value.get<Bytes>()) return v->data;
  if (const auto* v = value.get<Quantity>()) return v->to_string();
  if (const auto* v = value.get<Ip>()) return v->to_string();
  if (const auto* v = value.get<TypeName>()) return v->name;
  if (const auto* v = value.get<TimeValue>()) return base::format_rfc3339(base::UnixTime{v->seconds, v->nanos});
  if (const auto* v = value.get<DurationValue>()) return seconds_text(v->ns);
  return no_overload("string(" + std::string(value.type_name()) + ")");
}

}  // namespace api::cel
