// An API server of one screen, for tests: objects by resource and key, watches, and errors on demand.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/meta/resource.h"
#include "api/selector.h"
#include "base/format.h"
#include "client/client.h"
#include "client/watch/initial_events.h"
#include "rt/env.h"

namespace client::testing {

class FakeClient : public Client {
 public:
  explicit FakeClient(rt::Env& env) : env_(env) {}

  std::vector<Request> calls;             // everything that was asked
  std::deque<base::Error> failures;       // of the next calls, in order
  std::deque<base::Error> list_failures;  // of the next lists
  int watches_opened = 0;
  std::vector<std::string> watched_from;  // the resourceVersion of each watch
  std::size_t page_max = 0;               // 0: lists are not cut
  bool silent = false;                    // nothing is answered
  bool expire_tokens = false;             // continue tokens are refused
  std::string circle;                     // every page has this token
  std::function<bool(const Request&)> forbids;
  bool begins_watches = false;               // with what there is
  int beginnings_asked = 0;                  // watches that were to begin so
  std::size_t initial_max = SIZE_MAX;        // of so many additions; then nothing more comes until the watch breaks
  std::optional<base::Error> begin_failure;  // of those watches

  void call(Request request, OnResult on_result) override {
    calls.push_back(request);
    if (silent) return;
    env_.loop().post(
        [this, request = std::move(request), on_result = std::move(on_result)] { on_result(answer(request)); });
  }

  std::unique_ptr<Watch> watch(WatchRequest request, OnEvent on_event, OnEnd on_end) override {
    if (request.resource_version.empty())
      return begin_watch(std::move(request), std::move(on_event), std::move(on_end));
    ++watches_opened;
    watched_from.push_back(request.resource_version);
    auto state = std::make_shared<WatchState>(WatchState{request, std::move(on_event), std::move(on_end)});
    watches_.push_back(state);
    const std::int64_t from = std::atoll(request.resource_version.c_str());
    for (const Change& change : history_)
      if (change.version > from) deliver(*state, change);
    return std::make_unique<FakeWatch>(state);
  }

  // Writes behind the back of whoever is tested.
  void put(const api::ResourceId& id, api::Json object) {
    const std::string key = api::key_of(object);
    auto& table = tables_[id.plural];
    const bool fresh = !table.contains(key);
    object.edit("metadata").set("resourceVersion", std::to_string(++version_));
    if (api::uid_of(object).empty())
      object.edit("metadata")
          .set("uid", fresh ? base::format("uid-{}", version_) : std::string(api::uid_of(table[key])));
    table[key] = object;
    publish(id, {version_, fresh ? EventType::kAdded : EventType::kModified, id.plural, object});
  }
  void erase(const api::ResourceId& id, const std::string& key) {
    auto& table = tables_[id.plural];
    const auto found = table.find(key);
    if (found == table.end()) return;
    api::Json last = found->second;
    table.erase(found);
    last.edit("metadata").set("resourceVersion", std::to_string(++version_));
    publish(id, {version_, EventType::kDeleted, id.plural, last});
  }
  const api::Json* find(const api::ResourceId& id, const std::string& key) const {
    const auto table = tables_.find(id.plural);
    if (table == tables_.end()) return nullptr;
    const auto found = table->second.find(key);
    return found == table->second.end() ? nullptr : &found->second;
  }
  const std::map<std::string, api::Json>& table(const api::ResourceId& id) { return tables_[id.plural]; }
  void bookmark() {
    ++version_;
    for (const auto& state : watches_)
      if (state->open)
        state->on_event(
            {EventType::kBookmark,
             api::Json::object({{"metadata", api::Json::object({{"resourceVersion", std::to_string(version_)}})}})});
  }
  // Breaks every watch. `forget` empties the history, so that resuming is refused.
  void break_watches(base::Code code, bool forget = false) {
    if (forget) history_.clear();
    for (const auto& state : std::exchange(watches_, {})) {
      if (!state->open) continue;
      state->open = false;
      state->on_end(base::make_error(code, "broken"));
    }
  }
  // From now on changes reach no watch (they are lost, as with a dead connection).
  bool mute = false;

 private:
  struct Change {
    std::int64_t version;
    EventType type;
    std::string plural;
    api::Json object;
  };
  struct WatchState {
    WatchRequest request;
    OnEvent on_event;
    OnEnd on_end;
    bool open = true;
  };
  class FakeWatch : public Watch {
   public:
    explicit FakeWatch(std::shared_ptr<WatchState> state) : state_(std::move(state)) {}
    ~FakeWatch() override { state_->open = false; }

   private:
    std::shared_ptr<WatchState> state_;
  };

  std::unique_ptr<Watch> begin_watch(WatchRequest request, OnEvent on_event, OnEnd on_end) {
    ++beginnings_asked;
    auto state = std::make_shared<WatchState>(WatchState{request, std::move(on_event), std::move(on_end)});
    if (!begins_watches || begin_failure) {
      const base::Error error = begin_failure.value_or(base::make_error(base::Code::kInvalid, "unknown"));
      env_.loop().post([state, error] {
        if (state->open) state->on_end(error);
      });
      return std::make_unique<FakeWatch>(state);
    }
    watches_.push_back(state);
    std::size_t delivered = 0;
    for (const auto& [key, object] : tables_[request.resource.plural])
      if (delivered++ < initial_max) deliver(*state, {version_, EventType::kAdded, request.resource.plural, object});
    if (delivered <= initial_max)
      deliver(*state, {version_, EventType::kBookmark, request.resource.plural, make_bookmark("", "", version_, true)});
    return std::make_unique<FakeWatch>(state);
  }

