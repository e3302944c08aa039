// The choices of forms of notebooks, and which of their fields are fixed: Kubeflow's spawner_ui_config.yaml.
#pragma once

#include "api/json/json.h"
#include "base/result.h"
#include "webapps/apps.h"

namespace webapps {

// `spawnerFormDefaults` of the ConfigMap jupyter-web-app-config of the namespace kubeflow; a built-in one where the
// user sees no such object. kInvalid where it cannot be read.
base::Result<api::Json> spawner_config(Facts& facts);

}  // namespace webapps
