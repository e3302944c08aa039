// Reads of the server for what a refusal rests on.
#include "admission/server/confirm.h"

#include "api/meta/resource.h"
#include "base/format.h"

namespace admission {

using api::Json;
using base::Result;

namespace {

// COMPAT(confirmed-refusals)
// What the server says may lead a rule to look at something else; it does so a few times at most.
constexpr int kRoundsMax = 3;
// The time for all rounds together. The caller gives up after ten seconds, by the chart's configuration.
constexpr base::Duration kPatience = base::seconds(3);

std::string key_for(std::string_view ns, std::string_view name) {
  return ns.empty() ? std::string(name) : base::format("{}/{}", ns, name);
}

struct Confirmation : std::enable_shared_from_this<Confirmation> {
  Confirmation(client::Client& c, rt::Loop& l, const api::ObjectReader& view, Review r,
               std::function<void(api::AdmissionAnswer)> d)
      : client(c), loop(l), reader(view), review(std::move(r)), done(std::move(d)) {}

  client::Client& client;
  rt::Loop& loop;
  Confirming reader;
  Review review;
  std::function<void(api::AdmissionAnswer)> done;
  int rounds = 0;
  api::AdmissionAnswer refusal;  // the last one
  rt::Loop::TimerId timer = 0;

  void begin() {
    look();
    if (!done) return;
    timer = loop.after(kPatience, [self = shared_from_this()] {
      self->timer = 0;
      self->end(std::move(self->refusal));
    });
  }
  void look() {
    refusal = review(reader);
    if (refusal.allowed || !reader.has_doubts() || rounds++ == kRoundsMax) return end(std::move(refusal));
    reader.fetch(client, [self = shared_from_this()](bool answered) {
      if (!self->done) return;  // too late
      if (!answered) return self->end(std::move(self->refusal));
      self->look();
    });
  }
  void end(api::AdmissionAnswer answer) {
    if (timer != 0) loop.cancel(std::exchange(timer, 0));
    std::exchange(done, nullptr)(std::move(answer));
  }
};

}  // namespace

std::optional<Json> Confirming::find(const api::ResourceId& id, std::string_view ns, std::string_view name) const {
  const ObjectKey key{id, key_for(ns, name)};
  if (const auto known = objects_.find(key); known != objects_.end()) return known->second;
  if (kinds_.contains(id)) return std::nullopt;
  doubtful_objects_.insert(key);
  return view_.find(id, ns, name);
}

std::vector<Json> Confirming::list_by(const api::TextField& field, std::string_view value, bool as_prefix) const {
  if (!kinds_.contains(field.resource)) {
    doubtful_kinds_.insert(field.resource);
    return view_.list_by(field, value, as_prefix);
  }
  std::vector<Json> found;
  for (auto at = objects_.lower_bound({field.resource, ""}); at != objects_.end(); ++at) {
    if (at->first.first != field.resource) break;
    if (!at->second) continue;
    const std::string text = field.of(*at->second);
    if (as_prefix ? text.starts_with(value) : text == value) found.push_back(*at->second);
  }
  return found;
}

void Confirming::fetch(client::Client& client, std::function<void(bool)> done) {
  struct Fetch {
    std::size_t left = 0;
    bool answered = true;
    std::function<void(bool)> done;
    void ended(bool ok) {
      answered = answered && ok;
      if (--left == 0) done(answered);
    }
  };
  const std::set<api::ResourceId> kinds = std::exchange(doubtful_kinds_, {});
  std::set<ObjectKey> objects = std::exchange(doubtful_objects_, {});
  std::erase_if(objects, [&](const ObjectKey& key) { return kinds.contains(key.first); });
  auto fetch = std::make_shared<Fetch>(Fetch{kinds.size() + objects.size(), true, std::move(done)});
  for (const api::ResourceId& kind : kinds)
    client.call({.verb = client::Verb::kList, .resource = kind, .ns = {}, .name = {}, .subresource = {}},
                [this, kind, fetch](Result<Json> list) {
                  if (list.ok()) {
                    std::erase_if(objects_, [&](const auto& one) { return one.first.first == kind; });
                    for (const Json& object : (*list)["items"].items()) objects_[{kind, api::key_of(object)}] = object;
                    kinds_.insert(kind);
                  }
                  fetch->ended(list.ok());
                });
  for (const ObjectKey& key : objects) {
    const std::size_t slash = key.second.find('/');
    const bool in_namespace = slash != std::string::npos;
    client.call({.verb = client::Verb::kGet,
                 .resource = key.first,
                 .ns = in_namespace ? key.second.substr(0, slash) : "",
                 .name = in_namespace ? key.second.substr(slash + 1) : key.second,
                 .subresource = {}},
                [this, key, fetch](Result<Json> object) {
                  const bool missing = !object.ok() && object.error().code == base::Code::kNotFound;
                  if (object.ok()) objects_[key] = *std::move(object);
                  if (missing) objects_[key] = std::nullopt;
                  fetch->ended(object.ok() || missing);
                });
  }
}

void review_confirmed(client::Client& client, rt::Loop& loop, const api::ObjectReader& view, Review review,
                      std::function<void(api::AdmissionAnswer)> done) {
  std::make_shared<Confirmation>(client, loop, view, std::move(review), std::move(done))->begin();
}

}  // namespace admission
