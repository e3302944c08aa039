// A controller: what wakes it, how it finds things, and how one turn is decided.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "api/kinds.h"
#include "api/meta/resource.h"
#include "base/time.h"
#include "controllers/framework/plan.h"

namespace controllers {

// The objects as last seen: informers in production, a plain map in tests. Pointers live until the turn ends.
class View {
 public:
  virtual ~View() = default;
  // By "ns/name" or "name"; null when unknown.
  virtual const api::Json* find(const api::ResourceId& resource, std::string_view key) const = 0;
  // The objects under one key of a named index, in key order.
  virtual std::vector<const api::Json*> by_index(const api::ResourceId& resource, std::string_view index,
                                                 std::string_view key) const = 0;
  // How many those are; for who needs no more, since they may be all objects of a cluster.
  virtual std::size_t count(const api::ResourceId& resource, std::string_view index, std::string_view key) const {
    return by_index(resource, index, key).size();
  }
  virtual std::vector<const api::Json*> all(const api::ResourceId& resource) const = 0;
};

using Keys = std::vector<std::string>;

// The object that was written first, of those that say what to do; `objects` is not empty.
const api::Json* first_to_arrive(const std::vector<const api::Json*>& objects);

// One object by its place.
struct Place {
  std::string ns;  // empty: cluster scope
  std::string name;
};

// Changes of `resource` wake the keys that `keys` gives for the object before and the object after.
struct Wake {
  api::ResourceId resource;
  std::function<Keys(const View& view, const api::Json& object)> keys;
  // Unset: every change matters.
  std::function<bool(const api::Json* before, const api::Json* after)> matters = {};
  // A server that does not have the resource, or does not show it, has no such objects.
  bool may_be_absent = false;
  // Only this object is watched. View::find finds it, the other questions do not.
  std::optional<Place> only = {};
  // The watch begins when there is an object of this other resource, and nothing is kept of what it shows: a view has
  // none of it, and `keys` is asked about new states alone. For events, which are many.
  std::optional<api::ResourceId> once_there_is = {};
  // For an object that stays and whose change matters: whether only numbers of a status can follow from it, so that the
  // look has time until such a status may be written again (Turn::counts_wait). Unset: never.
  std::function<bool(const View& view, const api::Json& before, const api::Json& after)> only_counts = {};
};

// The writes to one resource that the plans of a controller may hold: verbs of the API, separated by blanks, and
// "apply" for a patch that no update can stand in for. Events have no row, since every controller makes them.
struct Write {
  api::ResourceId resource;  // the group "*" stands for every resource
  std::string_view verbs;
  std::string_view subresource = {};
};

struct IndexBy {
  api::ResourceId resource;
  std::string name;
  std::function<Keys(const api::Json& object)> keys;
};

struct Turn {
  base::Time now;
  int failures = 0;        // plans of this key that failed in a row, for reasons other than an old view
  std::string error = {};  // the last of them
  // COMPAT(counts-interval): how long a status in which only numbers change has to wait, because this key's last one is
  // too recent. Zero: not at all. A step that leaves such a write out asks to be called again then.
  base::Duration counts_wait = {};
};

// How a plan ended.
struct Ending {
  bool succeeded = false;
  std::vector<api::Json> fetched = {};      // what its fetches found, in their order; null where there is nothing
  std::vector<Answer> answers = {};         // of its probes, in their order
  std::vector<Failure> failures = {};       // of actions that stop nothing, and of the stage that failed
  std::vector<RefusedAction> refused = {};  // every action that failed
  std::set<std::string> made = {};          // the fates of which an object was created
};

// Loop thread only. A controller decides; the driver (framework/driver.h) writes.
class Controller {
 public:
  virtual ~Controller() = default;
  virtual std::string_view name() const = 0;
  // The source of its events; empty: the component that it is part of.
  virtual std::string_view component() const { return {}; }
  virtual std::vector<Wake> wakes_on() const = 0;
  // Rows that no plan exceeds (framework/writes.h). The rights of programs are checked against them.
  virtual std::vector<Write> writes() const { return {}; }
  virtual std::vector<IndexBy> indexes() const { return {}; }
  // For controllers that look at every kind, also at those that definitions of strangers add while they run: the driver
  // tells of each, and watches it for them (framework/defined_kinds.h).
  virtual bool follows_definitions() const { return false; }
  virtual void kind_comes(const api::KindInfo& /*kind*/) {}
  virtual void kind_goes(const api::ResourceId& /*resource*/) {}
  // The changes that wake the controller of such a kind, and its indexes.
  virtual std::vector<Wake> wakes_on_kind(const api::ResourceId& /*resource*/) { return {}; }
  virtual std::vector<IndexBy> indexes_of_kind(const api::ResourceId& /*resource*/) { return {}; }
  virtual Plan step(const View& view, const std::string& key, const Turn& turn) = 0;
  // After more failures in a row than this, step() gives up what it tries; that step comes at once. Negative: never.
  virtual int failures_max() const { return -1; }
  // How the plan of the last step for `key` ended; comes once, before the next step for that key. The one place where a
  // controller's memory changes.
  virtual void finished(const std::string& /*key*/, Ending /*ending*/) {}
};

}  // namespace controllers
