// Requests for an object of an S3-compatible store, signed as version 4 of Amazon's signatures has it.
#pragma once

#include <string>

#include "base/time.h"
#include "pipelines/stage/stores.h"
#include "rt/http/http.h"

namespace pipelines {

struct ObjectPlace {
  Store store;
  std::string bucket, key;
};

struct StoreKeys {
  std::string id, secret;
};

// The host that is connected to.
std::string host_of(const ObjectPlace& place);
// A GET of the first `bytes` of the object.
rt::HttpRequest signed_get(const ObjectPlace& place, const StoreKeys& keys, base::Time now, std::size_t bytes);
// A GET of one page of the list of the objects whose keys begin with that of the place. `token`: of the page before;
// empty: the first page.
rt::HttpRequest signed_list(const ObjectPlace& place, const StoreKeys& keys, base::Time now, const std::string& token);

}  // namespace pipelines
