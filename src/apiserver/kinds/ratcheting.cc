// The same rules asked of both, if the new one breaks any.
#include "apiserver/kinds/ratcheting.h"

#include <algorithm>
#include <utility>

namespace apiserver {

std::vector<base::Cause> new_problems(CheckObject check, const api::Json& old_object, const api::Json& object) {
  api::FieldErrors now, before;
  check(old_object, object, now);
  if (now.empty()) return {};
  check(old_object, old_object, before);
  std::vector<base::Cause> out = now.take();
  const std::vector<base::Cause> known = before.take();
  std::erase_if(out, [&](const base::Cause& cause) { return std::ranges::find(known, cause) != known.end(); });
  return out;
}

}  // namespace apiserver
