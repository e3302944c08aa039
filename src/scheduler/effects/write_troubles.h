// Each kind of trouble with a kind of write is logged once, until such a write succeeds.
#pragma once

#include <map>
#include <string>

#include "api/json/json.h"
#include "base/result.h"
#include "client/client.h"

namespace scheduler {

class WriteTroubles {
 public:
  void report(const client::Request& request, const base::Result<api::Json>& result);

 private:
  std::map<std::string, base::Code> known_;  // by resource, as last reported
};

}  // namespace scheduler
