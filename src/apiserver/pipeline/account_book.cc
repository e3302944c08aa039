// The uids of all service accounts, made anew at most once in a turn of the loop.
#include "apiserver/pipeline/account_book.h"

#include <atomic>
#include <set>
#include <unordered_set>

#include "api/kinds.h"

namespace apiserver {

struct AccountBook::State {
  std::set<std::string> uids;
  bool due = false;
  std::atomic<std::shared_ptr<const std::unordered_set<std::string>>> current{
      std::make_shared<const std::unordered_set<std::string>>()};

  void rebuild() {
    due = false;
    current = std::make_shared<const std::unordered_set<std::string>>(uids.begin(), uids.end());
  }
};

AccountBook::AccountBook(rt::Env& env, store::Store& store)
    : env_(env), store_(store), state_(std::make_shared<State>()) {}
AccountBook::~AccountBook() = default;

bool AccountBook::knows(const std::string& uid) const { return state_->current.load()->contains(uid); }

void AccountBook::begin() {
  const auto index =
      static_cast<std::uint32_t>(api::find_kind(api::resources::kServiceAccounts) - api::all_kinds().data());
  store_.for_each(index, "", "", store::View::kLatest, [this](const store::ObjectPtr& object) {
    state_->uids.insert(object->uid);
    return true;
  });
  store_.on_latest(index, [state = state_, &env = env_](const store::ObjectPtr& before, const store::ObjectPtr& after) {
    if (before) state->uids.erase(before->uid);
    if (after) state->uids.insert(after->uid);
    if (std::exchange(state->due, true)) return;
    env.loop().post([state] { state->rebuild(); });
  });
  state_->rebuild();
}

}  // namespace apiserver
