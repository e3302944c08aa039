// The list of objects below a folder of an S3-compatible store.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace pipelines {

struct ListedObject {
  std::string name;  // behind the folder's prefix; leads neither out of it nor to a folder
  std::size_t size = 0;
  base::Time modified = {};
};

struct ObjectPage {
  std::vector<ListedObject> objects;
  std::string next;  // the token of the next page; empty: this is the last one
};

// `document`: an answer to ListObjectsV2. Marks of folders, whose keys end with a slash, are left out. kInvalid: the
// document is none, or a key leads out of the folder.
base::Result<ObjectPage> read_object_page(std::string_view document, std::string_view prefix);

}  // namespace pipelines
