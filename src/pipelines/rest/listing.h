// Lists: which of the rows are asked for, in which order, and which page of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "pipelines/rest/call.h"

namespace pipelines::rest {

struct ListedAs {
  std::string_view rows;                 // the member of the answer: "runs"
  std::string_view id;                   // the member of a row that is its id: "run_id"
  std::vector<std::string_view> fields;  // those that may be filtered and sorted by, beside the id
};

// The answer: the page, the size of the whole list, and a token for the next page. A token holds all that a page begins
// from, so that it outlives the server.
base::Result<Reply> listed(const Call& call, const ListedAs& as, std::vector<api::Json> rows);

}  // namespace pipelines::rest
