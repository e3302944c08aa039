// The parts of an answer that a writer reads: who it is, and at which version.
#pragma once

#include "api/json/projection.h"

namespace client {

inline const api::Projection& identity_parts() {
  static const api::Projection kParts{"apiVersion",         "kind",         "metadata.name",
                                      "metadata.namespace", "metadata.uid", "metadata.resourceVersion"};
  return kParts;
}

}  // namespace client
