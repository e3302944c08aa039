// Asks addresses for controllers: does a GET succeed, is a connection accepted?
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "controllers/framework/plan.h"
#include "rt/env.h"
#include "rt/http/client/http_client.h"

namespace controllers {

// On the loop of `env`, which must outlive it. Destroying it ends what is under way without a callback.
class Prober {
 public:
  explicit Prober(rt::Env& env) : env_(env) {}
  ~Prober() { *alive_ = false; }
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;

  // `done` comes once, later.
  using Done = std::function<void(Answer)>;
  void ask(const Probe& probe, Done done);

 private:
  void end(std::uint64_t id, Answer answer, const Done& done);

  rt::Env& env_;
  std::map<std::uint64_t, std::shared_ptr<rt::HttpClient>> clients_;  // of questions under way
  std::uint64_t next_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace controllers
