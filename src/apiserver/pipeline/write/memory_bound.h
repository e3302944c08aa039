// How much all objects may take: they are in memory, which must not end.
#pragma once

#include <cstdint>
#include <optional>

#include "apiserver/pipeline/request/request.h"
#include "apiserver/pipeline/write/change.h"
#include "store/store.h"

namespace apiserver {

// Loop thread only.
class MemoryBound {
 public:
  // `most`: bytes of all objects as text; 0: there is no bound.
  explicit MemoryBound(std::size_t most) : most_(most) {}
  // Above the bound nothing is made, and nothing grows by more than its bookkeeping: 507.
  std::optional<Refusal> refusal(const store::Store& store, const Request& request, const base::Result<Change>& change);
  std::uint64_t refused() const { return refused_; }

 private:
  const std::size_t most_;
  std::uint64_t refused_ = 0;
};

}  // namespace apiserver
