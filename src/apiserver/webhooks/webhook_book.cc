// Webhooks by the names of their configurations.
#include "apiserver/webhooks/webhook_book.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/kinds.h"

namespace apiserver {

namespace policies = api::policies;

struct WebhookBook::State {
  // By name first: that is the order in which mutating ones are called.
  std::map<std::pair<std::string, std::uint32_t>, std::vector<policies::WebhookPtr>> configurations;
  std::shared_ptr<const policies::WebhookSet> set;
  bool stale = true;

  void put(std::uint32_t resource, const std::string& name, const api::Json& object) {
    stale = true;
    if (object.is_null())
      configurations.erase({name, resource});
    else
      configurations[{name, resource}] = policies::read_webhooks(object);
  }

  void rebuild() {
    std::vector<policies::WebhookPtr> all;
    for (const auto& [key, webhooks] : configurations) all.insert(all.end(), webhooks.begin(), webhooks.end());
    set = all.empty() ? nullptr : std::make_shared<const policies::WebhookSet>(std::move(all));
    stale = false;
  }
};

WebhookBook::WebhookBook(store::Store& store) : store_(store) {}
WebhookBook::~WebhookBook() = default;

std::shared_ptr<const policies::WebhookSet> WebhookBook::current() {
  if (!state_) {
    state_ = std::make_shared<State>();
    for (const api::ResourceId& id : {policies::kMutatingWebhooks, policies::kValidatingWebhooks}) {
      const auto index = static_cast<std::uint32_t>(api::find_kind(id) - api::all_kinds().data());
      store_.for_each(index, "", "", store::View::kLatest, [&](const store::ObjectPtr& object) {
        state_->put(index, object->name, object->json());
        return true;
      });
      store_.on_latest(index, [state = state_, index](const store::ObjectPtr& before, const store::ObjectPtr& after) {
        if (before || after) state->put(index, (after ? after : before)->name, after ? after->json() : api::Json());
      });
    }
  }
  if (state_->stale) state_->rebuild();
  return state_->set;
}

}  // namespace apiserver
