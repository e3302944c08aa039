// The one way components talk to an API server: in process (apiserver/pipeline/local_client.h) or over HTTPS
// (client/http/http_client.h), from one loop. Objects travel as Json.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "api/json/json.h"
#include "api/json/projection.h"
#include "api/meta/resource.h"
#include "base/result.h"

namespace client {

enum class Verb : std::uint8_t { kGet, kList, kCreate, kUpdate, kPatch, kDelete, kDeleteCollection };
enum class PatchType : std::uint8_t { kJson, kMerge, kStrategic, kApply };

// Which of the requests that wait for a connection, or for the rate that is allowed, is sent next. Requests of one rank
// go in the order in which they were made; nothing that is on its way is held up or taken back.
enum class Urgency : std::uint8_t {
  kFirst,   // reads, and what moves pods: creates, deletions, binds
  kPhase,   // statuses that others wait for
  kCounts,  // statuses that only report numbers
  kEvent,   // reports for people
};
inline constexpr std::size_t kUrgencies = 4;

struct Request {
  Verb verb = Verb::kGet;
  api::ResourceId resource;
  std::string ns;  // empty: cluster scope, or all namespaces for a list
  std::string name;
  std::string subresource;  // "status", "binding", "eviction", ...
  api::Json body = {};      // object, patch, DeleteOptions
  PatchType patch_type = PatchType::kMerge;
  std::string label_selector = {};
  std::string field_selector = {};
  std::int64_t limit = 0;  // 0: everything
  std::string continue_token = {};
  std::string resource_version = {};  // of a list
  // The members that are read of the answer, or of each item of a list; null: all of it. It lives as long as the
  // program.
  const api::Projection* only = nullptr;
  std::string field_manager = {};  // empty: the client's own name
  bool force = false;              // of an apply
  bool dry_run = false;
  // As whom it is done, with no more rights than that: "NAMESPACE:NAME" of a service account. Empty: the client itself.
  std::string account = {};
  Urgency urgency = Urgency::kFirst;
};

struct WatchRequest {
  api::ResourceId resource;
  std::string ns;
  std::string label_selector = {};
  std::string field_selector = {};
  // Events after this one. Empty: first what there is, as additions in any order, then a bookmark that says so
  // (client/watch/initial_events.h), then what comes. A server that cannot do that ends the watch with kInvalid.
  std::string resource_version = {};
  bool bookmarks = true;
  const api::Projection* only = nullptr;  // of each object, as in a list
};

enum class EventType : std::uint8_t { kAdded, kModified, kDeleted, kBookmark };

struct WatchEvent {
  EventType type;
  api::Json object;  // of a deletion: the last state, with the deletion's resourceVersion
};

// Ends the watch when destroyed; no callback follows.
class Watch {
 public:
  virtual ~Watch() = default;
};

class Client {
 public:
  using OnResult = std::function<void(base::Result<api::Json>)>;
  using OnEvent = std::function<void(WatchEvent)>;
  using OnEnd = std::function<void(base::Error)>;  // once: kExpired (410) means "list again"

  virtual ~Client() = default;
  // All methods and callbacks are on the owning component's loop. No callback runs before the call returns.
  virtual void call(Request request, OnResult on_result) = 0;
  virtual std::unique_ptr<Watch> watch(WatchRequest request, OnEvent on_event, OnEnd on_end) = 0;
};

}  // namespace client
