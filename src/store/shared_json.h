// Stored objects as values that share the memory of their long texts with the store.
#pragma once

#include "store/store.h"

namespace store {

// As object->json(only). For whoever keeps it: the value holds on to the object.
api::Json shared_json(const ObjectPtr& object, const api::Projection* only = nullptr);

}  // namespace store
