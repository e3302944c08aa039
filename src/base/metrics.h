// The counters of a program, and their text form. Rows name the metrics of a module; prometheus-cpp keeps the numbers.
//
// A handle is resolved once and kept: an update through it is an atomic operation. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace base {

enum class MetricType : std::uint8_t { kCounter, kGauge, kHistogram };

struct MetricRow {
  std::string_view name;
  MetricType type;
  std::vector<std::string_view> labels;
  std::string_view help;
  std::vector<double> bounds = {};  // of a histogram: upper bounds of its buckets, ascending
};

// Handles stay valid until the series is removed or the registry goes.
class Counter {
 public:
  void add(double amount = 1) const;  // never negative

 private:
  friend class Metrics;
  void* counter_ = nullptr;
};
class Gauge {
 public:
  void set(double value) const;

 private:
  friend class Metrics;
  void* gauge_ = nullptr;
};
class Histogram {
 public:
  void observe(double value) const;

 private:
  friend class Metrics;
  void* histogram_ = nullptr;
};

class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // Each name once; the rows are copied. A metric without labels is there, as 0, from then on.
  void add(std::span<const MetricRow> rows);

  // The series of these label values, in the order of the row's labels; made when it does not exist. An unknown name or
  // another number of values is a bug.
  Counter counter(std::string_view name, const std::vector<std::string>& values = {});
  Gauge gauge(std::string_view name, const std::vector<std::string>& values = {});
  Histogram histogram(std::string_view name, const std::vector<std::string>& values = {});
  // Forgets the series whose first labels have these values.
  void remove(std::string_view name, const std::vector<std::string>& first_values);

  // The Prometheus text format: metrics and series in the order of their names and labels.
  std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// `count` bounds from `first` to `last`, each the same factor above the one before.
std::vector<double> exponential_bounds(double first, double last, int count);

}  // namespace base
