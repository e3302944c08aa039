// Rules of indexed Jobs: the limits of each index, and which indexes suffice for a success.
#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include "apiserver/kinds/workloads/job_rules.h"
#include "base/format.h"
#include "base/result.h"

namespace apiserver {

using api::at;
using api::FieldErrors;
using api::in;
using api::Json;
using base::Code;
using base::make_error;
using base::Result;

namespace {

constexpr std::int64_t kManyCompletions = 100'000, kFewOfMany = 10'000, kFailedMax = 100'000;
constexpr std::size_t kRulesMax = 20, kIndexesBytesMax = std::size_t{64} << 10;

Result<std::int64_t> index_in(std::string_view text, std::int64_t completions) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0)
    return make_error(Code::kInvalid, base::format("cannot convert string to integer for index: {:?}", text));
  if (number >= completions) return make_error(Code::kInvalid, base::format("too large index: {:?}", text));
  return number;
}

// How many indexes a text such as "0-3,7" has.
Result<std::int64_t> count_indexes(std::string_view text, std::int64_t completions) {
  std::int64_t total = 0, last = -1;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    const bool is_last = comma == text.size();
    text.remove_prefix(std::min(comma + 1, text.size()));
    const std::size_t dash = part.find('-');
    if (dash != std::string_view::npos && part.find('-', dash + 1) != std::string_view::npos)
      return make_error(Code::kInvalid,
                        base::format("the fragment {:?} violates the requirement that an index interval can have at "
                                     "most two parts separated by '-'",
                                     part));
    TRY(const std::int64_t first, index_in(part.substr(0, dash), completions));
    std::int64_t end = first;
    if (dash != std::string_view::npos) {
      TRY(end, index_in(part.substr(dash + 1), completions));
      if (first >= end)
        return make_error(Code::kInvalid, base::format("non-increasing order, previous: {}, current: {}", first, end));
    }
    if (last >= first)
      return make_error(Code::kInvalid, base::format("non-increasing order, previous: {}, current: {}", last, first));
    total += end - first + 1;
    last = end;
    if (!is_last && text.empty())
      return make_error(Code::kInvalid, R"(cannot convert string to integer for index: "")");
  }
  return total;
}

void check_success_rule(const Json& rule, const std::string& path, std::int64_t completions, FieldErrors& errors) {
  const Json& count = rule["succeededCount"];
  const Json& indexes = rule["succeededIndexes"];
  if (count.is_null() && indexes.is_null())
    errors.required(path, "at least one of succeededCount or succeededIndexes must be specified");
  std::int64_t named = 0;
  if (indexes.is_string()) {
    const std::string where = in(path, "succeededIndexes");
    if (indexes.as_string().size() > kIndexesBytesMax) return errors.too_long(where, kIndexesBytesMax);
    const auto counted = count_indexes(indexes.as_string(), completions);
    if (counted.ok())
      named = *counted;
    else
      errors.invalid(where, indexes, base::format("error parsing succeededIndexes: {}", counted.error().message));
  }
  if (!count.is_number()) return;
  const std::string where = in(path, "succeededCount");
  if (count.as_int() < 0) errors.invalid(where, count, "must be greater than or equal to 0");
  if (count.as_int() > completions)
    errors.invalid(where, count,
                   base::format("must be less than or equal to {} (the number of specified completions)", completions));
  if (indexes.is_string() && count.as_int() > named)
    errors.invalid(where, count,
                   base::format("must be less than or equal to {} (the number of indexes in the specified "
                                "succeededIndexes field)",
                                named));
}

void check_limits_of_indexes(const Json& spec, const std::string& path, FieldErrors& errors) {
  const Json& failed_max = spec["maxFailedIndexes"];
  const Json& completions = spec["completions"];
  const std::string where = in(path, "maxFailedIndexes");
  if (failed_max.is_number() && completions.is_number() && failed_max.as_int() > completions.as_int())
    errors.invalid(where, failed_max, "must be less than or equal to completions");
  if (failed_max.is_number() && failed_max.as_int() > kFailedMax)
    errors.invalid(where, failed_max, base::format("must be less than or equal to {}", kFailedMax));
  if (!completions.is_number() || completions.as_int() <= kManyCompletions || spec["backoffLimitPerIndex"].is_null())
    return;
  if (failed_max.is_null())
    errors.required(where, base::format("must be specified when completions is above {}", kManyCompletions));
  for (const char* field : {"parallelism", "maxFailedIndexes"})
    if (spec[field].is_number() && spec[field].as_int() > kFewOfMany)
      errors.invalid(in(path, field), spec[field],
                     base::format("must be less than or equal to {} when completions are above {} and used with "
                                  "backoff limit per index",
                                  kFewOfMany, kManyCompletions));
}

}  // namespace

void check_job_indexes(const Json& spec, const std::string& path, FieldErrors& errors) {
  const Json& policy = spec["successPolicy"];
  if (!spec["maxFailedIndexes"].is_null() && spec["backoffLimitPerIndex"].is_null())
    errors.required(in(path, "backoffLimitPerIndex"), "when maxFailedIndexes is specified");
  if (spec["completionMode"].as_string() != "Indexed") {
    for (const char* field : {"backoffLimitPerIndex", "maxFailedIndexes", "successPolicy"})
      if (!spec[field].is_null()) errors.invalid(in(path, field), spec[field], "requires indexed completion mode");
    return;
  }
  check_limits_of_indexes(spec, path, errors);
  if (!policy.is_object()) return;
  const Json& rules = policy["rules"];
  const std::string where = in(path, "successPolicy.rules");
  if (rules.empty()) errors.required(where, "at least one rules must be specified when the successPolicy is specified");
  if (rules.size() > kRulesMax) return errors.too_many(where, rules.size(), kRulesMax);
  for (std::size_t i = 0; i < rules.size(); ++i)
    check_success_rule(rules[i], at(where, i), spec["completions"].as_int(), errors);
}

}  // namespace apiserver
