// The claim keeper's inside, shared by its parts: claim_keeper.cc (pods come), claim_release.cc (pods go) and
// claim_health.cc (how their devices are).
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "node/dra/claim_keeper.h"
#include "node/machine/metrics.h"

namespace node {

// A pod whose claims are being made ready.
struct ClaimPreparation {
  enum class Phase : std::uint8_t { kReading, kBlocked, kAsking, kThere, kFailed };

  Phase phase = Phase::kReading;
  std::string failure;
  api::Json pod;
  std::vector<ClaimUse> uses;
  std::vector<LocalClaim> wanted;  // of the first uses
  PreparePlan plan;
  std::size_t next = 0;  // of the plan's calls
  base::Duration began = {};
};

// A pod whose claims are being given back.
struct ClaimReturn {
  std::string pod_uid;
  UnpreparePlan plan;
  std::size_t next = 0;
  base::Duration began = {};
};

struct ClaimKeeper::State : std::enable_shared_from_this<ClaimKeeper::State> {
  State(rt::Env& e, client::Client& c, DraDrivers* d, Options o, Callbacks b)
      : env(e), client(c), drivers(d), options(std::move(o)), call(std::move(b)), metrics(options.metrics) {}

  rt::Env& env;
  client::Client& client;
  DraDrivers* drivers;
  Options options;
  Callbacks call;
  ClaimMetrics metrics;
  LocalClaims claims;
  // Claims about which drivers are being asked, or which are being written: nobody else touches them.
  std::set<std::string> busy;
  std::map<std::string, std::shared_ptr<ClaimPreparation>> preparations;  // by pod uid
  struct Grant {                                                          // of a container for its start
    int attempt = -1;
    enum class Phase : std::uint8_t { kMaking, kReady, kFailed } phase = Phase::kMaking;
    std::string failure;
    DeviceGrant grant;
  };
  std::map<std::string, Grant> grants;  // by "UID/CONTAINER"
  struct Leaving {
    bool asking = false;
    base::Duration back_off;
    rt::Loop::TimerId timer = 0;
  };
  std::map<std::string, Leaving> leaving;  // by pod uid
  HealthBook health;
  rt::Loop::TimerId health_timer = 0;  // until something that was said does not hold any more
  base::Duration health_next;          // pods are told of changes not before
  bool health_due = false;             // and will be then

  bool has(const std::string& driver) const { return drivers != nullptr && drivers->has(driver); }

  // claim_keeper.cc
  void read(const std::shared_ptr<ClaimPreparation>& of);
  void was_read(const std::shared_ptr<ClaimPreparation>& of, const base::Result<api::Json>& claim);
  void decide(const std::shared_ptr<ClaimPreparation>& of);
  void ask(const std::shared_ptr<ClaimPreparation>& of);
  void answered(const std::shared_ptr<ClaimPreparation>& of, base::Result<ClaimAnswers> answers);
  void confirm(const std::shared_ptr<ClaimPreparation>& of);
  void end(const std::shared_ptr<ClaimPreparation>& of, const std::string& failure);
  bool is_current(const std::shared_ptr<ClaimPreparation>& of) const;
  void make_grant(const std::string& key, const std::string& pod_uid, std::vector<std::string> names);
  // Writes these claims as they are now, off the loop, then calls `done`.
  void write(const std::vector<std::string>& uids, std::function<void(base::Status)> done);
  void free(const std::vector<std::string>& uids);

  // claim_health.cc
  void health_changed(bool changed);
  void report_health();
  // claim_release.cc
  void give_back(const std::string& pod_uid);
  void ask_back(const std::shared_ptr<ClaimReturn>& of);
  void given_back(const std::shared_ptr<ClaimReturn>& of);
  void not_given_back(const std::shared_ptr<ClaimReturn>& of, const std::string& why);
};

}  // namespace node
