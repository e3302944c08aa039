// The webhooks in force, kept current as their configurations are written.
#pragma once

#include <memory>

#include "api/policies/webhook.h"
#include "store/store.h"

namespace apiserver {

// Loop thread only; what it gives out may go to any thread.
class WebhookBook {
 public:
  explicit WebhookBook(store::Store& store);
  ~WebhookBook();

  // Null: none is in force.
  std::shared_ptr<const api::policies::WebhookSet> current();

 private:
  struct State;
  store::Store& store_;
  std::shared_ptr<State> state_;  // made when first asked for: the store is loaded by then
};

}  // namespace apiserver
