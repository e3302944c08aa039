// A small cluster in a map, for tests of controllers: it shows objects as a View and carries out plans at once.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "controllers/framework/controller.h"

namespace controllers {

class TestWorld final : public View {
 public:
  explicit TestWorld(std::uint64_t seed = 1) : dice(seed) {}

  const api::Json* find(const api::ResourceId& resource, std::string_view key) const override;
  std::vector<const api::Json*> by_index(const api::ResourceId& resource, std::string_view index,
                                         std::string_view key) const override;
  std::vector<const api::Json*> all(const api::ResourceId& resource) const override;

  // And the rows of its writes: a plan that goes beyond them fails the test.
  void use_indexes_of(const Controller& controller);
  // Adds uid, creationTimestamp and resourceVersion where absent.
  api::Json& put(const api::ResourceId& resource, api::Json object);
  api::Json& put_text(const api::ResourceId& resource, std::string_view json);
  void erase(const api::ResourceId& resource, const std::string& key) { objects[resource].erase(key); }
  api::Json* edit(const api::ResourceId& resource, const std::string& key);
  // Fails if an action met a conflict, a name that exists, or one that does not.
  Ending apply(const Plan& plan);
  // Steps `controller` for `key` and applies the plan, which keeps to its writes(); returns the plan's text.
  std::string turn(Controller& controller, const std::string& key, int failures = 0, const std::string& error = {});

  std::map<api::ResourceId, std::map<std::string, api::Json>> objects;
  std::vector<IndexBy> indexes;
  std::vector<Write> writes;
  std::vector<std::string> events;  // "Reason: message"
  base::Random dice;
  base::Time now{1'774'000'000'000'000'000};
  std::int64_t revision = 100;
  base::Duration counts_wait = {};           // of the next turns
  std::set<std::string> listening;           // "host:port/path" of probes that are answered
  std::map<std::string, std::string> pages;  // what some of them are answered
  // Asked before each write; an error is its answer, and nothing is written.
  std::function<std::optional<base::Error>(const Action& action)> refuse = {};
  // A deleted pod terminates until gone() is called; one that is over, or that has no node, goes at once.
  bool deletes_pods_slowly = true;
  void gone();  // removes what is terminating

 private:
  bool run(const Action& action);
  bool owns_something(const api::Json& object) const;
  // False: the object goes at once.
  bool begins_deletion(const Action& action, api::Json& object) const;
  Answer answer_of(const Probe& probe) const;

  Ending ending;  // of the plan that is being applied
};

// RFC 7386.
void merge_patch(api::Json& target, const api::Json& patch);

}  // namespace controllers
