// Sums by quota, kept by what each write adds and takes away.
#include "apiserver/pipeline/write/quota_book.h"

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "api/kinds.h"
#include "apiserver/kinds/pods/quota_usage.h"
#include "base/format.h"
#include "base/log.h"

namespace apiserver {

using api::Json;
using api::ResourceList;

namespace {

constexpr std::size_t kObjectsAStep = 250;                        // that are counted in one turn of the loop
constexpr base::Duration kStatusPause = base::milliseconds(200);  // numbers that change together are written once
constexpr base::Duration kAfterFailure = base::seconds(5);

std::uint32_t quotas_resource() {
  return static_cast<std::uint32_t>(api::find_kind(api::resources::kResourceQuotas) - api::all_kinds().data());
}

constexpr std::size_t kStrangersMax = 1'000;  // kinds that definitions add, of which quotas may ask for the number

// "widgets.example.com" of "count/widgets.example.com", where that is not a kind of the program's own; else nothing.
std::string_view strangers_name(std::string_view counted) {
  constexpr std::string_view kCount = "count/";
  if (!counted.starts_with(kCount) || counted.find('.') == std::string_view::npos) return {};
  static const std::set<std::string, std::less<>> kOwn = [] {
    std::set<std::string, std::less<>> names;
    for (const api::KindInfo& kind : api::all_kinds()) names.insert(api::qualified_plural(kind));
    return names;
  }();
  const std::string_view name = counted.substr(kCount.size());
  return kOwn.contains(name) || name.find('/') != std::string_view::npos ? std::string_view() : name;
}

const api::KindInfo& kind_of(std::uint32_t resource) { return api::all_kinds()[resource]; }

ResourceList difference(ResourceList after, const ResourceList& before) {
  for (const auto& [name, amount] : before) after[name] -= amount;
  return after;
}

}  // namespace

struct QuotaBook::State : std::enable_shared_from_this<QuotaBook::State> {
  struct Quota {
    std::string ns;
    std::string name;
    QuotaTerms terms;
    std::set<std::uint32_t> kinds;  // those that it measures
    std::map<std::uint32_t, std::string> strangers =
        {};  // of these, tables of definitions' kinds: their names in `used`
    ResourceList used;
    // The position of the count: kinds before this one, and of this one the keys up to `after`, are in `used`.
    std::uint32_t at = 0;
    std::string after = {};
    bool counted = false;
    std::uint64_t round = 0;  // a quota that changed is counted anew

    ResourceList usage(std::uint32_t resource, const store::ObjectPtr& object) const {
      if (!object) return {};
      if (const auto found = strangers.find(resource); found != strangers.end())
        return {{found->second, api::Quantity::from_int(1)}};
      const api::KindInfo& kind = kind_of(resource);
      return quota_usage(terms, kind, object->json(&quota_projection(kind)));
    }
    bool has_seen(std::uint32_t resource, const std::string& key) const {
      return counted || resource < at || (resource == at && key <= after);
    }
  };
  using Key = std::pair<std::string, std::string>;  // namespace, name

  State(rt::Env& e, store::Store& s) : env(e), store(s) {}

  rt::Env& env;
  store::Store& store;
  WriteStatus write_status;
  std::uint32_t quotas_index = quotas_resource();
  std::map<std::string, std::map<std::string, Quota>, std::less<>> quotas;  // by namespace, then by name
  std::map<std::string, std::uint32_t, std::less<>> strangers;  // tables that are listened to, by what quotas call them
  std::set<Key> stale;                                          // statuses to write
  rt::Loop::TimerId timer = 0;
  std::uint64_t rounds = 0;

  Quota* find(const Key& key) {
    const auto space = quotas.find(key.first);
    if (space == quotas.end()) return nullptr;
    const auto found = space->second.find(key.second);
    return found == space->second.end() ? nullptr : &found->second;
  }

  void begin() {
    store.for_each(quotas_index, "", "", store::View::kLatest, [this](const store::ObjectPtr& object) {
      while (!count_step(put(object), kObjectsAStep)) {
      }
      return true;
    });
    for (std::uint32_t resource = 0; resource < api::all_kinds().size(); ++resource)
      if (kind_of(resource).namespaced) listen(resource);
  }

  void listen(std::uint32_t resource) {
    store.on_latest(resource,
                    [weak = weak_from_this(), resource](const store::ObjectPtr& before, const store::ObjectPtr& after) {
                      if (const auto self = weak.lock(); self && (before || after))
                        self->object_changed(resource, before, after);
                    });
  }

