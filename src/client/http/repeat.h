// Requests that may be sent twice. A kept connection can end while a request is on its way, and nobody knows whether
// the server has carried it out. Some requests are sent again all the same: those whose second answer, with one look at
// the object, tells what the first one did.
//
//   create with a name       AlreadyExists, and what is there has all that we sent: ours
//   binding of a pod         Conflict, and the pod is bound to the node that we named: ours
//   update, merge patch      with a resourceVersion: Conflict, and what is there has all that we sent: ours
//   delete, eviction         with a uid: NotFound, or Conflict because another uid has the name: done
//
// Everything else is not sent again: a create with generateName would make two objects, a JSON patch could add twice,
// and an update without resourceVersion would undo what another has written in between.
#pragma once

#include <optional>

#include "client/client.h"

namespace client {

bool may_repeat(const Request& request);

// The meaning of the second answer, an error, for the first sending.
struct Verdict {
  std::optional<api::Json> success;  // the request was carried out
  std::optional<Request> look;       // this read tells
  // Neither: the error stands.
};
Verdict judge(const Request& request, const base::Error& error);
// The answer that the first sending would have had, if `present` shows that it was carried out.
std::optional<api::Json> carried_out(const Request& request, const api::Json& present);

}  // namespace client
