// Problems of fields, worded as Kubernetes words them: at a path, "Invalid value: "x": why".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"

namespace api {

// Keeps the first thousand, and the beginnings of long values: of them a hundred are told.
class FieldErrors {
 public:
  void required(const std::string& path, std::string_view why = {});
  // `value` prints as Go would: strings quoted, numbers bare.
  void invalid(const std::string& path, const Json& value, std::string_view why);
  void invalid(const std::string& path, const Json& value, const std::vector<std::string>& problems);
  void duplicate(const std::string& path, const Json& value);
  void not_found(const std::string& path, const Json& value, std::string_view why = {});
  void too_long(const std::string& path, std::size_t bytes_max);
  void too_many(const std::string& path, std::size_t count, std::size_t items_max);
  void forbidden(const std::string& path, std::string_view why);
  // If `value` is not one of `supported`, which are named in their order.
  void one_of(const std::string& path, std::string_view value, std::span<const std::string_view> supported);
  // `supported`: the words as they are shown, "A", "B".
  void unsupported(const std::string& path, const Json& value, std::string_view supported);
  void not_negative(const std::string& path, const Json& value);
  void add(base::Cause cause);
  void add(std::vector<base::Cause> causes);

  bool empty() const { return causes_.empty(); }
  std::size_t size() const { return causes_.size(); }
  bool is_full() const { return causes_.size() >= kKept; }
  std::vector<base::Cause> take() { return std::move(causes_); }
  std::vector<std::string> take_texts();  // "path: message" each

 private:
  static constexpr std::size_t kKept = 1000;
  std::vector<base::Cause> causes_;
};

std::string at(const std::string& path, std::size_t index);
std::string in(const std::string& path, std::string_view field);
std::string under(const std::string& path, std::string_view key);  // path[key]

// Labels and annotations of metadata.
void check_labels(const Json& labels, const std::string& path, FieldErrors& errors);
void check_annotations(const Json& annotations, const std::string& path, FieldErrors& errors);

}  // namespace api
