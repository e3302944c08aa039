// Refusals of the server to the controller of one object, and when it is asked again.
//
// COMPAT(refusals-that-time-cures): a refusal is a wait, because quotas, service accounts, classes, limits, webhooks
// and namespaces change. Each thing is asked for again after a pause that doubles, for ever, and soon after something
// has changed that may have been the reason. Only what can never be accepted is given up.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "base/time.h"

namespace controllers {

// Whether the object itself is wrong, so that no change of other objects makes it acceptable.
bool can_never_be(const base::Error& error);

// A few words on a message about a quota: "short of pods=1". Empty: it is about no quota.
std::string shortfall_of(std::string_view message);

// Whether a ResourceQuota may have room after a change: an amount in use became less, or a limit is another.
bool quota_may_have_room(const api::Json* before, const api::Json* after);

class Refusals {
 public:
  struct One {
    std::string text;       // the server's words
    bool for_ever = false;  // it can never be accepted
    bool outage = false;    // the server, or somebody whom it asks, does not answer
    int tries = 0;          // in a row, without an object made between them
    base::Time last;        // when it was refused
    base::Duration pause;   // until it is asked for again
  };

  // `made`: something of it was accepted with this try.
  void record(const std::string& what, const base::Error& error, bool made, base::Time now);
  void forget(const std::string& what) { refused_.erase(what); }
  void clear() { refused_.clear(); }
  // Something has changed that may be what they wait for.
  void hasten();

  bool empty() const { return refused_.empty(); }
  bool knows(const std::string& what) const { return refused_.contains(what); }
  // The rest of the pause of `what`; zero: it may be asked for.
  base::Duration left(const std::string& what, base::Time now) const;
  // Whether one that can never be accepted was refused more often than `tries_max`.
  const std::string* given_up(int tries_max) const;
  // In the order of their names.
  const std::map<std::string, One, std::less<>>& all() const { return refused_; }
  // Whether people should hear of it: an outage is told once it has lasted.
  static bool is_reported(const One& one) { return !one.outage || one.pause >= base::seconds(2); }

 private:
  std::map<std::string, One, std::less<>> refused_;
};

// The keys of one controller to which the server has refused something.
class RefusedKeys {
 public:
  void set(const std::string& key, bool is_refused);
  // The keys of a namespace; of all namespaces, if it is empty.
  std::vector<std::string> of(const std::string& ns) const;

 private:
  std::map<std::string, std::set<std::string>> keys_;  // by namespace
};

}  // namespace controllers
