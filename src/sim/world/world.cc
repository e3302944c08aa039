// Building a world from its definition, and its two phases.
#include "sim/world/world.h"

#include <algorithm>
#include <set>

#include "admission/rules/hooks.h"
#include "api/kinds.h"
#include "base/format.h"
#include "base/split.h"
#include "client/client.h"
#include "scheduler/actions/all.h"
#include "scheduler/plugins/all.h"
#include "sim/world/decisions.h"
#include "sim/world/env.h"
#include "sim/world/network_client.h"
#include "sim/world/processes.h"
#include "sim/world/server.h"

namespace sim {

using base::make_error;
using base::Result;

namespace {

constexpr base::Time kStart{1'774'000'000'000'000'000};  // any fixed instant

base::Error at_line(int line, std::string_view what) {
  return make_error(base::Code::kInvalid, base::format("line {}: {}", line, what));
}

template <class Kind>
std::string known_names(std::span<const Kind> kinds) {
  std::string names;
  for (const Kind& kind : kinds) names += base::format("{}{}", names.empty() ? "" : ", ", kind.name);
  return names;
}

// actions = "enqueue, allocate" and tiers = ["priority gang", "predicates"], as scenarios write them.
base::Result<std::string> scheduler_conf_of(Settings& settings) {
  const std::string actions = settings.text("actions", "");
  const std::vector<std::string> tiers = settings.words("tiers", {});
  if (actions.empty() && tiers.empty()) return std::string();
  api::Json document = api::Json::object({{"actions", actions}});
  for (const std::string& tier : tiers) {
    api::Json plugins = api::Json::array();
    for (const std::string_view name : base::split_words(tier, ' '))
      plugins.push_back(api::Json::object({{"name", std::string(name)}}));
    document.edit("tiers").push_back(api::Json::object({{"plugins", std::move(plugins)}}));
  }
  std::string text = document.dump();
  auto config = scheduler::parse_config(text, {scheduler::all_plugins(), scheduler::all_actions()});
  if (!config.ok()) return at_line(settings.line(), "world: " + config.error().message);
  for (const std::string& warning : config->warnings) return at_line(settings.line(), "world: " + warning);
  return text;
}

}  // namespace

World::World(std::uint64_t seed, Chronicle::Print print)
    : seed_(seed),
      clock_(kStart),
      outside_(clock_, seed_for(seed, "outside")),
      chronicle_(clock_, std::move(print)),
      truth_(chronicle_),
      decisions_(std::make_unique<Decisions>(chronicle_)),
      dice_(seed_for(seed, "world")) {
  truth_.set_clock(clock_);
}

Person::Person() = default;
Person::~Person() = default;

World::~World() {
  // Parts and people talk to the server until they are gone.
  workloads_.clear();
  checks_.clear();
  faults_.clear();
  processes_.reset();
  if (server_ && server_->is_up()) server_->crash();
  clock_.drop(director_);
  if (network_) clock_.drop(network_->wire);
}

Result<std::unique_ptr<World>> World::make(std::string_view text, std::uint64_t seed, Chronicle::Print print) {
  TRY(Definition definition, parse_definition(text));
  std::unique_ptr<World> world(new World(seed, std::move(print)));
  TRY_VOID(world->build(definition));
  return world;
}

base::Status World::build(Definition& definition) {
  TRY_VOID(build_world(definition.world));
  TRY_VOID(build_pieces(definition.workloads, all_workloads(), workloads_));
  TRY_VOID(build_pieces(definition.faults, all_faults(), faults_));
  return build_pieces(definition.checks, all_checks(), checks_);
}

base::Status World::build_world(Settings& settings) {
  settings_.nodes.nodes = static_cast<int>(settings.number("nodes", 3, dice_));
  settings_.nodes.cpu = settings.quantity("node_cpu", settings_.nodes.cpu);
  settings_.nodes.memory = settings.quantity("node_memory", settings_.nodes.memory);
  settings_.nodes.pods = static_cast<int>(settings.number("node_pods", settings_.nodes.pods, dice_));
  settings_.nodes.start_delay_ns = settings.span_range("start_delay", settings_.nodes.start_delay_ns);
  settings_.nodes.stop_delay_ns = settings.span_range("stop_delay", settings_.nodes.stop_delay_ns);
  duration_ = settings.span("duration", duration_, dice_);
  rest_within_ = settings.span("rest_within", rest_within_, dice_);
  quiet_ = settings.span("quiet", quiet_, dice_);
  Latency latency;
  const Settings::Range one_way = settings.span_range("latency", {latency.min.ns, latency.max.ns});
  OffloadTime disk;
  const Settings::Range disk_time = settings.span_range("disk", {disk.min.ns, disk.max.ns});
  store::Options store;
  store.history_events_max =
      static_cast<std::size_t>(settings.number("history", static_cast<std::int64_t>(store.history_events_max), dice_));
  const bool with_admission = settings.flag("admission", true);
  std::vector<std::string> parts;
  for (const PartKind& kind : all_parts()) {
    if (kind.by_default) parts.emplace_back(kind.name);
  }
  parts = settings.words("parts", parts);
  settings_.sharding = settings.text("sharding", "none");
  if (settings_.sharding != "none" && settings_.sharding != "hard" && settings_.sharding != "soft")
    return at_line(settings.line(),
                   base::format("world: sharding \"{}\" is none of none, hard, soft", settings_.sharding));
  settings_.mpi.version = settings.text("mpi_version", settings_.mpi.version);
  if (settings_.mpi.version != "v1" && settings_.mpi.version != "v2beta1")
    return at_line(settings.line(),
                   base::format("world: mpi_version \"{}\" is none of v1, v2beta1", settings_.mpi.version));
  // Other worlds draw what they always drew.
  const double with_jobs = settings.fraction("launcher_jobs", 0, dice_);
  settings_.mpi.launcher_jobs = with_jobs > 0 && dice_.chance(with_jobs);
  settings_.notebooks = settings.flag("notebooks", false);
  TRY(settings_.scheduler_conf, scheduler_conf_of(settings));
  TRY_VOID(settings.finish());

  server_ = std::make_unique<Server>(
      clock_, outside_, truth_,
      ServerSettings{.seed = seed_,
                     .hooks = with_admission ? admission::hooks({.mpi_version = settings_.mpi.version})
                                             : std::vector<api::AdmissionHook>(),
                     .store = store,
                     .disk = {{disk_time.min}, {disk_time.max}}});
  network_ =
      std::unique_ptr<Network>(new Network{clock_, *server_, truth_, chronicle_, {}, {{one_way.min}, {one_way.max}}});
  processes_ = std::make_unique<Processes>(
      Processes::Surroundings{seed_, clock_, chronicle_, outside_, *server_, *network_, *decisions_, settings_});
  std::set<std::string> added;
  for (const std::string& name : parts) {
    const auto kind = std::ranges::find(all_parts(), name, &PartKind::name);
    if (name == "apiserver") continue;  // always there
    if (kind == all_parts().end())
      return at_line(settings.line(), base::format("world: no part is called \"{}\"; there are: apiserver, {}", name,
                                                   known_names(all_parts())));
    if (!added.insert(name).second)
      return at_line(settings.line(), base::format("world: part \"{}\" is listed twice", name));
    processes_->add(*kind);
  }
  return {};
}

template <class Piece>
base::Status World::build_pieces(std::vector<Settings>& tables, std::span<const PieceKind<Piece>> kinds,
                                 std::vector<std::unique_ptr<Piece>>& pieces) {
  for (Settings& settings : tables) {
    const std::string name = settings.text("kind", "");
    const auto kind = std::ranges::find(kinds, name, &PieceKind<Piece>::name);
    if (kind == kinds.end())
      return at_line(settings.line(),
                     base::format("no {} is called \"{}\"; there are: {}", settings.table(), name, known_names(kinds)));
    base::Random dice(seed_for(seed_, base::format("{} {} {}", settings.table(), name, pieces.size())));
    auto piece = kind->make(*this, settings, dice);
    TRY_VOID(settings.finish());
    pieces.push_back(std::move(piece));
  }
  return {};
}

std::unique_ptr<Person> World::make_person(const std::string& name) {
  auto person = std::make_unique<Person>();
  person->env = std::make_unique<SimEnv>(clock_, seed_for(seed_, base::format("person {}", name)), &outside_);
  person->client =
      make_network_client(*network_, *person->env, name, seed_for(seed_, base::format("client of {}", name)));
  return person;
}

Outcome World::run() {
  for (const auto& check : checks_) check->begin();
  for (const std::string& name : processes_->names()) processes_->start(name);
  for (const auto& workload : workloads_) workload->start();
  for (const auto& fault : faults_) fault->begin();
  const base::Time end = clock_.now() + duration_;
  while (clock_.step(end)) {
  }
  chronicle_.record("healed");
  healed_ = true;
  for (const auto& fault : faults_) fault->heal();
  for (const std::string& name : processes_->names()) processes_->start(name);
  for (const auto& workload : workloads_) workload->stop();
  bring_to_rest();
  for (const auto& check : checks_) check->finish();
  decisions_->record_counts();
  return {chronicle_.hash(), clock_.elapsed(), truth_.changes(), clock_.steps(), chronicle_.violations()};
}

std::string World::wait_for_rest(base::Duration limit) {
  const base::Time end = clock_.now() + limit;
  std::string why;
  while (clock_.now() < end) {
    const base::Time until = clock_.now() + base::seconds(1);
    while (clock_.step(until)) {
    }
    why = unrest();
    if (why.empty()) break;
  }
  return why;
}

void World::bring_to_rest() {
  const std::string why = wait_for_rest(rest_within_);
  if (why.empty()) {
    chronicle_.record("at rest");
    return stay_at_rest();
  }
  chronicle_.violation("settles",
                       base::format("not at rest after {}: {}", base::format_go_duration(rest_within_), why));
  // The stuck process is looked for. A restart that helps says that its memory was wrong, and not the objects.
  for (const std::string& name : processes_->names()) {
    if (name == "apiserver") continue;
    processes_->crash(name);
    processes_->start(name);
    if (const std::string still = wait_for_rest(base::minutes(3)); still != why)
      return chronicle_.violation("settles",
                                  base::format("after a restart of {}: {}", name, still.empty() ? "at rest" : still));
  }
}

// Objects at rest cost no writes.
void World::stay_at_rest() {
  const std::uint64_t before = truth_.changes_that_matter();
  const base::Time end = clock_.now() + kRestWatched;
  while (clock_.step(end)) {
  }
  if (const std::uint64_t written = truth_.changes_that_matter() - before; written > 0)
    chronicle_.violation("writes-at-rest", base::format("{} in {}, the last one of {}", written,
                                                        base::format_go_duration(kRestWatched), truth_.last_changed()));
}

std::string World::unrest() {
  for (const auto& workload : workloads_)
    if (!workload->done()) return "a workload still waits for answers";
  for (const auto& check : checks_)
    if (std::string why = check->unrest(); !why.empty()) return why;
  if (clock_.now() - truth_.last_change() < quiet_) return "objects still change";
  return {};
}

std::string World::objects_text() const {
  std::string text;
  for (const api::KindInfo& kind : api::all_kinds())
    for (const auto& [key, object] : truth_.objects(kind.resource)) {
      object.dump_to(text);
      text += '\n';
    }
  return text;
}

}  // namespace sim
