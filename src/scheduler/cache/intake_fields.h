// Which fields of each kind does the intake read? Informers and files are parsed by these: what nobody reads is not
// built.
#pragma once

#include <cstdint>
#include <string_view>

#include "api/json/json.h"
#include "api/json/projection.h"
#include "api/meta/resource.h"

namespace scheduler {

// A reader of a further field adds it here; scenarios and random clusters are also told by projection
// (tests/scenarios), and class_test.cc sets every field of a pod.
const api::Projection& fields_read(const api::ResourceId& id);
// By what an object says of itself; null where the kind is unknown.
const api::Projection* fields_read(std::string_view api_version, std::string_view kind);

// The time of the object's creation; 0: it does not say.
std::int64_t created_ns(const api::Json& object);

}  // namespace scheduler
