// The same rules asked of both, if the new one breaks any.
#include "apiserver/kinds/ratcheting.h"

#include <algorithm>
#include <utility>

namespace apiserver {

void check_ratcheting(const CheckObject& check, const api::Json& old_object, const api::Json& object,
                      std::vector<base::Cause>& causes) {
  std::vector<base::Cause> now, before;
  check(object, now);
  if (now.empty()) return;
  check(old_object, before);
  for (base::Cause& cause : now)
    if (std::ranges::find(before, cause) == before.end()) causes.push_back(std::move(cause));
}

}  // namespace apiserver
