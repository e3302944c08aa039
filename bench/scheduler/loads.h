// The loads that the product's goals name, as objects, one JSON line each, from a seed.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

// Takes a load's lines and hands them on in pieces, so that the text of a large load never exists as a whole.
class Sink {
 public:
  // Whole lines of a phase; phases count from 0.
  using Consumer = std::function<void(int phase, const std::string& lines)>;
  explicit Sink(Consumer consumer) : consumer_(std::move(consumer)) {}
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  ~Sink() { flush(); }

  Sink& operator+=(std::string_view lines) {
    text_ += lines;
    if (text_.size() >= kPieceBytes) flush();
    return *this;
  }
  // Later objects arrive once the cluster before them is at rest.
  void next_phase() {
    flush();
    ++phase_;
  }
  void flush() {
    if (!text_.empty()) consumer_(phase_, text_);
    text_.clear();
  }

 private:
  static constexpr std::size_t kPieceBytes = 1 << 18;

  Consumer consumer_;
  std::string text_;
  int phase_ = 0;
};

struct Load {
  enum class Goal { kDecide, kLoad, kMemory };  // CPU seconds of the decisions, or of loading; megabytes at rest

  std::string_view name;
  std::string_view meaning;
  Goal goal_of;
  double goal;
  std::string_view config;  // empty: the default
  bool until_idle;
  // Writes the objects; `scale` 1.0 is the whole size. The last phase is the one measured.
  void (*objects)(double scale, Sink& out);
};
const std::vector<Load>& loads_of_goals();
const std::vector<Load>& loads_of_plugins();  // one plugin each

// At least one.
inline int scaled(int count, double scale) { return std::max(1, static_cast<int>(std::lround(count * scale))); }

// The scheduler's configuration of the chart, with binpack.
std::string_view chart_configuration();

}  // namespace bench
