// The two small languages of Workflows: `when` compares values, `depends` combines results of tasks.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pipelines::argo {

inline constexpr std::size_t kExpressionBytesMax = 64 << 10;

// Whether a `when` holds, once its names are filled in: ==, !=, <, <=, >, >=, in ('a', 'b'), !, &&, ||, parentheses.
// Two numbers are compared as numbers, anything else as texts; a word without quotes is a text.
base::Result<bool> holds(std::string_view when);

// A `depends`: tasks and their results with !, &&, || and parentheses.
struct TaskResult {
  std::string task;
  std::string result;  // Succeeded, Failed, ...; empty: Succeeded, Skipped or Daemoned
};

inline constexpr std::string_view kTaskResults[] = {"Succeeded", "Failed",       "Errored",   "Skipped",
                                                    "Omitted",   "AnySucceeded", "AllFailed", "Daemoned"};

// The results that it names, in their order. An error says what is wrong with the text.
base::Result<std::vector<TaskResult>> results_in(std::string_view depends);
base::Result<bool> holds(std::string_view depends, const std::function<bool(const TaskResult&)>& is);

}  // namespace pipelines::argo
