// How do statuses name other objects?
#pragma once

#include <string_view>

#include "api/json/json.h"

namespace controllers {

// {apiVersion, kind, name, namespace, resourceVersion, uid}. Items of watched lists may have no kind of their own.
api::Json reference_to(std::string_view api_version, std::string_view kind, const api::Json& object);

}  // namespace controllers
