// Lists: which of the rows are asked for, in which order, and which page of them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "pipelines/rest/call.h"
#include "pipelines/rest/objects.h"

namespace pipelines::rest {

struct ListedAs {
  std::string_view rows;                 // the member of the answer: "runs"
  std::string_view id;                   // the member of a row that is its id: "run_id"
  std::vector<std::string_view> fields;  // those that may be filtered and sorted by, beside the id
};

// The answer: the page, the size of the whole list, and a token for the next page. A token holds all that a page begins
// from, so that it outlives the server.
base::Result<Reply> listed(const Call& call, const ListedAs& as, std::vector<api::Json> rows);

// The same of objects of a kind: the index has the fields that rows are chosen by, and only the objects of the page are
// read. `shape` makes a row of an object.
struct ListedObjects {
  const Noun& noun;
  std::vector<api::Json> objects;  // of Facts::rows
  std::function<api::Json(const api::Json& object)> shape;
  // The kind of an object that is not of `noun`, by its id; unset: there are none.
  std::function<const Noun&(const std::string& id)> other = {};
};
base::Result<Reply> listed_objects(const Call& call, Facts& facts, const ListedAs& as, const ListedObjects& of);

}  // namespace pipelines::rest
