// APIServices: which group and version is served here. Programs that put certificates into all that ask for them look
// at them; a server of somebody else's is not put behind this one.
#include <string>
#include <vector>

#include "api/meta/resource.h"
#include "apiserver/kinds/cells.h"
#include "apiserver/kinds/rows.h"
#include "base/format.h"

namespace apiserver {

using api::Json;

namespace {

void check_between(const Json& spec, const char* field, std::int64_t most, api::FieldErrors& errors) {
  const std::int64_t value = spec[field].as_int();
  if (value < 1 || value > most)
    errors.invalid(api::in("spec", field), spec[field], base::format("must be between 1 and {}, inclusive", most));
}

void check_api_service(const Json&, const Json& object, api::FieldErrors& errors) {
  const Json& spec = object["spec"];
  const std::string name = base::format("{}.{}", spec["version"].as_string(), spec["group"].as_string());
  if (api::name_of(object) != name)
    errors.invalid("metadata.name", std::string(api::name_of(object)),
                   base::format("must be `spec.version+\".\"+spec.group`: {:?}", name));
  if (spec["version"].as_string().empty()) errors.required("spec.version");
  check_between(spec, "groupPriorityMinimum", 20'000, errors);
  check_between(spec, "versionPriority", 1'000, errors);
  if (!spec["service"].is_null())
    errors.forbidden("spec.service", "this server serves every group itself, and hands no requests on to another one");
  if (!spec["caBundle"].as_string().empty())
    errors.forbidden("spec.caBundle", "local APIServices may not have a caBundle");
  if (spec["insecureSkipTLSVerify"].as_bool())
    errors.forbidden("spec.insecureSkipTLSVerify", "local APIServices may not have insecureSkipTLSVerify");
}

std::vector<Json> api_service_cells(const Json& one, base::Time now) {
  std::string available = "Unknown";
  for (const Json& condition : one["status"]["conditions"].items())
    if (condition["type"].as_string() == "Available")
      available = condition["status"].as_string() == "True"
                      ? "True"
                      : base::format("{} ({})", condition["status"].as_string(), condition["reason"].as_string());
  return {Json("Local"), Json(available), age_of(one, now)};
}
constexpr api::Column kColumnsOfApiService[] = {{"Service", ""}, {"Available", ""}, {"Age", ""}};

}  // namespace

const KindRules kApiService = {.kind = "APIService",
                               .naming = Naming::kPath,
                               .check = check_api_service,
                               .table = {kColumnsOfApiService, api_service_cells}};

}  // namespace apiserver
