// Requests and watches over the simulated network.
#include "sim/world/network_client.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "api/kinds.h"
#include "apiserver/pipeline/client_request.h"
#include "base/format.h"
#include "client/watch/initial_events.h"

namespace sim {

using api::Json;
using base::Code;
using base::Result;

namespace {

base::Error broken(std::string_view why) { return base::make_error(Code::kUnavailable, std::string(why)); }

bool is_write(client::Verb verb) { return verb != client::Verb::kGet && verb != client::Verb::kList; }

std::string_view verb_name(client::Verb verb) {
  switch (verb) {
    case client::Verb::kGet: return "get";
    case client::Verb::kList: return "list";
    case client::Verb::kCreate: return "create";
    case client::Verb::kUpdate: return "update";
    case client::Verb::kPatch: return "patch";
    case client::Verb::kDelete: return "delete";
    case client::Verb::kDeleteCollection: return "deletecollection";
  }
  return "";
}

std::optional<base::Error> refusal_of(const NetworkFaults& faults, const Asked& asked) {
  for (const Refuse& refuse : faults.refuse) {
    if (std::optional<base::Error> why = refuse(asked)) return why;
  }
  return std::nullopt;
}

// Every component is an administrator.
apiserver::Request from_component(apiserver::Request request, const std::string& name) {
  request.user = {name, {"system:masters", "system:authenticated"}};
  request.default_manager = name;
  return request;
}

// One request under way. The caller hears of the first event, the answer or the break of the connection.
struct Exchange {
  bool answered = false;
  std::uint64_t connection = 0;
};

struct WatchState;

class NetworkWatch final : public client::Watch {
 public:
  explicit NetworkWatch(std::shared_ptr<WatchState> state) : state_(std::move(state)) {}
  ~NetworkWatch() override;

 private:
  std::shared_ptr<WatchState> state_;
};

// A watch under way; both ends hold it, either may let go first.
struct WatchState : std::enable_shared_from_this<WatchState> {
  WatchState(Network& network, Owner owner, std::uint64_t seed) : network(network), owner(owner), dice(seed) {}

  Network& network;
  Owner owner;  // of the client's process
  base::Random dice;
  std::uint32_t resource = 0;
  const api::Projection* only = nullptr;  // what the client reads of each object; null: all
  bool sees_everything = false;
  bool begins = false;  // what there is has not all been told: its versions are in any order
  bool ended = false;   // nothing more reaches the client
  std::uint64_t connection = 0;
  std::int64_t seen = 0;  // the newest revision sent
  base::Time arrives;     // of the last message: they keep their order
  std::unique_ptr<apiserver::ApiWatch> server_side;
  client::Client::OnEvent on_event;
  client::Client::OnEnd on_end;

  base::Duration one_way() {
    const Latency& range = network.latency;
    base::Duration taken{range.min.ns + static_cast<std::int64_t>(dice.below(static_cast<std::uint64_t>(
                                            std::max<std::int64_t>(range.max.ns - range.min.ns, 1))))};
    if (dice.chance(network.faults.slow))
      taken.ns += static_cast<std::int64_t>(dice.below(static_cast<std::uint64_t>(network.faults.slow_max.ns)));
    return taken;
  }

  void deliver(rt::Task task) {
    arrives = std::max(arrives, network.clock.now() + one_way());
    network.clock.add(owner, arrives - network.clock.now(), std::move(task));
  }

  void send(client::WatchEvent event) {
    deliver([self = shared_from_this(), event = std::move(event)] {
      if (!self->ended) self->on_event(event);
    });
  }

  // From the server's side: no event after this one.
  void close(base::Error error) {
    close_server_side();
    deliver([self = shared_from_this(), error = std::move(error)] {
      if (self->ended) return;
      self->ended = true;
      const auto on_end = std::move(self->on_end);
      self->on_event = nullptr;
      on_end(error);
    });
  }

