// References of v1beta1: the objects that another one belongs to or was made from, by their ids.
#pragma once

#include <string>
#include <string_view>

#include "pipelines/rest/call.h"

namespace pipelines::rest::v1beta1 {

struct References {
  std::string ns, experiment, version;  // ids; that of a namespace is its name
};

// The references of a body.
References references_in(const api::Json& body);
// The references that a list asks for: resource_reference_key.type and .id of its query.
References references_in_query(const Call& call);
// The namespace of a request: that of the references, or the user's own.
std::string namespace_of(const References& references, const Call& call);

api::Json reference(std::string_view type, std::string_view id, std::string_view relationship,
                    std::string_view name = {});

}  // namespace pipelines::rest::v1beta1
