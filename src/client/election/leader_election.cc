// How a Lease is taken, renewed and given up.
#include "client/election/leader_election.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "base/format.h"
#include "base/log.h"
#include "client/http/retry_after.h"

namespace client {

using api::Json;

namespace {

constexpr double kRetryJitter = 1.2;  // a pause is the period times at most this
// More is not believed of another's record: what was written there by mistake would keep all candidates out.
constexpr std::int64_t kRecordedLeaseSecondsMax = 300;

// After how long without a renewal the holder of this record has certainly given up. One with a longer lease than ours
// may have a later deadline, too.
base::Duration lease_time(const Json& spec, base::Duration own) {
  const std::int64_t seconds = spec["leaseDurationSeconds"].as_int();
  return std::max(own, base::seconds(std::clamp<std::int64_t>(seconds, 0, kRecordedLeaseSecondsMax)));
}

}  // namespace

struct LeaderElection::Fence {
  // Uptime, in nanoseconds, until which we may write: others wait for longer than that.
  std::atomic<std::int64_t> until = 0;
  std::atomic<bool> closed = false;  // for good
};

struct LeaderElection::State : std::enable_shared_from_this<LeaderElection::State> {
  Client& client;
  rt::Env& env;
  LeaderElectionOptions options;
  std::function<void()> on_started;
  std::function<void()> on_stopped;
  Json lease;                   // as last seen
  base::Duration seen_at{};     // uptime when `lease` last changed
  base::Duration renewed_at{};  // uptime at which the last renewal that succeeded was asked for
  base::Duration asked_at{};    // of the write under way
  std::shared_ptr<Fence> fence = std::make_shared<Fence>();
  std::atomic<bool> leading = false;
  std::atomic<bool> seen_leader = false;

  // Whether nothing is asked for any more. A renewal that is answered after that opens no fence.
  bool stopped() const { return fence->closed; }

  State(Client& c, rt::Env& e, LeaderElectionOptions o) : client(c), env(e), options(std::move(o)) {}

  // `asked`: the pause that the server asks for.
  void again(base::Duration asked = {}) {
    if (stopped()) return;
    // Candidates spread out; the holder renews on time.
    const double jitter = leading ? 1.0 : 1.0 + env.random().fraction() * (kRetryJitter - 1);
    base::Duration delay{static_cast<std::int64_t>(static_cast<double>(options.retry_period.ns) * jitter)};
    // A holder tries once more before its time is over, whatever the server asks for.
    if (leading) asked = std::min(asked, renewed_at + options.renew_deadline - options.retry_period - env.uptime());
    delay = std::max(delay, asked);
    env.loop().after(delay, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->attempt();
    });
  }
  std::string reported;  // what keeps us from the lease, as last logged

  void attempt();
  void decide(base::Result<Json> found);
  void write(Verb verb, Json body);
  void result(base::Status outcome);
  // Somebody else holds it, and that is not a trouble.
  static base::Status held() { return base::make_error(base::Code::kConflict, ""); }
  void guard();
  void lose(std::string_view why);
  void give_back(Json held, bool may_look_again, std::function<void()> done);
  Json record(const Json& before) const;
};

void LeaderElection::State::attempt() {
  if (stopped()) return;
  client.call({.verb = Verb::kGet, .resource = api::resources::kLeases, .ns = options.ns, .name = options.name},
              [weak = weak_from_this()](base::Result<Json> found) {
                if (const auto self = weak.lock()) self->decide(std::move(found));
              });
}