  void close_server_side() {
    if (connection) network.server.disconnect(connection);
    connection = 0;
    // We may be inside one of its callbacks.
    if (server_side) network.server.discard(std::move(server_side));
  }

  void take(const std::vector<store::Event>& events) {
    for (const store::Event& event : events) {
      if (!connection) return;
      if (sees_everything && seen > 0) {
        const std::string wrong = network.truth.verify_event(resource, seen, event.revision);
        if (!wrong.empty()) network.chronicle.violation("watch-complete", wrong);
      }
      if (!begins) seen = std::max(seen, event.revision);
      if (dice.chance(network.faults.cut_watch)) {
        network.chronicle.record(
            base::format("fault: a watch of {} is cut", api::all_kinds()[resource].resource.plural));
        return close(broken("connection reset by peer"));
      }
      send({static_cast<client::EventType>(event.type), event.object->json(only)});
    }
  }
};

NetworkWatch::~NetworkWatch() {
  state_->ended = true;
  state_->on_event = nullptr;
  state_->on_end = nullptr;
  // The server notices when the closing arrives.
  state_->network.clock.add(state_->network.wire, base::milliseconds(1),
                            [state = state_] { state->close_server_side(); });
}

class NetworkClient final : public client::Client {
 public:
  NetworkClient(Network& network, SimEnv& env, std::string name, std::uint64_t seed)
      : network_(network), env_(env), name_(std::move(name)), dice_(seed) {}

  void call(client::Request request, OnResult on_result) override {
    const NetworkFaults& faults = network_.faults;
    if (dice_.chance(faults.drop_request)) return fail_later(std::move(on_result), "the request was lost");
    const bool drop_answer = dice_.chance(faults.drop_answer);
    const bool conflict =
        is_write(request.verb) && request.verb != client::Verb::kCreate && dice_.chance(faults.conflict);
    const base::Duration there = one_way();
    const base::Duration back = one_way();
    network_.clock.add(network_.wire, there,
                       [&network = network_, owner = env_.owner(), name = name_, request = std::move(request),
                        on_result = std::move(on_result), drop_answer, conflict, back]() mutable {
                         const auto answer = [&network, owner, on_result = std::move(on_result), drop_answer,
                                              back](Result<Json> result) {
                           if (drop_answer) result = broken("connection reset by peer");
                           network.clock.add(owner, back,
                                             [on_result, result = std::move(result)] { on_result(result); });
                         };
                         if (conflict)
                           return answer(base::make_error(
                               Code::kConflict,
                               base::format("Operation cannot be fulfilled on {} \"{}\": the object has been modified",
                                            request.resource.plural, request.name)));
                         carry_out(network, name, request, answer);
                       });
  }

  std::unique_ptr<client::Watch> watch(client::WatchRequest request, OnEvent on_event, OnEnd on_end) override {
    auto state = std::make_shared<WatchState>(network_, env_.owner(), dice_.next());
    state->on_event = std::move(on_event);
    state->on_end = std::move(on_end);
    state->only = request.only;
    network_.clock.add(network_.wire, state->one_way(),
                       [state, request = std::move(request), name = name_] { open(state, request, name); });
    return std::make_unique<NetworkWatch>(state);
  }

 private:
  base::Duration one_way() {
    const Latency& range = network_.latency;
    base::Duration taken{range.min.ns + static_cast<std::int64_t>(dice_.below(static_cast<std::uint64_t>(
                                            std::max<std::int64_t>(range.max.ns - range.min.ns, 1))))};
    if (dice_.chance(network_.faults.slow))
      taken.ns += static_cast<std::int64_t>(dice_.below(static_cast<std::uint64_t>(network_.faults.slow_max.ns)));
    return taken;
  }

  void fail_later(OnResult on_result, std::string_view why) {
    network_.clock.add(env_.owner(), base::seconds(1),
                       [on_result = std::move(on_result), error = broken(why)] { on_result(error); });
  }

