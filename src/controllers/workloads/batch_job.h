// Jobs of batch/v1: pods that run to their end.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "controllers/framework/controller.h"

namespace controllers::workloads {

std::unique_ptr<Controller> make_batch_job_controller();
// Deletes finished Jobs when their spec.ttlSecondsAfterFinished has passed.
std::unique_ptr<Controller> make_ttl_controller();

// A set of numbers as text, "0-3,7"; work and memory follow the number of ranges.
class NumberSet {
 public:
  // Empty if the text is not one of ours.
  static std::optional<NumberSet> parse(std::string_view text);

  bool has(std::int64_t number) const;
  // The first number from `from` on that is none of them.
  std::int64_t first_absent(std::int64_t from) const;
  void add(std::int64_t number);
  std::int64_t count() const;
  std::int64_t count_common(const NumberSet& other) const;
  std::int64_t highest() const;  // -1: there is none
  // The numbers below `limit` only.
  NumberSet below(std::int64_t limit) const;
  std::string text() const;  // ranges of two are two numbers, as in status.completedIndexes
  bool operator==(const NumberSet&) const = default;

 private:
  std::map<std::int64_t, std::int64_t> ranges_;  // first to last
};

// Pods carry a number that their Job gives once; the Job has, beside its counts, the numbers that are settled: counted,
// or given up without being counted.
inline constexpr std::string_view kPodNumber = "volcano.sh/job-pod-number";
inline constexpr std::string_view kSettled = "volcano.sh/job-pods-settled";

// Complete or Failed is there.
bool is_job_over(const api::Json& job);

}  // namespace controllers::workloads
