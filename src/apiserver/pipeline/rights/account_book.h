// Which service accounts there are, for those threads that may not look into the store: a token of one that is gone is
// no token, also for a request that would be refused for other reasons.
#pragma once

#include <memory>
#include <string>

#include "rt/loop/shared_set.h"
#include "store/store.h"

namespace apiserver {

class AccountBook {
 public:
  explicit AccountBook(store::Store& store) : store_(store) {}

  // Loop thread. From then on knows() follows what is written.
  void begin();
  // Any thread.
  bool knows(const std::string& uid) const { return uids_->contains(uid); }

 private:
  store::Store& store_;
  const std::shared_ptr<rt::SharedSet> uids_ = std::make_shared<rt::SharedSet>();
};

}  // namespace apiserver
