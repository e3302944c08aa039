// The durable objects of the API server, as seen by somebody who sits inside it: the measure of every other view.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "api/meta/resource.h"
#include "sim/world/chronicle.h"
#include "store/store.h"

namespace sim {

// Survives crashes of the server: attach() to the store of each new incarnation.
class Truth {
 public:
  // `before` is null for an addition, `after` for a deletion.
  using OnChange = std::function<void(const api::ResourceId&, const api::Json* before, const api::Json* after)>;

  explicit Truth(Chronicle& chronicle);

  void on_change(OnChange handler) { handlers_.push_back(std::move(handler)); }

  // Compares what the store came back with against what was durable and acknowledged, then follows it.
  void attach(store::Store& store);
  void detach();

  // A write of revision `revision` was answered with success.
  void acknowledged(std::int64_t revision) { acknowledged_ = std::max(acknowledged_, revision); }
  // A watcher of all objects of `resource` was sent this event; `previous` is the revision it had seen before.
  // Returns what is wrong with that, or nothing.
  std::string verify_event(std::uint32_t resource, std::int64_t previous, std::int64_t revision) const;

  // "ns/name" or "name" to object, as durable.
  const std::map<std::string, api::Json>& objects(const api::ResourceId& resource) const;
  const api::Json* find(const api::ResourceId& resource, const std::string& key) const;
  std::int64_t revision() const { return revision_; }
  // When the last object other than a Lease or an Event changed.
  base::Time last_change() const { return last_change_; }
  // Which object that was, and how many there were.
  const std::string& last_changed() const { return last_changed_; }
  std::uint64_t changes_that_matter() const { return changes_that_matter_; }
  std::uint64_t changes() const { return changes_; }
  // Says of each object whose key contains `text` how it changes, as merge patches.
  void show(std::string text) { show_ = std::move(text); }
  void set_clock(const Clock& clock) { clock_ = &clock; }

 private:
  struct Seen {
    std::int64_t revision;
    api::Json object;
  };
  void verify_after_crash(store::Store& store);
  void take(const store::Event& event);
  void notify(std::uint32_t resource, const api::Json* before, const api::Json* after);

  Chronicle& chronicle_;
  const Clock* clock_ = nullptr;
  std::vector<OnChange> handlers_;
  std::vector<std::map<std::string, api::Json>> objects_;      // by resource
  std::vector<std::map<std::string, std::int64_t>> versions_;  // by resource, of `objects_`
  std::vector<std::vector<std::int64_t>> events_;              // by resource: revisions, ascending
  std::vector<std::unique_ptr<store::Subscription>> subscriptions_;
  std::int64_t revision_ = 0;
  std::int64_t acknowledged_ = 0;
  base::Time last_change_;
  std::string last_changed_;
  std::uint64_t changes_that_matter_ = 0;
  std::uint64_t changes_ = 0;
  std::string show_;
};

}  // namespace sim
