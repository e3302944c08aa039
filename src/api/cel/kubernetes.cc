// The additions of Kubernetes to the language: quantities, versions, addresses and networks.
#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

#include "api/cel/syntax.h"
#include "base/split.h"

namespace api::cel {
namespace {

using Values = std::vector<Value>;

bool parse_number(std::string_view text, std::uint64_t& out) {
  if (text.empty() || (text.size() > 1 && text[0] == '0')) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size();
}

bool is_numeric(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_identifier(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  });
}

int sign_of(bool less, bool greater) { return less ? -1 : greater ? 1 : 0; }

int compare_prerelease(std::string_view a, std::string_view b) {
  const bool an = is_numeric(a), bn = is_numeric(b);
  if (an && bn) {
    if (a.size() != b.size()) return sign_of(a.size() < b.size(), true);
    return sign_of(a<b, a> b);
  }
  if (an != bn) return an ? -1 : 1;
  return sign_of(a<b, a> b);
}

}  // namespace

std::optional<Semver> Semver::parse(std::string_view text, bool lenient) {
  if (text.size() > 256) return std::nullopt;
  if (lenient && text.starts_with('v')) text.remove_prefix(1);
  const std::string_view whole = text;
  if (const std::size_t plus = text.find('+'); plus != std::string_view::npos) {
    for (const std::string_view part : base::split(text.substr(plus + 1), '.')) {
      if (!is_identifier(part)) return std::nullopt;
    }
    text = text.substr(0, plus);
  }
  Semver out;
  if (const std::size_t dash = text.find('-'); dash != std::string_view::npos) {
    for (const std::string_view part : base::split(text.substr(dash + 1), '.')) {
      if (!is_identifier(part) || (is_numeric(part) && part.size() > 1 && part[0] == '0')) return std::nullopt;
      out.prerelease.emplace_back(part);
    }
    text = text.substr(0, dash);
  }
  std::vector<std::string_view> parts = base::split(text, '.');
  if (lenient && parts.size() < 3 && text.size() != whole.size()) return std::nullopt;  // short, but with a suffix
  if (lenient) {
    while (parts.size() < 3) parts.push_back("0");
    for (std::string_view& part : parts) {
      while (part.size() > 1 && part[0] == '0') part.remove_prefix(1);
    }
  }
  if (parts.size() != 3 || !parse_number(parts[0], out.major) || !parse_number(parts[1], out.minor) ||
      !parse_number(parts[2], out.patch)) {
    return std::nullopt;
  }
  return out;
}

int Semver::compare(const Semver& other) const {
  const std::pair<std::uint64_t, std::uint64_t> numbers[] = {
      {major, other.major}, {minor, other.minor}, {patch, other.patch}};
  for (const auto& [a, b] : numbers) {
    if (a != b) return a < b ? -1 : 1;
  }
  if (prerelease.empty() || other.prerelease.empty())
    return sign_of(!prerelease.empty() && other.prerelease.empty(), prerelease.empty() && !other.prerelease.empty());
  for (std::size_t i = 0; i < std::min(prerelease.size(), other.prerelease.size()); ++i) {
    if (const int order = compare_prerelease(prerelease[i], other.prerelease[i]); order != 0) return order;
  }
  return sign_of(prerelease.size() < other.prerelease.size(), prerelease.size() > other.prerelease.size());
}

std::optional<Ip> Ip::parse(std::string_view text) {
  const std::string copy(text.substr(0, 64));
  if (copy.size() != text.size() || text.find('%') != std::string_view::npos) return std::nullopt;
  Ip out;
  out.bytes.resize(4);
  if (inet_pton(AF_INET, copy.c_str(), out.bytes.data()) == 1) return out;
  out.bytes.resize(16);
  if (inet_pton(AF_INET6, copy.c_str(), out.bytes.data()) != 1) return std::nullopt;
  static constexpr std::uint8_t kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (std::equal(std::begin(kMapped), std::end(kMapped), out.bytes.begin())) return std::nullopt;
  return out;
}

