// Leases.
#include <vector>

#include "api/schema/field_errors.h"
#include "apiserver/kinds/cells.h"
#include "apiserver/kinds/rows.h"

namespace apiserver {

using api::Json;

namespace {

using api::FieldErrors;

void check_lease(const Json&, const Json& object, api::FieldErrors& errors) {
  const Json& seconds = object["spec"]["leaseDurationSeconds"];
  if (seconds.is_number() && seconds.as_int() <= 0)
    errors.invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0");
  errors.not_negative("spec.leaseTransitions", object["spec"]["leaseTransitions"]);
}

std::vector<Json> lease_cells(const Json& lease, base::Time now) {
  return {Json(lease["spec"]["holderIdentity"].as_string()), age_of(lease, now)};
}
constexpr api::Column kColumnsOfLease[] = {{"Holder", ""}, {"Age", ""}};

}  // namespace

const KindRules kLease = {.kind = "Lease", .check = check_lease, .table = {kColumnsOfLease, lease_cells}};

}  // namespace apiserver
