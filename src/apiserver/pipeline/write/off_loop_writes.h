// Writes that take long, or that webhooks are asked about, are decided off the loop, each by what it saw, and again if
// that has changed or a webhook has answered.
#pragma once

#include <functional>
#include <memory>

#include "api/admission.h"
#include "apiserver/kinds/live_objects.h"
#include "apiserver/pipeline/turns/side_work.h"
#include "apiserver/pipeline/write/change.h"
#include "apiserver/webhooks/caller.h"
#include "apiserver/webhooks/conversion.h"
#include "rt/env.h"

namespace apiserver {

// Objects and answers of more text than this are long: to walk, to compare and to write them takes milliseconds.
inline constexpr std::size_t kLongBytes = std::size_t{64} << 10;
// A body of more values is long, whatever its text: defaults make each of them more.
inline constexpr std::size_t kLongValues = 2000;

// Whether deciding the write may hold the loop for longer than a short write does.
bool is_long(const Lookups& objects, const Request& request);

// Loop thread only.
class OffLoopWrites {
 public:
  // Decides a write; any thread.
  using Decide = std::function<base::Result<Change>(const Context&, Request&)>;
  using Done = std::function<void(base::Result<Change>, const Request&)>;

  // The rules in force when a write comes; null: nothing.
  struct RulesInForce {
    std::shared_ptr<const api::policies::Set> policies;
    std::shared_ptr<const api::policies::WebhookSet> webhooks;
    ConversionHookPtr conversion;               // of the request's kind
    std::shared_ptr<const RoleSet> roles = {};  // where expressions may ask for them
  };

  // `caller` calls webhooks; null where there are none. It outlives the loop.
  OffLoopWrites(rt::Env& env, SideWork& side_work, const LiveObjects& latest,
                const std::vector<api::AdmissionHook>& hooks, const ServiceNetwork& services, WebhookCaller* caller,
                Converter& converter);
  ~OffLoopWrites();

  // `done` comes on the loop, in the turn in which what was decided still holds.
  void decide(Request request, RulesInForce laws, Decide decide, Done done);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace apiserver
