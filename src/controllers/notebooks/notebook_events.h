// Events about a notebook's StatefulSet and pod, told again about the notebook (kubeflow.md 2.2).
#pragma once

#include <memory>
#include <string>

#include "controllers/framework/controller.h"

namespace controllers::notebooks {

std::unique_ptr<Controller> make_notebook_event_controller();
// The key of the notebook that an event concerns; empty: none.
std::string notebook_of_event(const View& view, const api::Json& event);

}  // namespace controllers::notebooks
