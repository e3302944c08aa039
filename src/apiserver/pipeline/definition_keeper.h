// The consequences of a definition's end: its objects go first, then it goes itself, and names that it had are free.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "apiserver/custom/served_kinds.h"
#include "apiserver/pipeline/request/request.h"
#include "apiserver/pipeline/turns/side_work.h"
#include "rt/env.h"
#include "store/store.h"

namespace apiserver {

// Keeps the book of kinds current as definitions become durable. Loop thread only.
class DefinitionKeeper {
 public:
  using Write = std::function<void(Request, OnAnswer)>;

  // `write` decides and stores; the references outlive this.
  DefinitionKeeper(rt::Env& env, store::Store& store, SideWork& side_work, KindBook& kinds, Write write);
  ~DefinitionKeeper();

  // Reads what is stored, and takes up deletions that a crash has ended.
  void begin();
  // A definition was written; it is in force when `done` comes. To read a large one takes long, and is done off the
  // loop.
  void put(const store::ObjectPtr& stored, std::function<void()> done);
  void removed(const std::string& name);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace apiserver
