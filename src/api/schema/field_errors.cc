// The texts of field problems.
#include "api/schema/field_errors.h"

#include <algorithm>

#include "api/json/problems.h"
#include "api/schema/names.h"
#include "base/format.h"

namespace api {

void FieldErrors::required(const std::string& path, std::string_view why) {
  add({"FieldValueRequired", base::format("Required value{}{}", why.empty() ? "" : ": ", why), path});
}

void FieldErrors::invalid(const std::string& path, const Json& value, std::string_view why) {
  add({"FieldValueInvalid", base::format("Invalid value: {}: {}", shown(value), why), path});
}

void FieldErrors::invalid(const std::string& path, const Json& value, const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) invalid(path, value, problem);
}

void FieldErrors::duplicate(const std::string& path, const Json& value) {
  add({"FieldValueDuplicate", base::format("Duplicate value: {}", shown(value)), path});
}

void FieldErrors::not_found(const std::string& path, const Json& value, std::string_view why) {
  add({"FieldValueNotFound", base::format("Not found: {}{}{}", shown(value), why.empty() ? "" : ": ", why), path});
}

void FieldErrors::too_long(const std::string& path, std::size_t bytes_max) {
  add({"FieldValueTooLong", base::format("Too long: may not be more than {} bytes", bytes_max), path});
}

void FieldErrors::too_many(const std::string& path, std::size_t count, std::size_t items_max) {
  add({"FieldValueTooMany", base::format("Too many: {}: must have at most {} items", count, items_max), path});
}

void FieldErrors::forbidden(const std::string& path, std::string_view why) {
  add({"FieldValueForbidden", base::format("Forbidden: {}", why), path});
}

void FieldErrors::one_of(const std::string& path, std::string_view value, std::span<const std::string_view> supported) {
  if (is_full() || std::find(supported.begin(), supported.end(), value) != supported.end()) return;
  std::string words;
  for (const std::string_view word : supported) {
    if (!words.empty()) words += ", ";
    words += shown(Json(word));
  }
  unsupported(path, Json(value), words);
}

void FieldErrors::unsupported(const std::string& path, const Json& value, std::string_view supported) {
  add({"FieldValueNotSupported", base::format("Unsupported value: {}: supported values: {}", shown(value), supported),
       path});
}

void FieldErrors::add(base::Cause cause) {
  if (!is_full()) causes_.push_back(std::move(cause));
}

void FieldErrors::add(std::vector<base::Cause> causes) {
  for (base::Cause& cause : causes) add(std::move(cause));
}

void FieldErrors::not_negative(const std::string& path, const Json& value) {
  if (value.is_number() && value.as_double() < 0) invalid(path, value, "must be greater than or equal to 0");
}

std::vector<std::string> FieldErrors::take_texts() {
  std::vector<std::string> texts;
  for (const base::Cause& cause : take()) texts.push_back(base::format("{}: {}", cause.field, cause.message));
  return texts;
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
  if (bytes > kBytesMax) errors.too_long(path, kBytesMax);
}

}  // namespace api
