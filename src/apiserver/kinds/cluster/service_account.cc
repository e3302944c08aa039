// Service accounts. Their tokens are in apiserver/pipeline/rights.
#include "apiserver/kinds/cells.h"
#include "apiserver/kinds/rows.h"

namespace apiserver {
namespace {

using api::Json;

constexpr api::Column kColumnsOfServiceAccount[] = {{"Age", ""}};
std::vector<Json> service_account_cells(const Json& account, base::Time now) { return {age_of(account, now)}; }

}  // namespace

const KindRules kServiceAccount = {.kind = "ServiceAccount",
                                   .table = {kColumnsOfServiceAccount, service_account_cells}};

}  // namespace apiserver
