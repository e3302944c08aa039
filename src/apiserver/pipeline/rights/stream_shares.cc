// Counts of open streams, by user.
#include "apiserver/pipeline/rights/stream_shares.h"

#include <utility>

#include "apiserver/pipeline/rights/roles.h"
#include "base/format.h"
#include "base/quote.h"

namespace apiserver {

std::string owner_of_share(const UserInfo& user) {
  constexpr std::string_view kAccounts = "system:serviceaccount:";
  const std::size_t end = user.name.starts_with(kAccounts) ? user.name.find(':', kAccounts.size()) : std::string::npos;
  if (end == std::string::npos) return "user " + base::go_quoted(user.name);
  return base::format("namespace {}, by its service accounts,",
                      base::go_quoted(user.name.substr(kAccounts.size(), end - kAccounts.size())));
}

base::Status StreamShares::take(const std::string& owner, bool administrator, Use use) {
  const int kept = administrator ? 0 : limits_.kept_for_administrators;
  const auto full = [&](int most, const char* what) {
    ++counts_.refused_full;
    return base::make_error(
        base::Code::kTooManyRequests,
        base::format("{} {} into pods are open{}, please try again later", most - kept, what,
                     kept > 0 ? base::format(", and {} more are kept for administrators", kept) : std::string()));
  };
  if (counts_.open >= limits_.all - kept) return full(limits_.all, "streams");
  if (use == Use::kConnection && connections_ >= limits_.connections - kept)
    return full(limits_.connections, "connections");
  int& own = owners_[owner];
  if (!administrator && own >= limits_.of_a_user) {
    ++counts_.refused_by_share;
    return base::make_error(base::Code::kTooManyRequests,
                            base::format("{} has {} streams into pods open, as many as a user may have; please try "
                                         "again when one of them has ended",
                                         owner, own));
  }
  ++own;
  ++counts_.open;
  connections_ += use == Use::kConnection ? 1 : 0;
  return {};
}

void StreamShares::give_back(const std::string& owner, Use use) {
  const auto own = owners_.find(owner);
  if (--own->second == 0) owners_.erase(own);
  --counts_.open;
  connections_ -= use == Use::kConnection ? 1 : 0;
}

api::PodStreams::Opened StreamShares::open(const UserInfo& user, Use use, api::PodStreamEvents events,
                                           const Begin& begin) {
  const std::string owner = owner_of_share(user);
  TRY_VOID(take(owner, is_administrator(user), use));
  // Given back with the last copy of on_end, also where a stream never began.
  std::shared_ptr<const void> share(nullptr, [self = shared_from_this(), owner, use](const void*) {
    self->env_.loop().post([self, owner, use] { self->give_back(owner, use); });
  });
  events.on_end = [share, on_end = std::move(events.on_end)](base::Result<int> how) mutable {
    share.reset();
    on_end(std::move(how));
  };
  return begin(std::move(events));
}

}  // namespace apiserver
