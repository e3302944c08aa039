// How is an amount written for people?
#include "scheduler/framework/amount_text.h"

#include <cmath>

#include "base/format.h"

namespace scheduler {
namespace {

constexpr double kMi = 1 << 20;
constexpr double kGi = kMi * 1024;

std::string with_two_decimals(double value) { return base::format("{}", std::round(value * 100) / 100); }

}  // namespace

std::string amount_text(const api::Quantity& amount, std::string_view resource) {
  const std::string exact = amount.to_string();
  const double value = amount.as_double();
  if (exact.ends_with('m') && value >= 1) return with_two_decimals(value);
  const bool is_unwieldy = exact.size() > 6;
  if (resource != "memory" || !is_unwieldy || value < kMi) return exact;
  return value >= kGi ? with_two_decimals(value / kGi) + "Gi" : with_two_decimals(value / kMi) + "Mi";
}

bool stands_before(const Dimensions& dimensions, Dim one, Dim other) {
  if (one <= kPods || other <= kPods) return one < other;
  return dimensions.name(one) < dimensions.name(other);
}

}  // namespace scheduler
