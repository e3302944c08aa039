// Leases.
#include "api/schema/field_errors.h"
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

}  // namespace

const KindRules kLease = {.kind = "Lease", .check = check_lease};

}  // namespace apiserver
