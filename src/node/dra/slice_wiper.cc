// A deletion by node and driver.
#include "node/dra/slice_wiper.h"

#include <algorithm>
#include <map>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/log.h"

namespace node {

namespace {

// A kubelet's: long enough for the pod of a driver to be replaced, and short enough that few pods are sent here in
// vain.
constexpr base::Duration kGrace = base::seconds(30);
constexpr base::Duration kAgainFirst = base::seconds(1);
constexpr base::Duration kAgainMax = base::minutes(5);

}  // namespace

struct SliceWiper::State : std::enable_shared_from_this<SliceWiper::State> {
  State(rt::Env& e, client::Client& c, std::string n) : env(e), client(c), node(std::move(n)) {}

  rt::Env& env;
  client::Client& client;
  std::string node;
  std::map<std::string, rt::Loop::TimerId> due;  // by driver that is away, or empty for all: when it is wiped

  void plan(const std::string& driver, base::Duration delay, base::Duration next);
  void wipe(const std::string& driver, base::Duration next, std::function<void()> done);
};

SliceWiper::SliceWiper(rt::Env& env, client::Client& client, std::string node)
    : state_(std::make_shared<State>(env, client, std::move(node))) {}
SliceWiper::~SliceWiper() {
  for (const auto& [driver, timer] : state_->due) state_->env.loop().cancel(timer);
  state_->due.clear();
}

void SliceWiper::wipe_all(std::function<void()> done) { state_->wipe({}, kAgainFirst, std::move(done)); }

void SliceWiper::driver_came(const std::string& driver) {
  const auto found = state_->due.find(driver);
  if (found == state_->due.end()) return;
  state_->env.loop().cancel(found->second);
  state_->due.erase(found);
}

void SliceWiper::driver_gone(const std::string& driver) {
  if (!state_->due.contains(driver)) state_->plan(driver, kGrace, kAgainFirst);
}

void SliceWiper::State::plan(const std::string& driver, base::Duration delay, base::Duration next) {
  due[driver] = env.loop().after(delay, [weak = weak_from_this(), driver, next] {
    const auto self = weak.lock();
    if (!self) return;
    self->due.erase(driver);
    self->wipe(driver, next, {});
  });
}

void SliceWiper::State::wipe(const std::string& driver, base::Duration next, std::function<void()> done) {
  client::Request request{
      .verb = client::Verb::kDeleteCollection, .resource = api::resources::kResourceSlices, .ns = {}, .name = {}};
  request.field_selector = "spec.nodeName=" + node;
  if (!driver.empty()) request.field_selector += ",spec.driver=" + driver;
  client.call(std::move(request), [weak = weak_from_this(), driver, next,
                                   done = std::move(done)](const base::Result<api::Json>& wiped) {
    const auto self = weak.lock();
    if (!self) return;
    if (!wiped.ok() && wiped.error().code != base::Code::kNotFound) {
      base::log_warning("node", base::format("ResourceSlices {} are not deleted: {}",
                                             driver.empty() ? "of this node" : "of " + driver, wiped.error().message));
      self->plan(driver, next, std::min(next * 2, kAgainMax));
    } else if (!driver.empty()) {
      base::log_info("node", base::format("DRA driver {} stays away: its ResourceSlices are deleted", driver));
    }
    if (done) done();
  });
}

}  // namespace node
