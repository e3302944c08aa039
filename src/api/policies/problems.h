// Faults of fields, worded as the API server words them.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "api/json/problems.h"
#include "base/format.h"
#include "base/result.h"

namespace api::policies {

class Problems {
 public:
  explicit Problems(std::vector<base::Cause>& causes) : causes_(causes) {}

  void required(std::string path, std::string_view why = {}) {
    add("FieldValueRequired", std::move(path),
        why.empty() ? "Required value" : base::format("Required value: {}", why));
  }
  void invalid(std::string path, const Json& value, std::string_view why) {
    if (is_full()) return;  // before the value is written out
    add("FieldValueInvalid", std::move(path), base::format("Invalid value: {}: {}", shortened(value.dump()), why));
  }
  void duplicate(std::string path, const Json& value) {
    if (is_full()) return;
    add("FieldValueDuplicate", std::move(path), base::format("Duplicate value: {}", shortened(value.dump())));
  }
  void forbidden(std::string path, std::string_view why) {
    add("FieldValueForbidden", std::move(path), base::format("Forbidden: {}", why));
  }
  void too_many(std::string path, std::size_t count, std::size_t most) {
    add("FieldValueTooMany", std::move(path), base::format("Too many: {}: must have at most {} items", count, most));
  }
  void add(std::vector<base::Cause> causes) {
    for (base::Cause& one : causes)
      if (!is_full()) causes_.push_back(std::move(one));
  }
  // `supported` is sorted.
  void one_of(std::string path, const Json& value, std::span<const std::string_view> supported) {
    if (is_full() || std::find(supported.begin(), supported.end(), value.as_string()) != supported.end()) return;
    std::string all;
    for (const std::string_view one : supported) all += base::format("{}\"{}\"", all.empty() ? "" : ", ", one);
    add("FieldValueNotSupported", std::move(path),
        base::format("Unsupported value: {}: supported values: {}", shortened(value.dump()), all));
  }

 private:
  bool is_full() const { return causes_.size() >= kProblemsMax; }
  // The schema may have said it already.
  void add(std::string_view reason, std::string path, std::string message) {
    if (is_full()) return;
    for (const base::Cause& one : causes_)
      if (one.reason == reason && one.field == path && one.reason == "FieldValueRequired") return;
    causes_.push_back({std::string(reason), std::move(message), std::move(path)});
  }

  std::vector<base::Cause>& causes_;
};

}  // namespace api::policies
