// Webhooks of strangers on a write's way: what they change, what they refuse. Decided like all of a write: an answer
// that is not there yet is asked for, and the write decided once more with it (webhooks/questions.h).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "apiserver/pipeline/write/change.h"
#include "apiserver/webhooks/questions.h"

namespace apiserver {

// One write on its way through the webhooks.
struct WebhookWrite {
  const Context& context;
  Request& request;
  api::Operation operation;
  const api::Json& old_object;  // null: there is none
  std::vector<std::string>& warnings;
};

// The mutating webhooks, in their order; run_again() those that ask for it and behind which the object changed. An
// error refuses the write, or means that an answer is waited for.
class MutatingWebhooks {
 public:
  explicit MutatingWebhooks(const WebhookWrite& write) : write_(write) {}

  base::Status run(api::Json& object) { return pass(object, false); }
  base::Status run_again(api::Json& object) { return pass(object, true); }

 private:
  base::Status pass(api::Json& object, bool again);
  base::Status apply(const api::policies::NamedWebhook& named, const Verdict& verdict, api::Json& object);

  const WebhookWrite write_;
  // The object as those left it that may be asked again.
  std::vector<std::pair<const api::policies::Webhook*, api::Json>> left_behind_;
};

// Both passes; for what is sent to a subresource, or deleted (null), and seen by nobody else. The object as they leave
// it.
base::Result<api::Json> run_mutating_webhooks(const WebhookWrite& write, api::Json object);
// All validating webhooks at once.
base::Status run_validating_webhooks(const WebhookWrite& write, const api::Json& object);

// The object as `to` has it, by the definition's webhook. An error may mean that its answer is waited for.
base::Result<api::Json> ask_conversion(const Context& context, const CustomKind& to, const api::Json& object);

}  // namespace apiserver
