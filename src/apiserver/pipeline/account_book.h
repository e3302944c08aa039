// Which service accounts there are, for those threads that may not look into the store: a token of one that is gone is
// no token, also for a request that would be refused for other reasons.
#pragma once

#include <memory>
#include <string>

#include "store/store.h"

namespace apiserver {

class AccountBook {
 public:
  explicit AccountBook(store::Store& store);
  ~AccountBook();

  // Loop thread. From then on knows() follows what is written.
  void begin();
  // Any thread.
  bool knows(const std::string& uid) const;

 private:
  struct State;
  store::Store& store_;
  std::shared_ptr<State> state_;
};

}  // namespace apiserver
