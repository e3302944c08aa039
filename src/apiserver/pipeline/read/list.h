// Reading: one object, or those that selectors choose, as stored bytes.
#pragma once

#include <vector>

#include "api/json/json.h"
#include "apiserver/pipeline/request/request.h"
#include "apiserver/pipeline/turns/side_work.h"
#include "store/store.h"

namespace apiserver {

base::Result<Answer> get_object(const store::Store& store, const Request& request);

// The content of one page of a list.
struct Page {
  api::Json metadata;
  std::vector<store::ObjectPtr> objects;
};

// Selects on the loop, or off it where many objects have to be looked into. Both callbacks run on the loop.
void select_objects(SideWork& side_work, const store::Store& store, Request request,
                    std::function<void(base::Result<Page>)> done);
void list_objects(SideWork& side_work, const store::Store& store, Request request, OnAnswer on_answer);
Answer answer_for(const api::KindInfo& kind, const Page& page);

}  // namespace apiserver
