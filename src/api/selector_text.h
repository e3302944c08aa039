// Selectors of objects, written as kubectl and autoscalers read them.
#pragma once

#include <string>

#include "api/json/json.h"

namespace api {

// A LabelSelector, or a map of labels: "app=web,tier in (a,b)". Empty: it selects everything.
std::string selector_text(const Json& selector);

}  // namespace api
