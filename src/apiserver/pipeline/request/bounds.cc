// Cutting of warnings and refusals.
#include "apiserver/pipeline/request/bounds.h"

#include <set>

#include "api/json/problems.h"
#include "base/format.h"
#include "base/utf8.h"

namespace apiserver {
namespace {

constexpr std::size_t kWarningsMax = 64;  // each is a header, and clients read about a hundred of these
constexpr std::size_t kWarningsBytesMax = 4096;
constexpr std::size_t kWarningBytesMax = 256;
constexpr std::size_t kMessageBytesMax = std::size_t{16} << 10;

}  // namespace

void bound_warnings(std::vector<std::string>& warnings) {
  std::set<std::string, std::less<>> reported;
  std::erase_if(warnings, [&](const std::string& one) { return !reported.insert(one).second; });
  if (warnings.size() > kWarningsMax) warnings.resize(kWarningsMax);
  std::size_t bytes = 0;
  for (const std::string& one : warnings) bytes += one.size();
  if (bytes <= kWarningsBytesMax) return;
  std::size_t kept = 0;
  bytes = 0;
  for (std::string& one : warnings) {
    one.resize(base::utf8_prefix(one, kWarningBytesMax).size());
    bytes += one.size();
    if (bytes > kWarningsBytesMax) break;
    ++kept;
  }
  warnings.resize(kept);
}

void bound_error(base::Error& error) {
  std::size_t left_out = 0;
  if (error.causes.size() > api::kProblemsMax) {
    left_out = error.causes.size() - api::kProblemsMax;
    error.causes.resize(api::kProblemsMax);
  }
  for (base::Cause& cause : error.causes) {
    if (cause.message.size() > 2 * api::kShownBytesMax) cause.message = api::shortened(cause.message);
    if (cause.field.size() > 2 * api::kShownBytesMax) cause.field = api::shortened(cause.field);
  }
  if (error.message.size() > kMessageBytesMax) error.message = api::shortened(error.message, kMessageBytesMax);
  if (left_out > 0) error.message += base::format(" (and {} more)", left_out);
  if (error.name.size() > api::kShownBytesMax) error.name = api::shortened(error.name);
}

}  // namespace apiserver
