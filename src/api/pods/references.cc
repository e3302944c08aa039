// The parts that environments and files take from the pod they are in: its fields, and what its containers ask for.
#include <algorithm>
#include <array>

#include "api/pods/names.h"
#include "api/pods/parts.h"
#include "api/schema/quantity.h"
#include "base/format.h"

namespace api {

namespace {

// "metadata.labels['app']": the field, and what stands between the quotes.
struct Subscript {
  std::string_view field, key;
  bool given = false;
};
Subscript subscript_of(std::string_view path) {
  const std::size_t open = path.find("['");
  if (open == std::string_view::npos || !path.ends_with("']")) return {path, {}};
  if (open + 2 > path.size() - 2) return {path, {}};
  return {path.substr(0, open), path.substr(open + 2, path.size() - open - 4), true};
}

bool is_divisor(std::string_view text, bool of_cpu) {
  const auto given = Quantity::parse(text);
  if (!given || given->is_zero()) return given.has_value();
  if (of_cpu) return *given == Quantity::from_int(1) || *given == Quantity::from_milli(1);
  for (const char* one : {"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"})
    if (*given == *Quantity::parse(one)) return true;
  return false;
}

}  // namespace

void check_field_ref(const Json& field, const std::string& path, std::span<const std::string_view> known,
                     FieldErrors& errors) {
  const std::string text = field["fieldPath"].str();
  const std::string where = in(path, "fieldPath");
  if (const Json& version = field["apiVersion"]; version.is_string() && version.as_string().empty())
    errors.required(in(path, "apiVersion"));
  if (text.empty()) return errors.required(where);
  if (const std::string version = field["apiVersion"].str(); !version.empty() && version != "v1")
    return errors.invalid(where, text, "error converting fieldPath: unsupported pod version: " + version);
  const Subscript part = subscript_of(text);
  if (part.given) {
    std::string key(part.key);
    const bool annotation = part.field == "metadata.annotations";
    if (!annotation && part.field != "metadata.labels")
      return errors.invalid(where, text, base::format("field label does not support subscript: {}", part.field));
    for (char& c : key)
      if (annotation && c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return errors.invalid(where, text, check_qualified_name(key));
  }
  constexpr std::array<std::string_view, 7> kOthers = {"metadata.annotations", "metadata.labels",    "spec.host",
                                                       "spec.restartPolicy",   "spec.schedulerName", "status.phase",
                                                       "spec.nodeName"};
  if (std::ranges::find(known, text) != known.end()) return;
  if (std::ranges::find(kOthers, text) != kOthers.end()) return errors.one_of(where, text, known);
  errors.invalid(where, text, "error converting fieldPath: field label not supported: " + text);
}

void check_resource_field_ref(const Json& amount, const std::string& path, FieldErrors& errors) {
  constexpr std::array<std::string_view, 6> kAmounts = {
      "limits.cpu",   "limits.ephemeral-storage",   "limits.memory",
      "requests.cpu", "requests.ephemeral-storage", "requests.memory"};
  const std::string name = amount["resource"].str();
  if (name.empty()) return errors.required(in(path, "resource"));
  const bool huge = name.starts_with("limits.hugepages-") || name.starts_with("requests.hugepages-");
  if (!huge) errors.one_of(in(path, "resource"), name, kAmounts);
  const Json& divisor = amount["divisor"];
  const bool of_cpu = name.ends_with(".cpu");
  if (!divisor.is_null() && !is_divisor(divisor.is_string() ? divisor.str() : divisor.dump(), of_cpu))
    errors.invalid(in(path, "divisor"), divisor,
                   of_cpu
                       ? "only divisor's values 1m and 1 are supported with the cpu resource"
                       : base::format("only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei "
                                      "are supported with the {} resource",
                                      name.substr(name.find('.') + 1)));
}

}  // namespace api
