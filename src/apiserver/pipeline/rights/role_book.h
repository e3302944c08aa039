// The roles and bindings in force, kept current as they are written.
#pragma once

#include <memory>

#include "apiserver/pipeline/rights/roles.h"
#include "store/store.h"

namespace apiserver {

class RoleBook {
 public:
  explicit RoleBook(store::Store& store);
  ~RoleBook();

  // Loop thread. From then on current() follows what is written.
  void begin();
  // Any thread; never null.
  std::shared_ptr<const RoleSet> current() const;
  // Loop thread: the rules of the role that a binding names; null: there is no such role.
  RoleRules rules_of(const api::Json& binding) const;

 private:
  struct State;
  store::Store& store_;
  std::shared_ptr<State> state_;
};

}  // namespace apiserver
