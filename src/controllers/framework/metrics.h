// Metrics as text lines (the Prometheus exposition format): what controllers count, and how it is written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace controllers {

// `{a="x",b="y"}`, escaped.
std::string metric_labels(const std::vector<std::pair<std::string_view, std::string_view>>& labels);
// "# HELP" and "# TYPE" lines.
std::string metric_head(std::string_view name, std::string_view type, std::string_view help);

class Histogram {
 public:
  explicit Histogram(std::vector<double> bounds) : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}
  void observe(double value);
  std::string text(std::string_view name) const;

 private:
  std::vector<double> bounds_;
  std::vector<std::uint64_t> counts_;
  double sum_ = 0;
};

// `count` bounds from `first` to `last`, each the same factor above the one before.
std::vector<double> exponential_bounds(double first, double last, int count);

}  // namespace controllers