Json LeaderElection::State::record(const Json& before) const {
  const std::string now = base::format_rfc3339_micro(env.now());
  const Json& old = before["spec"];
  const bool mine = old["holderIdentity"].as_string() == options.identity;
  // Others may have written anything: servers refuse numbers beyond 32 bits and times that are none, and with them a
  // lease that nobody could ever take again.
  constexpr std::int64_t kChangesMax = std::numeric_limits<std::int32_t>::max() - 1;
  const std::int64_t changed = std::clamp<std::int64_t>(old["leaseTransitions"].as_int(), 0, kChangesMax);
  const std::int64_t changes = changed + (mine || before.is_null() ? 0 : 1);
  const bool has_time = mine && base::parse_rfc3339(old["acquireTime"].as_string());
  return Json::object({{"holderIdentity", options.identity},
                       {"leaseDurationSeconds", options.lease_duration.ns / 1'000'000'000},
                       {"acquireTime", has_time ? old["acquireTime"] : Json(now)},
                       {"renewTime", now},
                       {"leaseTransitions", changes}});
}

void LeaderElection::State::decide(base::Result<Json> found) {
  if (stopped()) return;
  if (!found.ok()) {
    if (found.error().code != base::Code::kNotFound) return result(found.take_error());
    Json fresh = Json::object({{"apiVersion", "coordination.k8s.io/v1"}, {"kind", "Lease"}});
    fresh.set("metadata", Json::object({{"name", options.name}, {"namespace", options.ns}}));
    fresh.set("spec", record({}));
    return write(Verb::kCreate, std::move(fresh));
  }
  if (api::resource_version_of(lease) != api::resource_version_of(*found)) {
    lease = *found;
    seen_at = env.uptime();
  }
  const std::string_view holder = lease["spec"]["holderIdentity"].as_string();
  seen_leader = leading || !holder.empty();
  const bool expired = env.uptime() - seen_at >= lease_time(lease["spec"], options.lease_duration);
  if (!holder.empty() && holder != options.identity && !expired) return result(held());
  Json next = lease;
  next.set("spec", record(lease));
  write(Verb::kUpdate, std::move(next));
}

void LeaderElection::State::write(Verb verb, Json body) {
  asked_at = env.uptime();
  Request request{.verb = verb, .resource = api::resources::kLeases, .ns = options.ns, .name = options.name};
  request.body = std::move(body);
  client.call(std::move(request), [weak = weak_from_this()](base::Result<Json> written) {
    const auto self = weak.lock();
    if (!self || self->stopped()) return;
    if (!written.ok()) return self->result(written.take_error());
    const Json& holder = (*written)["spec"]["holderIdentity"];
    // Some server that answers whatever it likes; the lease is looked at again.
    if (holder.as_string() != self->options.identity)
      return self->result(base::make_error(
          base::Code::kInternal, base::format("the server answers to our write with the holder {}", holder.dump())));
    self->lease = *written;
    self->seen_at = self->env.uptime();
    self->result({});
  });
}

void LeaderElection::State::lose(std::string_view why) {
  fence->closed = true;
  leading = false;
  base::log_error("leader-election", base::format("lease {}/{}: {}", options.ns, options.name, why));
  on_stopped();
}

// A server that does not answer must not keep a holder in the belief that it leads.
void LeaderElection::State::guard() {
  env.loop().after(renewed_at + options.renew_deadline - env.uptime(), [weak = weak_from_this(), renewed = renewed_at] {
    const auto self = weak.lock();
    if (!self || !self->leading || self->stopped() || self->renewed_at != renewed) return;
    self->lose("it could not be renewed in time");
  });
}

void LeaderElection::State::result(base::Status outcome) {
  const base::Duration now = env.uptime();
  const std::string trouble = outcome.ok() ? "" : outcome.error().message;
  if (std::exchange(reported, trouble) != trouble && !trouble.empty())
    base::log_warning("leader-election", base::format("lease {}/{}: {}", options.ns, options.name, trouble));
  // An answer that was long on its way, or a process that stood still, says nothing about now.
  const bool in_time = outcome.ok() && now - asked_at < options.renew_deadline;
  if (in_time) {
    renewed_at = asked_at;
    fence->until = (renewed_at + options.renew_deadline).ns;
    seen_leader = true;
    const bool is_new = !leading.exchange(true);
    guard();
    again();
    if (is_new) on_started();
    return;
  }
  if (leading) {
    const std::string_view holder = lease["spec"]["holderIdentity"].as_string();
    if (holder != options.identity) return lose(base::format("it was lost to {}", holder));
    if (now - renewed_at >= options.renew_deadline) return lose("it could not be renewed in time");
  }
  again(outcome.ok() ? base::Duration() : asked_pause(outcome.error()));
}

// The rules of Kubernetes' client library. The written duration is in whole seconds.
base::Status check_lease_times(const LeaderElectionOptions& options) {
  const auto text = [](base::Duration span) { return base::format_go_duration(span); };
  const auto wrong = [](std::string message) { return base::make_error(base::Code::kInvalid, std::move(message)); };
  for (const auto& [flag, span] : {std::pair{"lease-duration", options.lease_duration},
                                   {"renew-deadline", options.renew_deadline},
                                   {"retry-period", options.retry_period}})
    if (span.ns <= 0) return wrong(base::format("--leader-elect-{}: {} is not above zero", flag, text(span)));
  if (options.lease_duration < base::seconds(1))
    return wrong(base::format("--leader-elect-lease-duration: {} is below 1s", text(options.lease_duration)));
  if (options.lease_duration <= options.renew_deadline)
    return wrong(base::format("--leader-elect-lease-duration: {} is not above --leader-elect-renew-deadline ({})",
                              text(options.lease_duration), text(options.renew_deadline)));
  if (options.renew_deadline.seconds() <= options.retry_period.seconds() * kRetryJitter)
    return wrong(
        base::format("--leader-elect-renew-deadline: {} is not above {} times --leader-elect-retry-period ({})",
                     text(options.renew_deadline), kRetryJitter, text(options.retry_period)));
  return {};
}

LeaderElection::LeaderElection(Client& client, rt::Env& env, LeaderElectionOptions options)
    : state_(std::make_shared<State>(client, env, std::move(options))) {}
LeaderElection::~LeaderElection() = default;

void LeaderElection::start(std::function<void()> on_started, std::function<void()> on_stopped) {
  state_->on_started = std::move(on_started);
  state_->on_stopped = std::move(on_stopped);
  state_->attempt();
}

bool LeaderElection::is_leader() const { return state_->leading; }

std::function<bool()> LeaderElection::fence() const {
  return [fence = state_->fence, env = &state_->env] { return !fence->closed && env->uptime().ns < fence->until; };
}

bool LeaderElection::has_seen_leader() const { return state_->seen_leader; }

void LeaderElection::close_fence() { state_->fence->closed = true; }

void LeaderElection::release(std::function<void()> done) {
  close_fence();
  if (!state_->leading.exchange(false)) return done();
  state_->give_back(state_->lease, true, std::move(done));
}

// A renewal under way may be written first. The next candidate would then wait for the whole lease.
void LeaderElection::State::give_back(Json held, bool may_look_again, std::function<void()> done) {
  Json next = std::move(held);
  Json spec = next["spec"];  // an object: it names us
  spec.set("holderIdentity", "");
  spec.set("leaseDurationSeconds", 1);
  spec.set("renewTime", base::format_rfc3339_micro(env.now()));
  next.set("spec", std::move(spec));
  Request request{.verb = Verb::kUpdate, .resource = api::resources::kLeases, .ns = options.ns, .name = options.name};
  request.body = std::move(next);
  client.call(std::move(request), [weak = weak_from_this(), may_look_again,
                                   done = std::move(done)](const base::Result<Json>& written) {
    const auto self = weak.lock();
    if (!self || !may_look_again || written.ok() || written.error().code != base::Code::kConflict) return done();
    self->client.call(
        {.verb = Verb::kGet, .resource = api::resources::kLeases, .ns = self->options.ns, .name = self->options.name},
        [weak, done](base::Result<Json> found) {
          const auto still = weak.lock();
          if (!still || !found.ok() || (*found)["spec"]["holderIdentity"].as_string() != still->options.identity)
            return done();
          still->give_back(*std::move(found), false, done);
        });
  });
}

}  // namespace client
