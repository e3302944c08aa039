// Metrics on top of prometheus-cpp; the only file that sees it.
#include "base/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "base/check.h"

namespace base {

struct Metrics::State {
  struct Family {
    MetricRow row;
    prometheus::Family<prometheus::Counter>* counters = nullptr;
    prometheus::Family<prometheus::Gauge>* gauges = nullptr;
    prometheus::Family<prometheus::Histogram>* histograms = nullptr;
    std::map<std::vector<std::string>, void*> series;
  };

  prometheus::Registry registry;
  mutable std::mutex mutex;  // of `families`
  std::map<std::string, Family, std::less<>> families;

  static prometheus::Labels labels_of(const MetricRow& row, const std::vector<std::string>& values) {
    prometheus::Labels labels;
    for (std::size_t i = 0; i < values.size(); ++i) labels.emplace(row.labels[i], values[i]);
    return labels;
  }

  void* series(std::string_view name, MetricType type, const std::vector<std::string>& values) {
    const std::lock_guard lock(mutex);
    const auto found = families.find(name);
    CHECK(found != families.end());
    Family& family = found->second;
    CHECK(family.row.type == type && family.row.labels.size() == values.size());
    void*& series = family.series[values];
    if (series != nullptr) return series;
    const prometheus::Labels labels = labels_of(family.row, values);
    if (type == MetricType::kCounter)
      series = &family.counters->Add(labels);
    else if (type == MetricType::kGauge)
      series = &family.gauges->Add(labels);
    else
      series = &family.histograms->Add(labels, family.row.bounds);
    return series;
  }
};

void Counter::add(double amount) const { static_cast<prometheus::Counter*>(counter_)->Increment(amount); }
void Gauge::set(double value) const { static_cast<prometheus::Gauge*>(gauge_)->Set(value); }
void Histogram::observe(double value) const { static_cast<prometheus::Histogram*>(histogram_)->Observe(value); }

Metrics::Metrics() : state_(std::make_unique<State>()) {}
Metrics::~Metrics() = default;

void Metrics::add(std::span<const MetricRow> rows) {
  std::unique_lock lock(state_->mutex);
  for (const MetricRow& row : rows) {
    const std::string name(row.name), help(row.help);
    State::Family& family = state_->families[name];
    CHECK(family.row.name.empty());
    family.row = row;
    switch (row.type) {
      case MetricType::kCounter:
        family.counters = &prometheus::BuildCounter().Name(name).Help(help).Register(state_->registry);
        break;
      case MetricType::kGauge:
        family.gauges = &prometheus::BuildGauge().Name(name).Help(help).Register(state_->registry);
        break;
      case MetricType::kHistogram:
        family.histograms = &prometheus::BuildHistogram().Name(name).Help(help).Register(state_->registry);
        break;
    }
  }
  lock.unlock();
  // A rate sees the first count only where there was a 0 before.
  for (const MetricRow& row : rows)
    if (row.labels.empty()) state_->series(row.name, row.type, {});
}

Counter Metrics::counter(std::string_view name, const std::vector<std::string>& values) {
  Counter out;
  out.counter_ = state_->series(name, MetricType::kCounter, values);
  return out;
}
Gauge Metrics::gauge(std::string_view name, const std::vector<std::string>& values) {
  Gauge out;
  out.gauge_ = state_->series(name, MetricType::kGauge, values);
  return out;
}
Histogram Metrics::histogram(std::string_view name, const std::vector<std::string>& values) {
  Histogram out;
  out.histogram_ = state_->series(name, MetricType::kHistogram, values);
  return out;
}

void Metrics::remove(std::string_view name, const std::vector<std::string>& first_values) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->families.find(name);
  CHECK(found != state_->families.end());
  State::Family& family = found->second;
  // Series are sorted by their values, so those that begin alike stand together.
  auto at = family.series.lower_bound(first_values);
  while (at != family.series.end() && std::equal(first_values.begin(), first_values.end(), at->first.begin())) {
    if (family.counters != nullptr) family.counters->Remove(static_cast<prometheus::Counter*>(at->second));
    if (family.gauges != nullptr) family.gauges->Remove(static_cast<prometheus::Gauge*>(at->second));
    if (family.histograms != nullptr) family.histograms->Remove(static_cast<prometheus::Histogram*>(at->second));
    at = family.series.erase(at);
  }
}

std::string Metrics::text() const {
  std::vector<prometheus::MetricFamily> families = state_->registry.Collect();
  std::sort(families.begin(), families.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  for (prometheus::MetricFamily& family : families)
    std::sort(family.metric.begin(), family.metric.end(),
              [](const auto& a, const auto& b) { return a.label < b.label; });
  return prometheus::TextSerializer().Serialize(families);
}

std::vector<double> exponential_bounds(double first, double last, int count) {
  std::vector<double> bounds;
  const double factor = std::pow(last / first, 1.0 / (count - 1));
  for (int i = 0; i < count; ++i) bounds.push_back(first * std::pow(factor, i));
  return bounds;
}

}  // namespace base
