// Steps of a deletion: what is left is deleted, and looked at again whenever something of it goes.
#include "apiserver/pipeline/definition_keeper.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "apiserver/pipeline/write/collection.h"
#include "apiserver/pipeline/write/off_loop_writes.h"
#include "base/format.h"
#include "base/log.h"

namespace apiserver {

using api::Json;

// How far the deletion of a definition's objects is. After kDone those that are left wait for others to let them go.
enum class Sweep : std::uint8_t {
  kUnderWay,
  kMissedOne,  // under way, and an object came that was on its way before the definition went
  kDone,
};

struct DefinitionKeeper::State : std::enable_shared_from_this<DefinitionKeeper::State> {
  State(rt::Env& e, store::Store& s, SideWork& w, KindBook& k, Write write_to)
      : env(e), store(s), side_work(w), kinds(k), write(std::move(write_to)) {}

  rt::Env& env;
  store::Store& store;
  SideWork& side_work;
  KindBook& kinds;
  Write write;
  std::set<std::string> due;            // definitions to be looked at in the next turn
  std::map<std::string, Sweep> sweeps;  // of definitions that go
  std::set<std::uint32_t> watched;      // tables that tell when something goes

  DefinitionPtr find(const std::string& name) const {
    const auto all = kinds.current();
    const auto found = std::ranges::find(all->definitions(), name, [](const DefinitionPtr& one) { return one->name; });
    return found == all->definitions().end() ? nullptr : *found;
  }

  void look_later(const std::string& name) {
    const bool comes = !due.empty();
    due.insert(name);
    if (comes) return;
    env.loop().post([weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      for (const std::string& one : std::exchange(self->due, {})) self->look(one);
    });
  }

  void look(const std::string& name) {
    const DefinitionPtr definition = find(name);
    if (!definition || !definition->deleting) return;
    const auto sweep = sweeps.find(name);
    if (sweep != sweeps.end() && sweep->second != Sweep::kDone) return;
    const std::uint32_t table = kinds.table_of(*definition);
    watch(table);
    bool any = false;
    store.for_each(table, "", "", store::View::kLatest, [&](const store::ObjectPtr&) {
      any = true;
      return false;
    });
    if (!any) return let_go(*definition);
    if (sweep == sweeps.end() && definition->stored_kind) delete_objects(*definition, table);
  }

  void watch(std::uint32_t table) {
    if (!watched.insert(table).second) return;
    store.on_latest(table,
                    [weak = weak_from_this(), table](const store::ObjectPtr& before, const store::ObjectPtr& after) {
                      const auto self = weak.lock();
                      if (!self || (before && after)) return;
                      for (const DefinitionPtr& one : self->kinds.current()->definitions()) {
                        if (!one->deleting || self->kinds.table_of(*one) != table) continue;
                        if (after) self->record_arrival(one->name);
                        self->look_later(one->name);
                      }
                    });
  }

  void record_arrival(const std::string& name) {
    const auto sweep = sweeps.find(name);
    if (sweep == sweeps.end()) return;
    if (sweep->second == Sweep::kDone)
      sweeps.erase(sweep);
    else
      sweep->second = Sweep::kMissedOne;
  }

  Request request(Verb verb) const {
    Request made;
    made.verb = verb;
    made.user = {"system:apiserver", {"system:masters"}};
    made.default_manager = "kube-apiserver";
    return made;
  }

  void delete_objects(const Definition& definition, std::uint32_t table) {
    sweeps[definition.name] = Sweep::kUnderWay;
    Request all = request(Verb::kDeleteCollection);
    all.kind = definition.stored_kind.get();
    all.holds_kind = definition.stored_kind;
    all.resource = table;
    delete_collection(env, side_work, store, std::move(all), write,
                      [weak = weak_from_this(), name = definition.name](base::Result<Answer> answer) {
                        const auto self = weak.lock();
                        if (!self) return;
                        const Sweep ended = std::exchange(self->sweeps[name], Sweep::kDone);
                        if (!answer.ok() || ended == Sweep::kMissedOne) self->sweeps.erase(name);
                        if (answer.ok()) return self->look_later(name);
                        base::log_warning("apiserver", base::format("the objects of {} cannot be deleted: {}", name,
                                                                    answer.error().message));
                        self->try_again(name);
                      });
  }

  // A full disk, or too many writes at once: nothing tells when that ends.
  void try_again(const std::string& name) {
    env.loop().after(base::seconds(1), [weak = weak_from_this(), name] {
      if (const auto self = weak.lock()) self->look(name);
    });
  }

