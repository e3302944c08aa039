// Lines, hash, violations.
#include "sim/world/chronicle.h"

#include <algorithm>

#include "base/format.h"

namespace sim {

namespace {

constexpr std::size_t kViolationsMax = 50;

}  // namespace

void Chronicle::stir(std::string_view bytes) {
  for (const char c : bytes) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
}

void Chronicle::record(std::string_view text) {
  const std::int64_t micros = clock_.elapsed().ns / 1000;
  const std::string line = base::format("{}.{:06}s {}", micros / 1'000'000, micros % 1'000'000, text);
  stir(line);
  ++lines_;
  if (print_) print_(line);
}

void Chronicle::remark(std::string_view text) {
  if (print_) print_(base::format("    {}", text));
}

void Chronicle::violation(std::string_view check, std::string_view text) {
  const std::string finding = base::format("{}: {}", check, text);
  if (violations_.size() >= kViolationsMax || std::ranges::find(violations_, finding) != violations_.end()) return;
  violations_.push_back(finding);
  record(base::format("VIOLATION {}", finding));
}

}  // namespace sim
