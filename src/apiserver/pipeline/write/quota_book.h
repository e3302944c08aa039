// How much of each ResourceQuota is used, counted as objects are written, so that a write is judged by all that were
// acknowledged before it, and costs the same however many objects a namespace has. The use is written into the quotas'
// status a little later. API server's loop only.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/json/json.h"
#include "apiserver/pipeline/request/request.h"
#include "rt/env.h"
#include "store/store.h"

namespace apiserver {

class QuotaBook {
 public:
  // Writes the status of a quota; the answer comes on the loop. Not called when it has what it should have.
  using WriteStatus = std::function<void(Request request, OnAnswer on_answer)>;

  QuotaBook(rt::Env& env, store::Store& store);
  ~QuotaBook();

  // Counts what is there, at once: the server answers nobody yet. A quota that is made later is counted in steps.
  void begin(WriteStatus write_status);

  // Whether the request may store `object` in place of what is stored now; kForbidden, in Kubernetes' words.
  base::Status check(const Request& request, const api::Json& object) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace apiserver
