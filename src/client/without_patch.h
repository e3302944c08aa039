// A client for a role that may update but not patch, or list but not get: Volcano's chart gives vc-scheduler such a
// one.
#pragma once

#include <memory>

#include "client/client.h"

namespace client {

// Patches and reads travel as they are while the server allows that. Once it forbids one, that is done in the other
// way: an object is read by listing its name, and a patch (merge, strategic or JSON) is applied here and written as an
// update of the version that was read. Everything else is `inner`'s.
std::unique_ptr<Client> make_client_without_patch(std::unique_ptr<Client> inner);

}  // namespace client
