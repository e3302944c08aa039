// The facts that decisions about a write may look at beside the request.
#pragma once

#include <memory>
#include <vector>

#include "api/admission.h"
#include "api/policies/judge.h"
#include "api/policies/webhook.h"
#include "apiserver/kinds/live_objects.h"
#include "apiserver/kinds/services/service_network.h"
#include "base/random.h"
#include "base/time.h"

namespace apiserver {

class WebhookQuestions;
struct RoleSet;

// Decisions about a write may be made on any thread.
struct Context {
  base::Time now;
  base::Random& random;
  const std::vector<api::AdmissionHook>& hooks;
  const Lookups& objects;
  const api::policies::Set* policies = nullptr;  // in force; null: none
  api::policies::Budget* budget = nullptr;       // of what they cost; there where they are
  ServiceNetwork services = {};
  const api::policies::WebhookSet* webhooks = nullptr;  // in force; null: none is asked
  WebhookQuestions* questions = nullptr;                // what the write asks them; there where they are
  std::shared_ptr<const RoleSet> roles = {};  // for expressions that ask who may do what; there where they are
  bool on_loop = false;                       // what takes long is left to a second look beside it
};

}  // namespace apiserver
