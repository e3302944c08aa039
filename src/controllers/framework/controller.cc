// The shared ways in which controllers look at objects.
#include "controllers/framework/controller.h"

#include <algorithm>

namespace controllers {

const api::Json* first_to_arrive(const std::vector<const api::Json*>& objects) {
  return *std::min_element(objects.begin(), objects.end(), [](const api::Json* a, const api::Json* b) {
    // Numbers without leading zeros.
    const std::string_view one = api::resource_version_of(*a);
    const std::string_view other = api::resource_version_of(*b);
    return one.size() != other.size() ? one.size() < other.size() : one < other;
  });
}

}  // namespace controllers