  // The table of a definition's kind, also of one that nobody has defined yet; nothing where there are too many. Tables
  // stay for ever, so none is made before it is known to be listened to.
  std::optional<std::uint32_t> stranger(std::string_view name) {
    if (const auto known = strangers.find(name); known != strangers.end()) return known->second;
    if (strangers.size() >= kStrangersMax) return std::nullopt;
    const std::size_t dot = name.find('.');
    const std::uint32_t table = store.table(base::format("{}/{}", name.substr(dot + 1), name.substr(0, dot)));
    strangers.emplace(name, table);
    listen(table);
    return table;
  }

  // The number of objects of definitions' kinds. Scopes are about pods.
  void measure_strangers(Quota& quota) {
    if (!quota.terms.selectors.empty()) return;
    std::size_t refused = 0;
    for (const auto& [counted, amount] : quota.terms.hard) {
      const std::string_view name = strangers_name(counted);
      if (name.empty()) continue;
      if (const std::optional<std::uint32_t> table = stranger(name)) {
        quota.strangers.emplace(*table, counted);
        quota.kinds.insert(*table);
      } else if (++refused == 1) {
        base::log_error("apiserver", base::format("quota {}/{}: {}, and what comes after it, is not counted: {} other "
                                                  "kinds are",
                                                  quota.ns, quota.name, counted, kStrangersMax));
      }
    }
  }

  Quota& put(const store::ObjectPtr& object) {
    Quota& quota = quotas[object->ns][object->name];
    quota = {object->ns, object->name, quota_terms(object->json())};
    quota.round = ++rounds;
    for (std::uint32_t resource = 0; resource < api::all_kinds().size(); ++resource)
      if (kind_of(resource).namespaced && quota.terms.measures(kind_of(resource))) quota.kinds.insert(resource);
    measure_strangers(quota);
    for (const auto& [name, amount] : quota.terms.hard) quota.used[name] = api::Quantity();
    return quota;
  }

  // True when all is counted.
  bool count_step(Quota& quota, std::size_t objects) {
    for (auto kind = quota.kinds.lower_bound(quota.at); kind != quota.kinds.end(); ++kind) {
      if (*kind != quota.at) quota.after.clear();
      quota.at = *kind;
      bool more = false;
      store.for_each(quota.at, quota.ns, quota.after, store::View::kLatest, [&](const store::ObjectPtr& object) {
        more = objects == 0;
        if (more) return false;
        --objects;
        add(quota, quota.usage(quota.at, object));
        quota.after = object->ns + "/" + object->name;
        return true;
      });
      if (more) return false;
    }
    quota.counted = true;
    mark(quota);
    return true;
  }

  void count_on(const Key& key, std::uint64_t round) {
    Quota* quota = find(key);
    if (!quota || quota->round != round || count_step(*quota, kObjectsAStep)) return;
    env.loop().post([weak = weak_from_this(), key, round] {
      if (const auto self = weak.lock()) self->count_on(key, round);
    });
  }

  static void add(Quota& quota, const ResourceList& delta) {
    for (const auto& [name, amount] : delta) quota.used[name] += amount;
  }

  void object_changed(std::uint32_t resource, const store::ObjectPtr& before, const store::ObjectPtr& after) {
    const store::ObjectPtr& known = after ? after : before;
    const Quota* begun = resource == quotas_index ? quota_changed(before, after) : nullptr;
    const auto space = quotas.find(known->ns);
    if (space == quotas.end()) return;
    const std::string key = known->ns + "/" + known->name;
    for (auto& [name, quota] : space->second) {
      if (&quota == begun) continue;  // it counts what is there now, and so itself
      if (!quota.kinds.contains(resource) || !quota.has_seen(resource, key)) continue;
      bool changed = false;
      const ResourceList delta = difference(quota.usage(resource, after), quota.usage(resource, before));
      for (const auto& [unused, amount] : delta) changed = changed || !amount.is_zero();
      if (!changed) continue;
      add(quota, delta);
      if (quota.counted) mark(quota);
    }
  }

  // The quota whose counting begins anew; null: none. A status alone changes nothing of what is counted.
  const Quota* quota_changed(const store::ObjectPtr& before, const store::ObjectPtr& after) {
    if (!after) {
      const auto space = quotas.find(before->ns);
      if (space == quotas.end()) return nullptr;
      space->second.erase(before->name);
      if (space->second.empty()) quotas.erase(space);
      return nullptr;
    }
    if (before && before->json()["spec"] == after->json()["spec"]) return nullptr;
    const Quota& quota = put(after);
    count_on({quota.ns, quota.name}, quota.round);
    return &quota;
  }

  void mark(const Quota& quota) {
    stale.emplace(quota.ns, quota.name);
    if (timer == 0) arm(kStatusPause);
  }

  void arm(base::Duration pause) {
    timer = env.loop().after(pause, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      self->timer = 0;
      for (const Key& key : std::exchange(self->stale, {})) self->publish(key);
    });
  }

