// A person who makes objects at a steady rate. A good object that is refused is a violation of the world.
#pragma once

#include <memory>
#include <string>

#include "sim/workloads/all.h"
#include "sim/world/env.h"
#include "sim/world/person_calls.h"

namespace sim {

class Submitter : public Workload {
 public:
  // `name` is that of violations, `person` that of the client. `usual`: the interval without the setting `rate`.
  Submitter(World& world, Settings& settings, base::Random& dice, std::string name, std::string person,
            base::Duration usual)
      : world_(world),
        dice_(dice.next()),
        interval_(settings.interval("rate", usual)),
        name_(std::move(name)),
        person_name_(std::move(person)) {}

  void start() override;
  void stop() override { stopped_ = true; }
  bool done() const override { return open_ == 0; }

 protected:
  // Once, before the first of them.
  virtual void prepare() {}
  virtual void submit() = 0;
  virtual bool is_enough() const { return false; }

  // Until the server has answered; `then` comes with the answer, whatever it is.
  void ask(client::Request request, const rt::Task& then = {});
  void create(const api::ResourceId& resource, std::string ns, api::Json object, const rt::Task& then = {}) {
    ask({.verb = client::Verb::kCreate, .resource = resource, .ns = std::move(ns), .body = std::move(object)}, then);
  }
  void after(base::Duration pause, rt::Task task) { person_->env->loop().after(pause, std::move(task)); }

  World& world_;
  base::Random dice_;
  std::int64_t made_ = 0;

 private:
  void arm();

  base::Duration interval_;
  std::string name_, person_name_;
  std::unique_ptr<Person> person_;
  int open_ = 0;
  bool stopped_ = false;
};

}  // namespace sim
