// Kubernetes quantities ("100m", "1.5Gi", "2e3"), exact: an integer times a power of ten, 128 bits wide.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "api/json/json.h"

namespace api {

class Quantity {
 public:
  enum class Format : std::uint8_t { kDecimalExponent, kBinarySi, kDecimalSi };

  Quantity() = default;
  static Quantity from_int(std::int64_t value, Format format = Format::kDecimalSi);
  static Quantity from_milli(std::int64_t value, Format format = Format::kDecimalSi);

  // Empty if the text does not follow the grammar. Values beyond ±(2^63-1) and digits below nano are capped and rounded
  // up (away from zero), as Kubernetes does.
  static std::optional<Quantity> parse(std::string_view text);
  // A string, with blanks around it or not, or a number, as Kubernetes accepts.
  static std::optional<Quantity> from_json(const Json& json);

  // The canonical text: "1500m", "6Gi", "5". The suffix form is kept through arithmetic (of the left side).
  std::string to_string() const;
  Json to_json() const { return Json(to_string()); }

  // Rounded up (away from zero), saturating.
  std::int64_t value() const;
  std::int64_t milli_value() const;
  double as_double() const;
  bool is_zero() const { return nano_ == 0; }
  int sign() const { return nano_ < 0 ? -1 : nano_ > 0 ? 1 : 0; }

  Quantity& operator+=(const Quantity& other);
  Quantity& operator-=(const Quantity& other);
  friend Quantity operator+(Quantity a, const Quantity& b) { return a += b; }
  friend Quantity operator-(Quantity a, const Quantity& b) { return a -= b; }
  Quantity operator-() const;
  Quantity times(std::int64_t factor) const;
  friend auto operator<=>(const Quantity& a, const Quantity& b) { return a.nano_ <=> b.nano_; }
  friend bool operator==(const Quantity& a, const Quantity& b) { return a.nano_ == b.nano_; }

 private:
  __extension__ typedef __int128 Int128;

  Int128 nano_ = 0;  // in units of 1e-9
  Format format_ = Format::kDecimalSi;
};

// A ResourceList as a sorted map. Values that do not parse are left out; admission refuses them earlier.
using ResourceList = std::map<std::string, Quantity, std::less<>>;
ResourceList resource_list_from(const Json& json);
Json to_json(const ResourceList& list);

}  // namespace api
