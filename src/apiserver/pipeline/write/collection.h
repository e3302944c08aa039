// DELETE of a collection: each object that the selectors choose, a few in each turn of the loop.
#pragma once

#include <functional>

#include "apiserver/pipeline/request/request.h"
#include "apiserver/pipeline/turns/side_work.h"
#include "rt/env.h"
#include "store/store.h"

namespace apiserver {

// `write` deletes one. The answer is the list as it was; the first refusal takes its place, and does not keep the
// others from being deleted.
void delete_collection(rt::Env& env, SideWork& side_work, const store::Store& store, Request request,
                       std::function<void(Request, OnAnswer)> write, OnAnswer on_answer);

}  // namespace apiserver
