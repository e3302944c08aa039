// The events of a run, one line each, in order; and the hash that two runs of one seed must agree on.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/world/clock.h"

namespace sim {

// Also collects what checks found. A world that found something runs on to its end, so that one run shows all of it.
class Chronicle {
 public:
  using Print = std::function<void(std::string_view line)>;

  // `print` gets every line as it is written; may be empty.
  Chronicle(const Clock& clock, Print print) : clock_(clock), print_(std::move(print)) {}

  // "12.345678s <text>"
  void record(std::string_view text);
  // Printed below the last line; not part of the run.
  void remark(std::string_view text);
  // Goes into the hash, not into the lines.
  void stir(std::string_view bytes);
  void violation(std::string_view check, std::string_view text);

  std::uint64_t hash() const { return hash_; }
  std::size_t lines() const { return lines_; }
  // "<check>: <text>, at <time>"; each text once.
  const std::vector<std::string>& violations() const { return violations_; }

 private:
  const Clock& clock_;
  Print print_;
  std::uint64_t hash_ = 0xcbf29ce484222325ull;
  std::size_t lines_ = 0;
  std::vector<std::string> violations_;
};

}  // namespace sim
