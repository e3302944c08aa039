// The work of actions that takes too long for the loop, or reaches outside the API: keys are made, folders removed.
#pragma once

#include "api/json/json.h"
#include "base/result.h"
#include "controllers/framework/plan.h"

namespace controllers {

// Whether do_off_loop() has to be called for `action`.
bool is_off_loop(const Action& action);
// Any thread. The body to send, or null where the work was all. Reads nothing but the action; `chance` are the random
// bytes of a key, kSecretBytes of them.
base::Result<api::Json> do_off_loop(const Action& action, std::string_view chance);
inline constexpr std::size_t kSecretBytes = 80;

// Whether an object that has the name of the one to be created already holds what `existing_has` asks for.
bool is_right(const Action& action, const api::Json& existing);
// Whether that object has the controller of the one to be created; what is somebody else's is neither used nor changed.
base::Status is_taken_over(const Action& action, const api::Json& existing);

}  // namespace controllers
