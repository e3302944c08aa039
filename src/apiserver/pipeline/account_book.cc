// The uids of all service accounts, as they are written.
#include "apiserver/pipeline/account_book.h"

#include <mutex>
#include <shared_mutex>
#include <unordered_set>

#include "api/kinds.h"

namespace apiserver {

struct AccountBook::State {
  std::shared_mutex mutex;
  std::unordered_set<std::string> uids;
};

AccountBook::AccountBook(store::Store& store) : store_(store), state_(std::make_shared<State>()) {}
AccountBook::~AccountBook() = default;

bool AccountBook::knows(const std::string& uid) const {
  const std::shared_lock lock(state_->mutex);
  return state_->uids.contains(uid);
}

void AccountBook::begin() {
  const auto index =
      static_cast<std::uint32_t>(api::find_kind(api::resources::kServiceAccounts) - api::all_kinds().data());
  const auto change = [state = state_](const store::ObjectPtr& before, const store::ObjectPtr& after) {
    const std::lock_guard lock(state->mutex);
    if (before) state->uids.erase(before->uid);
    if (after) state->uids.insert(after->uid);
  };
  store_.for_each(index, "", "", store::View::kLatest, [&](const store::ObjectPtr& object) {
    change(nullptr, object);
    return true;
  });
  store_.on_latest(index, change);
}

}  // namespace apiserver
