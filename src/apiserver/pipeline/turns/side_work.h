// Long work off the loop, a few pieces at a time: more would only take the processor from the loop and the commits. The
// work of the user who has used the least is next.
#pragma once

#include <memory>
#include <string>

#include "rt/env.h"

namespace apiserver {

// Loop thread only.
class SideWork {
 public:
  explicit SideWork(rt::Env& env);
  ~SideWork();

  // Like Env::offload(), when its turn comes. It is work for the user of now, and so is what `done` asks for.
  void run(rt::Task work, rt::Task done);
  // Whom the loop works for now; empty: the components of this process, and who is exempt. Gives back whom it was.
  std::string work_for(std::string user);
  std::size_t waiting() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace apiserver
