// The admission policies in force, kept current as they are written.
#pragma once

#include <cstdint>
#include <memory>

#include "api/policies/judge.h"
#include "store/store.h"

namespace apiserver {

// The cost of policies for a write that is decided on the loop: a few milliseconds. A write that they make longer is
// decided beside it, with all of policies::Budget::kBudgetMax.
inline constexpr std::uint64_t kLoopBudget = 20'000;

// Loop thread only; what it gives out may go to any thread.
class PolicyBook {
 public:
  explicit PolicyBook(store::Store& store);
  ~PolicyBook();

  // Null: none is in force.
  std::shared_ptr<const api::policies::Set> current();

 private:
  struct State;
  store::Store& store_;
  std::shared_ptr<State> state_;  // made when first asked for: the store is loaded by then
};

}  // namespace apiserver