  void publish(const api::ResourceId&, Change change) {
    history_.push_back(change);
    if (mute) return;
    for (const auto& state : std::vector(watches_)) deliver(*state, change);
  }
  void deliver(WatchState& state, const Change& change) {
    if (state.request.resource.plural != change.plural) return;
    auto* target = &state;
    for (const auto& kept : watches_)
      if (kept.get() == target)
        env_.loop().post([kept, change] {
          if (kept->open) kept->on_event({change.type, change.object});
        });
  }

  base::Result<api::Json> answer(const Request& request) {
    if (forbids && forbids(request)) return base::make_error(base::Code::kForbidden, "forbidden");
    const bool list = request.verb == Verb::kList;
    auto& errors = list && !list_failures.empty() ? list_failures : failures;
    if (!errors.empty()) {
      base::Error error = errors.front();
      errors.pop_front();
      return error;
    }
    const std::string key = request.ns.empty() ? request.name : request.ns + "/" + request.name;
    auto& table = tables_[request.resource.plural];
    switch (request.verb) {
      case Verb::kList: return list_page(request);
      case Verb::kCreate: {
        const std::string created = request.ns.empty() ? std::string(api::name_of(request.body))
                                                       : request.ns + "/" + std::string(api::name_of(request.body));
        if (table.contains(created)) return base::make_error(base::Code::kAlreadyExists, created + " exists");
        api::Json object = request.body;
        if (!request.ns.empty()) object.edit("metadata").set("namespace", request.ns);
        put(request.resource, std::move(object));
        return table[created];
      }
      case Verb::kGet:
        if (!table.contains(key)) return base::make_error(base::Code::kNotFound, key + " not found");
        return table[key];
      case Verb::kUpdate: {
        if (!table.contains(key)) return base::make_error(base::Code::kNotFound, key + " not found");
        const std::string_view version = api::resource_version_of(request.body);
        if (!version.empty() && version != api::resource_version_of(table[key]))
          return base::make_error(base::Code::kConflict, key + " changed");
        put(request.resource, request.body);
        return table[key];
      }
      case Verb::kPatch: {
        if (!table.contains(key)) return base::make_error(base::Code::kNotFound, key + " not found");
        api::Json object = table[key];
        const std::string_view version = api::resource_version_of(request.body);
        if (!version.empty() && version != api::resource_version_of(object))
          return base::make_error(base::Code::kConflict, key + " changed");
        merge(object, request.body);
        put(request.resource, std::move(object));
        return table[key];
      }
      case Verb::kDelete:
        if (!table.contains(key)) return base::make_error(base::Code::kNotFound, key + " not found");
        erase(request.resource, key);
        return api::Json::object({{"kind", "Status"}});
      case Verb::kDeleteCollection: return delete_all(request);
    }
    return api::Json();
  }

  base::Result<api::Json> delete_all(const Request& request) {
    const auto terms = api::parse_field_selector(request.field_selector);
    if (!terms.ok()) return terms.error();
    std::vector<std::string> keys;
    for (const auto& [key, object] : tables_[request.resource.plural])
      if (api::matches(*terms, object)) keys.push_back(key);
    for (const std::string& key : keys) erase(request.resource, key);
    return api::Json::object({{"kind", "Status"}});
  }
  base::Result<api::Json> list_page(const Request& request) {
    if (!request.continue_token.empty() && expire_tokens)
      return base::make_error(base::Code::kExpired, "the token is too old");
    api::Json items = api::Json::array();
    std::string next;
    for (const auto& [key, object] : tables_[request.resource.plural]) {
      if (!request.continue_token.empty() && key <= request.continue_token) continue;
      if (!request.ns.empty() && api::namespace_of(object) != request.ns) continue;
      if (request.field_selector.starts_with("metadata.name=") &&
          request.field_selector != "metadata.name=" + std::string(api::name_of(object)))
        continue;
      if (page_max > 0 && request.limit > 0 && items.size() == page_max) {
        next = last_;
        break;
      }
      last_ = key;
      items.push_back(object);
    }
    api::Json metadata = api::Json::object({{"resourceVersion", std::to_string(version_)}});
    if (!circle.empty()) next = circle;
    if (!next.empty()) metadata.set("continue", next);
    return api::Json::object({{"kind", "PodList"}, {"metadata", metadata}, {"items", items}});
  }

  // A merge patch; lists are replaced, which is enough here.
  static void merge(api::Json& object, const api::Json& patch) {
    for (const api::Json::Member& member : patch.members()) {
      if (member.value.is_null())
        object.erase(member.name());
      else if (member.value.is_object() && object[member.name()].is_object())
        merge(object.edit(member.name()), member.value);
      else
        object.set(member.name(), member.value);
    }
  }

  rt::Env& env_;
  std::map<std::string, std::map<std::string, api::Json>> tables_;
  std::vector<Change> history_;
  std::vector<std::shared_ptr<WatchState>> watches_;
  std::int64_t version_ = 0;
  std::string last_;
};

}  // namespace client::testing