  void publish(const Key& key) {
    const Quota* quota = find(key);
    const store::ObjectPtr stored = store.find(quotas_index, key.first, key.second, store::View::kLatest);
    if (!quota || !quota->counted || !stored) return;
    const Json status = Json::object({{"hard", api::to_json(quota->terms.hard)}, {"used", api::to_json(quota->used)}});
    const Json present = stored->json()["status"];
    if (api::resource_list_from(present["hard"]) == quota->terms.hard &&
        api::resource_list_from(present["used"]) == quota->used)
      return;
    Request request;
    request.verb = Verb::kPatch;
    request.patch_type = PatchType::kJson;
    request.kind = &kind_of(quotas_index);
    request.resource = quotas_index;
    request.ns = key.first;
    request.name = key.second;
    request.subresource = "status";
    request.user = {"system:apiserver", {"system:masters"}};
    request.default_manager = "kube-apiserver";
    request.body = Json::array({Json::object({{"op", "test"}, {"path", "/metadata/uid"}, {"value", stored->uid}}),
                                Json::object({{"op", "add"}, {"path", "/status"}, {"value", status}})});
    write_status(std::move(request), [weak = weak_from_this(), key](base::Result<Answer> answer) {
      const auto self = weak.lock();
      if (!self || answer.ok() || !self->find(key)) return;
      self->stale.insert(key);  // the disk is full, perhaps
      if (self->timer == 0) self->arm(kAfterFailure);
    });
  }

  base::Status check(const Request& request, const Json& object) const {
    const auto space = quotas.find(request.ns);
    const bool resize = request.subresource == "resize";
    if (space == quotas.end() || (!request.subresource.empty() && !resize)) return {};
    const store::ObjectPtr before = store.find(request.resource, request.ns, request.name, store::View::kLatest);
    for (const auto& [name, quota] : space->second) {
      if (!quota.kinds.contains(request.resource)) continue;
      const auto stranger = quota.strangers.find(request.resource);
      const ResourceList wanted = stranger != quota.strangers.end()
                                      ? ResourceList{{stranger->second, api::Quantity::from_int(1)}}
                                      : quota_usage(quota.terms, *request.kind, object);
      // Also of a pod that would count for nothing, since it names nothing.
      std::string why = before && !resize ? std::string() : refusal_of_pod(quota, *request.kind, object);
      if (why.empty() && wanted.empty()) continue;
      if (why.empty()) why = refusal(quota, difference(wanted, quota.usage(request.resource, before)));
      if (why.empty()) continue;
      base::Error error = base::make_error(
          base::Code::kForbidden,
          base::format("{} \"{}\" is forbidden: {}", api::qualified_plural(*request.kind), api::name_of(object), why));
      error.group = request.kind->resource.group;
      error.kind = request.kind->resource.plural;
      error.name = api::name_of(object);
      return error;
    }
    return {};
  }

  static std::string refusal_of_pod(const Quota& quota, const api::KindInfo& kind, const Json& object) {
    if (kind.resource != api::resources::kPods) return {};
    const std::string unsaid = unsaid_by_pod(quota.terms, object);
    return unsaid.empty() ? unsaid : base::format("failed quota: {}: {}", quota.name, unsaid);
  }

  static std::string refusal(const Quota& quota, const ResourceList& wanted) {
    std::vector<std::string> asked, exceeded;
    for (const auto& [name, amount] : wanted) {
      if (amount.sign() <= 0) continue;
      asked.push_back(name);
      if (quota.used.at(name) + amount > quota.terms.hard.at(name)) exceeded.push_back(name);
    }
    if (asked.empty()) return {};
    if (!quota.counted) {
      std::string names;
      for (const std::string& name : asked) names += (names.empty() ? "" : ",") + name;
      return base::format("status unknown for quota: {}, resources: {}", quota.name, names);
    }
    if (exceeded.empty()) return {};
    return base::format("exceeded quota: {}, requested: {}, used: {}, limited: {}", quota.name,
                        quota_text(wanted, exceeded), quota_text(quota.used, exceeded),
                        quota_text(quota.terms.hard, exceeded));
  }
};

QuotaBook::QuotaBook(rt::Env& env, store::Store& store) : state_(std::make_shared<State>(env, store)) {}
QuotaBook::~QuotaBook() {
  if (state_->timer != 0) state_->env.loop().cancel(state_->timer);
}

void QuotaBook::begin(WriteStatus write_status) {
  state_->write_status = std::move(write_status);
  state_->begin();
}

base::Status QuotaBook::check(const Request& request, const Json& object) const {
  return state_->check(request, object);
}

}  // namespace apiserver
