// Writing metrics.
#include "controllers/framework/metrics.h"

#include <cmath>
#include <cstdint>

#include "base/format.h"

namespace controllers {

std::string metric_labels(const std::vector<std::pair<std::string_view, std::string_view>>& labels) {
  std::string text = "{";
  for (const auto& [name, value] : labels) {
    if (text.size() > 1) text += ',';
    text += base::format("{}=\"", name);
    for (const char c : value) {
      if (c == '\\' || c == '"') text += '\\';
      if (c == '\n')
        text += "\\n";
      else
        text += c;
    }
    text += '"';
  }
  return text + "}";
}

std::string metric_head(std::string_view name, std::string_view type, std::string_view help) {
  return base::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
}

void Histogram::observe(double value) {
  std::size_t index = 0;
  while (index < bounds_.size() && value > bounds_[index]) ++index;
  ++counts_[index];
  sum_ += value;
}

std::string Histogram::text(std::string_view name) const {
  std::string text;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    total += counts_[i];
    const std::string bound = i < bounds_.size() ? base::format("{}", bounds_[i]) : "+Inf";
    text += base::format("{}_bucket{{le=\"{}\"}} {}\n", name, bound, total);
  }
  return text + base::format("{0}_sum {1}\n{0}_count {2}\n", name, sum_, total);
}

std::vector<double> exponential_bounds(double first, double last, int count) {
  std::vector<double> bounds;
  const double factor = std::pow(last / first, 1.0 / (count - 1));
  for (int i = 0; i < count; ++i) bounds.push_back(first * std::pow(factor, i));
  return bounds;
}

}  // namespace controllers