std::optional<Ip> Ip::parse_cidr(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  auto out = parse(text.substr(0, slash));
  std::uint64_t length = 0;
  if (!out || !parse_number(text.substr(slash + 1), length) || length > out->bytes.size() * 8) return std::nullopt;
  out->prefix = static_cast<int>(length);
  return out;
}

Ip Ip::masked() const {
  Ip out = *this;
  for (std::size_t i = 0; i < out.bytes.size(); ++i) {
    const int bits = std::clamp(prefix - static_cast<int>(i) * 8, 0, 8);
    out.bytes[i] = static_cast<std::uint8_t>(out.bytes[i] & (0xff << (8 - bits)));
  }
  return out;
}

bool Ip::contains(const Ip& other) const {
  if (bytes.size() != other.bytes.size() || (other.prefix >= 0 && other.prefix < prefix)) return false;
  Ip moved = other;
  moved.prefix = prefix;
  return moved.masked().bytes == masked().bytes;
}

std::string Ip::to_string() const {
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(bytes.size() == 4 ? AF_INET : AF_INET6, bytes.data(), text, sizeof text);
  return prefix < 0 ? text : text + ("/" + std::to_string(prefix));
}

namespace {

const std::string* text_of(const Values& a) { return a.empty() ? nullptr : a[0].get<std::string>(); }

bool is_lenient(const Values& a) {
  const bool* flag = a.size() == 2 ? a[1].get<bool>() : nullptr;
  return flag != nullptr && *flag;
}

constexpr FunctionRow kFunctions[] = {
    {"quantity",
     [](const Values& a, std::uint64_t&) {
       const auto* s = text_of(a);
       if (s == nullptr) return no_overload("quantity");
       const auto out = Quantity::parse(*s);
       return out ? Value(*out)
                  : fail("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
     }},
    {"sign",
     [](const Values& a, std::uint64_t&) {
       const auto* q = a.size() == 1 ? a[0].get<Quantity>() : nullptr;
       return q ? Value(static_cast<std::int64_t>(q->sign())) : no_overload("sign");
     }},
    {"isQuantity",
     [](const Values& a, std::uint64_t&) {
       return text_of(a) ? Value(Quantity::parse(*text_of(a)).has_value()) : no_overload("isQuantity");
     }},
    {"semver",
     [](const Values& a, std::uint64_t&) {
       const auto* s = text_of(a);
       if (s == nullptr) return no_overload("semver");
       auto out = Semver::parse(*s, is_lenient(a));
       return out ? Value(*std::move(out)) : fail("invalid semver: " + *s);
     }},
    {"isSemver",
     [](const Values& a, std::uint64_t&) {
       return text_of(a) ? Value(Semver::parse(*text_of(a), is_lenient(a)).has_value()) : no_overload("isSemver");
     }},
    {"ip",
     [](const Values& a, std::uint64_t&) {
       const auto* s = text_of(a);
       if (s == nullptr) return no_overload("ip");
       auto out = Ip::parse(*s);
       return out ? Value(*std::move(out)) : fail("IP Address '" + *s + "' parse error");
     }},
    {"isIP",
     [](const Values& a, std::uint64_t&) {
       return text_of(a) ? Value(Ip::parse(*text_of(a)).has_value()) : no_overload("isIP");
     }},
    {"ip.isCanonical",
     [](const Values& a, std::uint64_t&) {
       const auto* s = text_of(a);
       const auto ip = s ? Ip::parse(*s) : std::nullopt;
       return ip ? Value(ip->to_string() == *s) : fail("IP Address parse error");
     }},
    {"cidr",
     [](const Values& a, std::uint64_t&) {
       const auto* s = text_of(a);
       if (s == nullptr) return no_overload("cidr");
       auto out = Ip::parse_cidr(*s);
       return out ? Value(*std::move(out)) : fail("network address parse error during conversion from string: " + *s);
     }},
    {"isCIDR",
     [](const Values& a, std::uint64_t&) {
       return text_of(a) ? Value(Ip::parse_cidr(*text_of(a)).has_value()) : no_overload("isCIDR");
     }},
};

// -1, 0, 1 of two quantities or two versions.
std::optional<int> order_of(const Value& object, const Values& a) {
  if (a.size() != 1) return std::nullopt;
  if (const auto* x = object.get<Quantity>(), *y = a[0].get<Quantity>(); x && y) return sign_of(*x<*y, *x> * y);
  if (const auto* x = object.get<Semver>(), *y = a[0].get<Semver>(); x && y) return x->compare(*y);
  return std::nullopt;
}

Value quantity_sum(const Value& object, const Values& a, bool minus) {
  const auto* x = object.get<Quantity>();
  if (x == nullptr || a.size() != 1) return no_overload(minus ? "sub" : "add");
  Quantity y;
  if (const auto* q = a[0].get<Quantity>())
    y = *q;
  else if (const auto* i = a[0].get<std::int64_t>())
    y = Quantity::from_int(*i);
  else
    return no_overload(minus ? "sub" : "add");
  return minus ? *x - y : *x + y;
}

Value address_test(const Value& object, std::string_view what) {
  const auto* ip = object.get<Ip>();
  if (ip == nullptr || ip->prefix >= 0) return no_overload(what);
  const auto& b = ip->bytes;
  const bool v4 = b.size() == 4;
  const auto rest_zero = [&](std::ptrdiff_t from, std::ptrdiff_t to) {
    return std::all_of(b.begin() + from, b.begin() + to, [](auto x) { return x == 0; });
  };
  const auto size = static_cast<std::ptrdiff_t>(b.size());
  if (what == "isUnspecified") return rest_zero(0, size);
  if (what == "isLoopback") return v4 ? b[0] == 127 : rest_zero(0, 15) && b[15] == 1;
  if (what == "isLinkLocalMulticast")
    return v4 ? b[0] == 224 && b[1] == 0 && b[2] == 0 : b[0] == 0xff && (b[1] & 0x0f) == 2;
  if (what == "isLinkLocalUnicast") return v4 ? b[0] == 169 && b[1] == 254 : b[0] == 0xfe && (b[1] & 0xc0) == 0x80;
  const bool broadcast = v4 && std::all_of(b.begin(), b.end(), [](auto x) { return x == 255; });
  const bool multicast = v4 ? (b[0] & 0xf0) == 224 : b[0] == 0xff;
  return !broadcast && !multicast && !rest_zero(0, size) && !*address_test(object, "isLoopback").get<bool>() &&
         !*address_test(object, "isLinkLocalUnicast").get<bool>();
}

Value contains_address(const Value& object, const Values& a, bool network) {
  const auto* cidr = object.get<Ip>();
  if (cidr == nullptr || cidr->prefix < 0 || a.size() != 1) return no_overload("containsIP");
  std::optional<Ip> other;
  if (const auto* ip = a[0].get<Ip>())
    other = *ip;
  else if (const auto* s = a[0].get<std::string>())
    other = network ? Ip::parse_cidr(*s) : Ip::parse(*s);
  if (!other || (other->prefix >= 0) != network) return fail("not an address of that kind");
  return cidr->contains(*other);
}

constexpr MethodRow kMethods[] = {
    {"sign",
     [](const Value& o, const Values&, std::uint64_t&) {
       return o.get<Quantity>() ? Value(static_cast<std::int64_t>(o.get<Quantity>()->sign())) : no_overload("sign");
     }},
    {"isInteger",
     [](const Value& o, const Values&, std::uint64_t&) {
       const auto* q = o.get<Quantity>();
       return q ? Value(Quantity::from_int(q->value()) == *q) : no_overload("isInteger");
     }},
    {"asInteger",
     [](const Value& o, const Values&, std::uint64_t&) {
       const auto* q = o.get<Quantity>();
       if (q == nullptr) return no_overload("asInteger");
       return Quantity::from_int(q->value()) == *q ? Value(q->value()) : fail("cannot convert value to integer");
     }},
    {"asApproximateFloat",
     [](const Value& o, const Values&, std::uint64_t&) {
       return o.get<Quantity>() ? Value(o.get<Quantity>()->as_double()) : no_overload("asApproximateFloat");
     }},
    {"add", [](const Value& o, const Values& a, std::uint64_t&) { return quantity_sum(o, a, false); }},
    {"sub", [](const Value& o, const Values& a, std::uint64_t&) { return quantity_sum(o, a, true); }},
    {"isLessThan",
     [](const Value& o, const Values& a, std::uint64_t&) {
       const auto x = order_of(o, a);
       return x ? Value(*x < 0) : no_overload("isLessThan");
     }},
    {"isGreaterThan",
     [](const Value& o, const Values& a, std::uint64_t&) {
       const auto x = order_of(o, a);
       return x ? Value(*x > 0) : no_overload("isGreaterThan");
     }},
    {"compareTo",
     [](const Value& o, const Values& a, std::uint64_t&) {
       const auto x = order_of(o, a);
       return x ? Value(static_cast<std::int64_t>(*x)) : no_overload("compareTo");
     }},
    {"major",
     [](const Value& o, const Values&, std::uint64_t&) {
       return o.get<Semver>() ? Value(static_cast<std::int64_t>(o.get<Semver>()->major)) : no_overload("major");
     }},
    {"minor",
     [](const Value& o, const Values&, std::uint64_t&) {
       return o.get<Semver>() ? Value(static_cast<std::int64_t>(o.get<Semver>()->minor)) : no_overload("minor");
     }},
    {"patch",
     [](const Value& o, const Values&, std::uint64_t&) {
       return o.get<Semver>() ? Value(static_cast<std::int64_t>(o.get<Semver>()->patch)) : no_overload("patch");
     }},
    {"family",
     [](const Value& o, const Values&, std::uint64_t&) {
       return o.get<Ip>() ? Value(std::int64_t{o.get<Ip>()->bytes.size() == 4 ? 4 : 6}) : no_overload("family");
     }},
    {"isUnspecified", [](const Value& o, const Values&, std::uint64_t&) { return address_test(o, "isUnspecified"); }},
    {"isLoopback", [](const Value& o, const Values&, std::uint64_t&) { return address_test(o, "isLoopback"); }},
    {"isLinkLocalMulticast",
     [](const Value& o, const Values&, std::uint64_t&) { return address_test(o, "isLinkLocalMulticast"); }},
    {"isLinkLocalUnicast",
     [](const Value& o, const Values&, std::uint64_t&) { return address_test(o, "isLinkLocalUnicast"); }},
    {"isGlobalUnicast",
     [](const Value& o, const Values&, std::uint64_t&) { return address_test(o, "isGlobalUnicast"); }},
    {"containsIP", [](const Value& o, const Values& a, std::uint64_t&) { return contains_address(o, a, false); }},
    {"containsCIDR", [](const Value& o, const Values& a, std::uint64_t&) { return contains_address(o, a, true); }},
    {"prefixLength",
     [](const Value& o, const Values&, std::uint64_t&) {
       const auto* ip = o.get<Ip>();
       return ip && ip->prefix >= 0 ? Value(std::int64_t{ip->prefix}) : no_overload("prefixLength");
     }},
    {"masked",
     [](const Value& o, const Values&, std::uint64_t&) {
       const auto* ip = o.get<Ip>();
       return ip && ip->prefix >= 0 ? Value(ip->masked()) : no_overload("masked");
     }},
    {"ip",
     [](const Value& o, const Values&, std::uint64_t&) {
       const auto* cidr = o.get<Ip>();
       if (cidr == nullptr || cidr->prefix < 0) return no_overload("ip");
       Ip out = *cidr;
       out.prefix = -1;
       return Value(std::move(out));
     }},
    // Attributes of devices that may hold one value or several.
    {"includes",
     [](const Value& o, const Values& a, std::uint64_t& cost) {
       if (a.size() != 1) return no_overload("includes");
       const List* list = o.get<List>();
       if (list == nullptr) return Value(equal(o, a[0], cost));
       return Value(std::any_of(list->begin(), list->end(), [&](const Value& v) { return equal(v, a[0], cost); }));
     }},
};

}  // namespace

Library kubernetes_library() { return {kFunctions, kMethods}; }

}  // namespace api::cel
