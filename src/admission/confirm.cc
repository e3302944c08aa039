// Reads of the server for what a refusal rests on.
#include "admission/confirm.h"

#include "api/resource.h"
#include "base/format.h"

namespace admission {

using api::Json;
using base::Result;

namespace {

// COMPAT(confirmed-refusals)
// What the server says may lead a rule to look at something else; it does so a few times at most.
constexpr int kRoundsMax = 3;

std::string key_for(std::string_view ns, std::string_view name) {
  return ns.empty() ? std::string(name) : base::format("{}/{}", ns, name);
}

struct Confirmation : std::enable_shared_from_this<Confirmation> {
  Confirmation(client::Client& c, const api::ObjectReader& view, Review r, std::function<void(api::AdmissionAnswer)> d)
      : client(c), reader(view), review(std::move(r)), done(std::move(d)) {}

  client::Client& client;
  Confirming reader;
  Review review;
  std::function<void(api::AdmissionAnswer)> done;
  int rounds = 0;

  void look() {
    api::AdmissionAnswer answer = review(reader);
    if (answer.allowed || !reader.has_doubts() || rounds++ == kRoundsMax) return done(std::move(answer));
    reader.fetch(client, [self = shared_from_this(), answer = std::move(answer)](bool answered) {
      if (!answered) return self->done(answer);
      self->look();
    });
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

void review_confirmed(client::Client& client, const api::ObjectReader& view, Review review,
                      std::function<void(api::AdmissionAnswer)> done) {
  std::make_shared<Confirmation>(client, view, std::move(review), std::move(done))->look();
}

}  // namespace admission
