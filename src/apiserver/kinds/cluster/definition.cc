// Definitions of strangers' kinds. Their rules are in apiserver/custom.
#include "apiserver/kinds/cells.h"
#include "apiserver/kinds/rows.h"

namespace apiserver {
namespace {

using api::Json;

constexpr api::Column kColumnsOfDefinition[] = {{"Created At", ""}};
std::vector<Json> definition_cells(const Json& definition, base::Time) {
  return {definition["metadata"]["creationTimestamp"]};
}

}  // namespace

const KindRules kCustomResourceDefinition = {.kind = "CustomResourceDefinition",
                                             .table = {kColumnsOfDefinition, definition_cells}};

}  // namespace apiserver