  store::ObjectPtr stored_definition(const std::string& name) const {
    return store.find(definitions_kind().second, "", name, store::View::kLatest);
  }

  static std::pair<const api::KindInfo*, std::uint32_t> definitions_kind() {
    const api::KindInfo* kind = api::find_kind(api::resources::kCustomResourceDefinitions);
    return {kind, static_cast<std::uint32_t>(kind - api::all_kinds().data())};
  }

  Request patch(const std::string& name, Json body) const {
    Request made = request(Verb::kPatch);
    std::tie(made.kind, made.resource) = definitions_kind();
    made.name = name;
    made.patch_type = PatchType::kMerge;
    made.body = std::move(body);
    return made;
  }

  void let_go(const Definition& definition) {
    const store::ObjectPtr stored = stored_definition(definition.name);
    if (!stored) return;
    const Json object = stored->json();
    Json kept = Json::array();
    bool held = false;
    for (const Json& one : object["metadata"]["finalizers"].items()) {
      held = held || one.as_string() == kDefinitionFinalizer;
      if (one.as_string() != kDefinitionFinalizer) kept.push_back(one);
    }
    if (!held) return;
    // A change meanwhile makes this a conflict, and was told.
    const Json metadata = Json::object({{"resourceVersion", api::resource_version_of(object)},
                                        {"finalizers", kept.empty() ? Json() : std::move(kept)}});
    write(patch(definition.name, Json::object({{"metadata", metadata}})),
          [weak = weak_from_this(), name = definition.name](base::Result<Answer> answer) {
            const auto self = weak.lock();
            if (self && !answer.ok() && answer.error().code != base::Code::kConflict &&
                answer.error().code != base::Code::kNotFound)
              self->try_again(name);
          });
  }

  void take_in(const DefinitionPtr& before, const DefinitionPtr& now) {
    if (!stored_definition(now->name)) return;  // it went while it was read
    kinds.put(now);
    if (now->deleting) look_later(now->name);
    // Names come free when a definition wants other ones.
    if (before && !(before->spec["names"] == now->spec["names"])) settle_names(now->group, now->name);
  }

  // Others may want names that are free now, or that two took at once: their statuses are said anew.
  void settle_names(const std::string& group, const std::string& but) {
    for (const DefinitionPtr& one : kinds.current()->definitions())
      if (one->group == group && one->name != but) settle_names_of(one->name);
  }

  void settle_names_of(const std::string& name) {
    const DefinitionPtr definition = find(name);
    if (!definition || !definition->conflicts) return;
    Request again = patch(name, Json::object());
    again.subresource = "status";
    write(std::move(again), [weak = weak_from_this(), name](const base::Result<Answer>& answer) {
      const auto self = weak.lock();
      if (!self || answer.ok() || answer.error().code == base::Code::kNotFound) return;
      self->env.loop().after(base::seconds(1), [weak, name] {
        if (const auto later = weak.lock()) later->settle_names_of(name);
      });
    });
  }
};

DefinitionKeeper::DefinitionKeeper(rt::Env& env, store::Store& store, SideWork& side_work, KindBook& kinds, Write write)
    : state_(std::make_shared<State>(env, store, side_work, kinds, std::move(write))) {}
DefinitionKeeper::~DefinitionKeeper() = default;

void DefinitionKeeper::begin() {
  state_->kinds.begin();
  for (const DefinitionPtr& one : state_->kinds.current()->definitions())
    if (one->deleting) state_->look_later(one->name);
}

void DefinitionKeeper::put(const store::ObjectPtr& stored, std::function<void()> done) {
  const DefinitionPtr before = state_->find(stored->name);
  const auto read = [stored, before] { return read_definition(stored->json(), stored->revision, before.get()); };
  if (stored->bytes.size() <= kLongBytes) {
    state_->take_in(before, read());
    return done();
  }
  auto made = std::make_shared<DefinitionPtr>();
  state_->side_work.run([made, read] { *made = read(); },
                        [self = state_, before, made, done = std::move(done)] {
                          self->take_in(before, *made);
                          done();
                        });
}

void DefinitionKeeper::removed(const std::string& name) {
  const DefinitionPtr before = state_->find(name);
  state_->kinds.remove(name);
  state_->sweeps.erase(name);
  if (before) state_->settle_names(before->group, name);
}

}  // namespace apiserver
