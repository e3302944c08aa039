// Parameters and artifacts of a task, as its status has them.
#pragma once

#include <string>
#include <string_view>

#include "api/json/json.h"
#include "base/time.h"

namespace controllers::pipelines {

struct Values {
  api::Json parameters = api::Json::object();  // values by name
  api::Json artifacts = api::Json::object();   // lists of artifacts by name

  static Values of(const api::Json& status_values);
  // Without empty members; null where there is nothing.
  api::Json json() const;
};

// The facts of a run that its steps may ask for.
struct RunFacts {
  std::string ns;
  std::string name;
  std::string uid;
  std::string display_name;
  std::string pipeline;
  std::string root;     // of artifacts
  std::string account;  // the service account of its pods
  base::Time created = {};
  base::Time scheduled = {};
};

}  // namespace controllers::pipelines
