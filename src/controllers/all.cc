// The list of controllers.
#include "controllers/all.h"

#include "controllers/framework/driver.h"
#include "controllers/job/controller.h"

namespace controllers {

struct Manager::State {
  State(rt::Env& env, client::Client& client) : driver(env, client, "vc-controller-manager") {}
  Driver driver;
};

Manager::Manager(rt::Env& env, client::Client& client, Options options)
    : state_(std::make_unique<State>(env, client)) {
  if (is_enabled(options.enabled, "job-controller"))
    state_->driver.add(job::make_job_controller({.requeues_max = options.requeues_max}));
}
Manager::~Manager() = default;

void Manager::start() { state_->driver.start(); }
bool Manager::synced() const { return state_->driver.synced(); }

bool is_enabled(const std::vector<std::string>& list, std::string_view name) {
  bool star = list.empty();
  for (std::string_view word : list) {
    if (word == "*") star = true;
    else if (word == name || (word.starts_with("+") && word.substr(1) == name)) return true;
    else if (word.starts_with("-") && word.substr(1) == name) return false;
  }
  return star;
}

const std::vector<std::string>& controller_names() {
  static const std::vector<std::string> kNames = {"job-controller"};
  return kNames;
}

}  // namespace controllers
