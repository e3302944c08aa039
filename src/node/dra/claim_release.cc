// Pods that go.
#include <algorithm>

#include "base/format.h"
#include "node/dra/claim_keeper_state.h"

namespace node {

using Phase = ClaimPreparation::Phase;

namespace {

constexpr base::Duration kAgainFirst = base::seconds(1);
constexpr base::Duration kAgainMax = base::minutes(2);

std::vector<std::string> all_of(const UnpreparePlan& plan) {
  std::vector<std::string> uids = plan.shared;
  uids.insert(uids.end(), plan.last.begin(), plan.last.end());
  return uids;
}

}  // namespace

void ClaimKeeper::release(const std::string& uid) {
  State& state = *state_;
  // Claims that drivers are being asked for are given back when they have answered.
  const auto preparing = state.preparations.find(uid);
  if (preparing != state.preparations.end() && preparing->second->phase != Phase::kAsking)
    state.preparations.erase(preparing);
  std::erase_if(state.grants, [&](const auto& one) { return one.first.starts_with(uid + "/"); });
  if (state.leaving.contains(uid) || !holds(uid)) return;
  state.leaving[uid];
  state.give_back(uid);
}

void ClaimKeeper::keep_only(const std::function<bool(const std::string& uid)>& is_known) {
  std::set<std::string> unknown;
  for (const auto& [uid, claim] : state_->claims)
    for (const std::string& pod : claim.pods)
      if (!is_known(pod)) unknown.insert(pod);
  for (const std::string& pod : unknown) release(pod);
}

void ClaimKeeper::driver_came() {
  std::vector<std::string> waiting;
  for (auto& [uid, one] : state_->leaving) {
    if (one.timer == 0) continue;
    state_->env.loop().cancel(std::exchange(one.timer, 0));
    waiting.push_back(uid);
  }
  for (const std::string& uid : waiting) state_->give_back(uid);
}

void ClaimKeeper::State::give_back(const std::string& pod_uid) {
  const auto found = leaving.find(pod_uid);
  if (found == leaving.end() || found->second.asking) return;
  auto of = std::make_shared<ClaimReturn>(ClaimReturn{pod_uid, plan_unprepare(pod_uid, claims)});
  const std::vector<std::string> uids = all_of(of->plan);
  if (uids.empty()) {
    leaving.erase(found);
    return call.pod_changed(pod_uid);
  }
  if (std::ranges::any_of(uids, [&](const std::string& uid) { return busy.contains(uid); })) return;  // free() calls
  found->second.asking = true;
  of->began = env.uptime();
  busy.insert(uids.begin(), uids.end());
  for (const std::string& uid : of->plan.shared) claims[uid].pods.erase(pod_uid);
  write(of->plan.shared, [this, of](const base::Status& written) {
    if (!written.ok()) return not_given_back(of, "checkpoint ResourceClaim state: " + written.error().message);
    ask_back(of);
  });
}

void ClaimKeeper::State::ask_back(const std::shared_ptr<ClaimReturn>& of) {
  if (of->next == of->plan.calls.size()) return given_back(of);
  const DriverCall& next = of->plan.calls[of->next];
  if (!has(next.driver)) return not_given_back(of, base::format("DRA driver {} is not registered", next.driver));
  drivers->unprepare(
      next.driver, next.claims, [weak = weak_from_this(), of](const base::Result<ClaimAnswers>& answers) {
        const auto self = weak.lock();
        if (!self) return;
        if (!answers.ok()) return self->not_given_back(of, answers.error().message);
        const base::Status good = check_answers("NodeUnprepareResources", of->plan.calls[of->next].claims, *answers);
        if (!good.ok()) return self->not_given_back(of, good.error().message);
        ++of->next;
        self->ask_back(of);
      });
}

void ClaimKeeper::State::given_back(const std::shared_ptr<ClaimReturn>& of) {
  env.offload(
      [uids = of->plan.last, folder = options.folder] {
        for (const std::string& uid : uids) erase_local_claim(folder, uid);
      },
      [weak = weak_from_this(), of] {
        const auto self = weak.lock();
        if (!self) return;
        for (const std::string& uid : of->plan.last) self->claims.erase(uid);
        self->leaving.erase(of->pod_uid);
        self->metrics.unprepared(false, self->env.uptime() - of->began);
        self->free(all_of(of->plan));
        self->call.pod_changed(of->pod_uid);
      });
}

void ClaimKeeper::State::not_given_back(const std::shared_ptr<ClaimReturn>& of, const std::string& why) {
  Leaving& one = leaving[of->pod_uid];
  one.asking = false;
  metrics.unprepared(true, env.uptime() - of->began);
  one.back_off = std::clamp(one.back_off * 2, kAgainFirst, kAgainMax);
  one.timer = env.loop().after(one.back_off, [weak = weak_from_this(), uid = of->pod_uid] {
    const auto self = weak.lock();
    if (!self) return;
    self->leaving[uid].timer = 0;
    self->give_back(uid);
  });
  free(all_of(of->plan));
  call.release_failed(of->pod_uid, "unprepare dynamic resources: " + why);
}

}  // namespace node
