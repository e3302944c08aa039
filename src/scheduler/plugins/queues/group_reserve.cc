// How much does an admitted group still have to get?
#include "scheduler/plugins/queues/group_reserve.h"

#include <algorithm>

namespace scheduler {

std::string failing_text(const Model& model, std::vector<Dim> dims, std::string_view word) {
  std::sort(dims.begin(), dims.end(), [&](Dim a, Dim b) {
    if (a < 2 || b < 2) return a < b;
    return model.dimensions.name(a) < model.dimensions.name(b);
  });
  std::string out;
  for (const Dim dim : dims) {
    if (!out.empty()) out += ", ";
    out += std::string(word) + " " + model.dimensions.name(dim);
  }
  return out;
}

}  // namespace scheduler
