// Sums are looked at first: below the bound a write costs nothing more.
#include "apiserver/pipeline/write/memory_bound.h"

#include "api/json/limits.h"
#include "api/meta/resource.h"
#include "base/format.h"

namespace apiserver {

using api::Json;

std::optional<Refusal> MemoryBound::refusal(const store::Store& store, const Request& request,
                                            const base::Result<Change>& change) {
  if (most_ == 0 || store.bytes() < most_ || !change.ok() || change->action != Change::Action::kPut)
    return std::nullopt;
  const Json& object = change->object;
  const store::ObjectPtr before =
      store.find(request.resource, api::namespace_of(object), api::name_of(object), store::View::kLatest);
  if (before && object.dump().size() <= before->bytes.size() + api::kBookkeepingBytes) return std::nullopt;
  ++refused_;
  return Refusal{
      Json::object({{"kind", "Status"},
                    {"apiVersion", "v1"},
                    {"metadata", Json::object()},
                    {"status", "Failure"},
                    {"message", base::format("all objects take {} MiB of memory, and --objects-mib lets them "
                                             "take {}: delete some of them, or raise the flag",
                                             store.bytes() >> 20, most_ >> 20)},
                    {"reason", "InsufficientStorage"},
                    {"code", 507}}),
      {}};
}

}  // namespace apiserver
