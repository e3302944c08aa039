// Which namespaces and which people may use a queue? Its annotations say so.
#pragma once

#include <string>
#include <vector>

#include "api/admission.h"

namespace admission {

// The problems of a queue's own annotations, each with its path.
std::vector<std::string> check_access_lists(const api::Json& queue);

// Why the object of `request` may not name the queue that it names; empty: it may, it names none, or there is no such
// queue. An update is judged where it names another queue than before.
std::string check_queue_access(const api::AdmissionRequest& request, const api::ObjectReader& objects);

}  // namespace admission