  // At the server.
  static void carry_out(Network& network, const std::string& name, const client::Request& request,
                        const std::function<void(Result<Json>)>& answer) {
    if (!network.server.lets_in()) return answer(broken("connection refused"));
    const Asked asked{name, verb_name(request.verb), request.resource, request.subresource, request.name};
    if (auto refused = refusal_of(network.faults, asked)) return answer(*std::move(refused));
    auto made = apiserver::request_from(request, {});
    if (!made.ok()) return answer(made.take_error());
    auto exchange = std::make_shared<Exchange>();
    exchange->connection = network.server.connect([exchange, answer] {
      if (std::exchange(exchange->answered, true)) return;
      answer(broken("connection reset by peer"));
    });
    const bool writes = is_write(request.verb) && !request.dry_run;
    network.server.api()->call(
        from_component(*std::move(made), name),
        [&network, exchange, answer, writes, only = request.only](Result<apiserver::Answer> result) {
          if (std::exchange(exchange->answered, true)) return;
          network.server.disconnect(exchange->connection);
          if (!result.ok()) return answer(result.take_error());
          Json object = apiserver::object_of(*result, only);
          if (writes) record_acknowledged(network.truth, object);
          answer(std::move(object));
        });
  }

  static void record_acknowledged(Truth& truth, const Json& object) {
    const std::string_view version = api::resource_version_of(object);
    std::int64_t revision = 0;
    std::from_chars(version.data(), version.data() + version.size(), revision);
    truth.acknowledged(revision);
  }

  static void open(const std::shared_ptr<WatchState>& state, const client::WatchRequest& request,
                   const std::string& name) {
    if (state->ended) return;
    if (!state->network.server.lets_in()) return state->close(broken("connection refused"));
    const Asked asked{name, "watch", request.resource, "", ""};
    if (auto refused = refusal_of(state->network.faults, asked)) return state->close(*std::move(refused));
    auto made = apiserver::request_from(request, {});
    if (!made.ok()) return state->close(made.take_error());
    const apiserver::Request at_server = from_component(*std::move(made), name);
    const api::KindInfo* kind = at_server.kind;
    state->resource = at_server.resource;
    state->begins = request.resource_version.empty();
    state->sees_everything = request.ns.empty() && request.label_selector.empty() && request.field_selector.empty();
    std::from_chars(request.resource_version.data(), request.resource_version.data() + request.resource_version.size(),
                    state->seen);
    state->connection = state->network.server.connect([state] {
      state->connection = 0;
      state->server_side.reset();
      state->close(broken("connection reset by peer"));
    });
    apiserver::WatchSink sink;
    sink.on_events = [state](const apiserver::WatchSlicePtr& slice) {
      state->take(slice->events);
      return state->connection != 0;
    };
    sink.on_bookmark = [state, kind](std::int64_t revision, bool ends_initial) {
      if (!state->connection) return;
      if (ends_initial) state->begins = false;
      state->seen = std::max(state->seen, revision);
      state->send({client::EventType::kBookmark,
                   client::make_bookmark(kind->kind, kind->resource.api_version(), revision, ends_initial)});
    };
    auto opened = state->network.server.api()->watch(at_server, std::move(sink));
    if (!opened.ok()) return state->close(opened.take_error());
    state->server_side = *std::move(opened);
    if (base::Status begun = state->server_side->resume(); !begun.ok()) return state->close(begun.take_error());
    if (!state->connection) state->server_side.reset();
  }

  Network& network_;
  SimEnv& env_;
  std::string name_;
  base::Random dice_;
};

}  // namespace

std::unique_ptr<client::Client> make_network_client(Network& network, SimEnv& env, std::string name,
                                                    std::uint64_t seed) {
  return std::make_unique<NetworkClient>(network, env, std::move(name), seed);
}

}  // namespace sim
