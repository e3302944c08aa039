// May a request be written into a connection as it is?
#pragma once

#include "base/result.h"
#include "rt/http/http.h"

namespace rt {

// No, if a part of it would end its line and begin another request of somebody's choice: kInvalid, and says which part.
base::Status check_lines(const HttpRequest& request);

}  // namespace rt
