// The texts of field problems.
#include "admission/field_errors.h"

#include <algorithm>

#include "admission/names.h"
#include "base/format.h"

namespace admission {

using api::Json;

namespace {

std::string shown(const Json& value) { return value.is_null() ? "null" : value.dump(); }

}  // namespace

void FieldErrors::required(const std::string& path, std::string_view why) {
  texts_.push_back(base::format("{}: Required value{}{}", path, why.empty() ? "" : ": ", why));
}

void FieldErrors::invalid(const std::string& path, const Json& value, std::string_view why) {
  texts_.push_back(base::format("{}: Invalid value: {}: {}", path, shown(value), why));
}

void FieldErrors::invalid(const std::string& path, const Json& value, const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) invalid(path, value, problem);
}

void FieldErrors::duplicate(const std::string& path, const Json& value) {
  texts_.push_back(base::format("{}: Duplicate value: {}", path, shown(value)));
}

void FieldErrors::not_found(const std::string& path, const Json& value, std::string_view why) {
  texts_.push_back(base::format("{}: Not found: {}{}{}", path, shown(value), why.empty() ? "" : ": ", why));
}

void FieldErrors::forbidden(const std::string& path, std::string_view why) {
  texts_.push_back(base::format("{}: Forbidden: {}", path, why));
}

void FieldErrors::one_of(const std::string& path, std::string_view value, std::span<const std::string_view> supported) {
  if (std::find(supported.begin(), supported.end(), value) != supported.end()) return;
  std::vector<std::string> words;
  for (const std::string_view word : supported) words.push_back(quoted(word));
  texts_.push_back(
      base::format("{}: Unsupported value: {}: supported values: {}", path, quoted(value), join(words, ", ")));
}

void FieldErrors::not_negative(const std::string& path, const Json& value) {
  if (value.is_number() && value.as_double() < 0) invalid(path, value, "must be greater than or equal to 0");
}

std::string at(const std::string& path, std::size_t index) { return base::format("{}[{}]", path, index); }
std::string in(const std::string& path, std::string_view field) { return base::format("{}.{}", path, field); }
std::string under(const std::string& path, std::string_view key) { return base::format("{}[{}]", path, key); }

void check_labels(const Json& labels, const std::string& path, FieldErrors& errors) {
  for (const Json::Member& label : labels.members()) {
    errors.invalid(path, label.name(), check_qualified_name(label.name()));
    errors.invalid(path, label.value, check_label_value(label.value.as_string()));
  }
}

void check_annotations(const Json& annotations, const std::string& path, FieldErrors& errors) {
  std::size_t bytes = 0;
  for (const Json::Member& annotation : annotations.members()) {
    std::string lower(annotation.name());
    for (char& c : lower)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    errors.invalid(path, annotation.name(), check_qualified_name(lower));
    bytes += annotation.name().size() + annotation.value.as_string().size();
  }
  constexpr std::size_t kBytesMax = 256 * 1024;
  if (bytes > kBytesMax)
    errors.invalid(path, static_cast<std::int64_t>(bytes), base::format("must have at most {} bytes", kBytesMax));
}

}  // namespace admission
