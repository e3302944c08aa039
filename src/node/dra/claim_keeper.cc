// Pods that come.
#include "node/dra/claim_keeper.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/log.h"
#include "node/devices/cdi.h"
#include "node/dra/claim_keeper_state.h"

namespace node {

using api::Json;
using Phase = ClaimPreparation::Phase;

namespace {

const std::string kPreparing = "prepare dynamic resources: ";

std::vector<std::string> uids_of(const LocalClaims& claims) {
  std::vector<std::string> uids;
  for (const auto& [uid, claim] : claims) uids.push_back(uid);
  return uids;
}

}  // namespace

ClaimKeeper::ClaimKeeper(rt::Env& env, client::Client& client, DraDrivers* drivers, Options options,
                         Callbacks callbacks)
    : state_(std::make_shared<State>(env, client, drivers, std::move(options), std::move(callbacks))) {}

ClaimKeeper::~ClaimKeeper() {
  if (state_->health_timer != 0) state_->env.loop().cancel(state_->health_timer);
  for (const auto& [uid, leaving] : state_->leaving)
    if (leaving.timer != 0) state_->env.loop().cancel(leaving.timer);
}

void ClaimKeeper::start(LocalClaims kept) { state_->claims = std::move(kept); }

bool ClaimKeeper::is_busy() const { return !state_->busy.empty(); }

bool ClaimKeeper::holds(const std::string& uid) const {
  return std::ranges::any_of(state_->claims, [&](const auto& one) { return one.second.pods.contains(uid); });
}

ClaimKeeper::Answer ClaimKeeper::prepare(const Json& pod, std::string& why) {
  State& state = *state_;
  if (!has_claims(pod)) return Answer::kThere;
  const std::string uid(api::uid_of(pod));
  if (state.leaving.contains(uid)) return Answer::kWait;
  if (const auto known = state.preparations.find(uid); known != state.preparations.end()) {
    if (known->second->phase == Phase::kThere) return Answer::kThere;
    if (known->second->phase != Phase::kFailed) return Answer::kWait;
    why = known->second->failure;
    state.preparations.erase(known);
    return Answer::kFailed;
  }
  auto uses = claims_of(pod);
  if (!uses.ok()) {
    why = kPreparing + uses.error().message;
    state.metrics.prepared(true, {});
    return Answer::kFailed;
  }
  if (uses->empty()) return Answer::kThere;
  auto of = std::make_shared<ClaimPreparation>();
  of->pod = pod;
  of->began = state.env.uptime();
  of->uses = *std::move(uses);
  state.preparations[uid] = of;
  state.read(of);
  return Answer::kWait;
}

bool ClaimKeeper::State::is_current(const std::shared_ptr<ClaimPreparation>& of) const {
  const auto found = preparations.find(std::string(api::uid_of(of->pod)));
  return found != preparations.end() && found->second == of;
}

// One after the other: a pod has few.
void ClaimKeeper::State::read(const std::shared_ptr<ClaimPreparation>& of) {
  if (of->wanted.size() == of->uses.size()) return decide(of);
  client.call({.verb = client::Verb::kGet,
               .resource = api::resources::kResourceClaims,
               .ns = std::string(api::namespace_of(of->pod)),
               .name = of->uses[of->wanted.size()].claim},
              [weak = weak_from_this(), of](const base::Result<Json>& claim) {
                const auto self = weak.lock();
                if (self && self->is_current(of)) self->was_read(of, claim);
              });
}

void ClaimKeeper::State::was_read(const std::shared_ptr<ClaimPreparation>& of, const base::Result<Json>& claim) {
  const ClaimUse& use = of->uses[of->wanted.size()];
  if (!claim.ok()) return end(of, base::format("fetch ResourceClaim {}: {}", use.claim, claim.error().message));
  auto wanted = claim_for(of->pod, use, *claim);
  if (!wanted.ok()) return end(of, wanted.error().message);
  of->wanted.push_back(*std::move(wanted));
  read(of);
}

void ClaimKeeper::State::decide(const std::shared_ptr<ClaimPreparation>& of) {
  if (std::ranges::any_of(of->wanted, [&](const LocalClaim& claim) { return busy.contains(claim.key.uid); }))
    return void(of->phase = Phase::kBlocked);  // free() begins anew
  auto plan = plan_prepare(of->wanted, claims, [&](const std::string& driver) { return has(driver); });
  if (!plan.ok()) return end(of, plan.error().message);
  of->plan = *std::move(plan);
  of->phase = Phase::kAsking;
  for (const auto& [uid, claim] : of->plan.claims) {
    claims[uid] = claim;
    busy.insert(uid);
  }
  write(uids_of(of->plan.claims), [this, of](const base::Status& written) {
    if (!written.ok()) return end(of, "checkpoint ResourceClaim cache: " + written.error().message);
    ask(of);
  });
}

void ClaimKeeper::State::ask(const std::shared_ptr<ClaimPreparation>& of) {
  if (of->next == of->plan.calls.size()) return confirm(of);
  const DriverCall& next = of->plan.calls[of->next];
  drivers->prepare(next.driver, next.claims, [weak = weak_from_this(), of](base::Result<ClaimAnswers> answers) {
    if (const auto self = weak.lock()) self->answered(of, std::move(answers));
  });
}

void ClaimKeeper::State::answered(const std::shared_ptr<ClaimPreparation>& of, base::Result<ClaimAnswers> answers) {
  if (!answers.ok()) return end(of, answers.error().message);
  const DriverCall& call_made = of->plan.calls[of->next];
  if (const base::Status good = check_answers("NodePrepareResources", call_made.claims, *answers); !good.ok())
    return end(of, good.error().message);
  for (auto& [uid, answer] : *answers) claims[uid].drivers[call_made.driver] = std::move(answer.devices);
  ++of->next;
  ask(of);
}

void ClaimKeeper::State::confirm(const std::shared_ptr<ClaimPreparation>& of) {
  for (const auto& [uid, claim] : of->plan.claims) claims[uid].prepared = claims[uid].confirmed = true;
  write(uids_of(of->plan.claims), [this, of](const base::Status& written) {
    end(of, written.ok() ? std::string() : "checkpoint ResourceClaim state: " + written.error().message);
  });
}

// An empty failure: the pod has its claims.
void ClaimKeeper::State::end(const std::shared_ptr<ClaimPreparation>& of, const std::string& failure) {
  const std::string pod_uid(api::uid_of(of->pod));
  const bool asked = of->phase == Phase::kAsking;
  of->phase = failure.empty() ? Phase::kThere : Phase::kFailed;
  of->failure = kPreparing + failure;
  metrics.prepared(!failure.empty(), env.uptime() - of->began);
  if (leaving.contains(pod_uid)) preparations.erase(pod_uid);
  if (asked) free(uids_of(of->plan.claims));
  call.pod_changed(pod_uid);
}

void ClaimKeeper::State::write(const std::vector<std::string>& uids, std::function<void(base::Status)> done) {
  std::vector<LocalClaim> list;
  for (const std::string& uid : uids) list.push_back(claims[uid]);
  auto result = std::make_shared<base::Status>();
  env.offload(
      [list = std::move(list), result, folder = options.folder] {
        for (const LocalClaim& claim : list) {
          base::Status written = write_local_claim(folder, claim);
          if (!written.ok()) *result = std::move(written);
        }
      },
      [weak = weak_from_this(), result, done = std::move(done)] {
        if (const auto self = weak.lock()) done(std::move(*result));
      });
}

// Others waited for these claims.
void ClaimKeeper::State::free(const std::vector<std::string>& uids) {
  for (const std::string& uid : uids) busy.erase(uid);
  std::vector<std::string> blocked, going;
  for (const auto& [pod_uid, one] : preparations)
    if (one->phase == Phase::kBlocked) blocked.push_back(pod_uid);
  for (const auto& [pod_uid, one] : leaving)
    if (one.timer == 0) going.push_back(pod_uid);
  for (const std::string& pod_uid : going) give_back(pod_uid);
  for (const std::string& pod_uid : blocked) {
    preparations.erase(pod_uid);
    call.pod_changed(pod_uid);
  }
}

ClaimKeeper::Answer ClaimKeeper::grant(const Json& pod, const Json& container, int attempt, DeviceGrant& out,
                                       std::string& why) {
  State& state = *state_;
  if (!has_claims(pod)) return Answer::kThere;
  auto names = cdi_names_of(pod, container, state.claims);
  if (!names.ok()) {
    // The record of the claim is lost, as when a disk is mended.
    const Answer again = prepare(pod, why);
    if (again != Answer::kThere) return again;
    why = names.error().message;
    return Answer::kFailed;
  }
  if (names->empty()) return Answer::kThere;
  const std::string uid(api::uid_of(pod)), key = base::format("{}/{}", uid, container["name"].as_string());
  State::Grant& grant = state.grants[key];
  if (grant.attempt != attempt) {
    grant = {.attempt = attempt};
    state.make_grant(key, uid, *std::move(names));
    return Answer::kWait;
  }
  if (grant.phase == State::Grant::Phase::kMaking) return Answer::kWait;
  if (grant.phase == State::Grant::Phase::kReady) {
    out = grant.grant;
    return Answer::kThere;
  }
  why = grant.failure;
  state.grants.erase(key);
  return Answer::kFailed;
}

void ClaimKeeper::State::make_grant(const std::string& key, const std::string& pod_uid,
                                    std::vector<std::string> names) {
  auto result = std::make_shared<base::Result<DeviceGrant>>(DeviceGrant{});
  env.offload(
      [names = std::move(names), result, folders = options.cdi_folders] {
        std::vector<std::string> trouble;
        const CdiDevices devices = read_cdi_folders(folders, trouble);
        log_cdi_trouble(trouble);
        *result = devices.grant_of(names);
      },
      [weak = weak_from_this(), key, pod_uid, result] {
        const auto self = weak.lock();
        const auto found = self ? self->grants.find(key) : decltype(self->grants.find(key)){};
        if (!self || found == self->grants.end()) return;
        Grant& grant = found->second;
        grant.phase = result->ok() ? Grant::Phase::kReady : Grant::Phase::kFailed;
        if (result->ok())
          grant.grant = **std::move(result);
        else
          grant.failure = result->error().message;
        self->call.pod_changed(pod_uid);
      });
}

}  // namespace node
