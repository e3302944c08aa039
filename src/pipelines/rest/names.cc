// Other characters become hyphens, and a hash keeps texts apart that then look the same.
#include "pipelines/rest/names.h"

#include "rt/tls/tls.h"

namespace pipelines::rest {
namespace {

// Pods are called after runs, and labels have 63 bytes.
constexpr std::size_t kLengthMax = 40, kHashLength = 8;

std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    const bool fits = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || is_upper;
    if (fits) out += is_upper ? static_cast<char>(c - 'A' + 'a') : c;
    if (!fits && !out.empty() && out.back() != '-') out += '-';
    if (out.size() == kLengthMax) break;
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out;
}

std::string hashed(std::string_view text) { return rt::sha256_hex(text).substr(0, kHashLength); }

}  // namespace

std::string object_name(std::string_view text) {
  const std::string name = plain(text);
  // The experiment that everybody knows as Default.
  if (!name.empty() && (name == text || text == "Default")) return name;
  return (name.empty() ? "x" : name) + "-" + hashed(text);
}

std::string name_prefix(std::string_view text) {
  const std::string name = plain(text);
  return (name.empty() ? "run" : name) + "-";
}

std::string version_object_name(std::string_view pipeline_object, std::string_view version) {
  const std::string whole = std::string(pipeline_object) + "/" + std::string(version);
  return plain(version).empty() ? "v-" + hashed(whole) : plain(version) + "-" + hashed(whole);
}

}  // namespace pipelines::rest
