// What /healthz, /livez and /readyz answer.
#pragma once

#include <string_view>

#include "rt/http/http.h"

namespace apiserver {

struct Health {
  bool ready = false;         // the server has started
  bool failing = false;       // its storage fails
  bool stands_still = false;  // one callback holds its loop
};

// `path`: one of the three, without a slash at its end.
rt::HttpResponse health_answer(std::string_view path, bool verbose, const Health& health);

}  // namespace apiserver
