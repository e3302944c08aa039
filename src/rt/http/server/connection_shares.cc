// Counts by address and by user.
#include "rt/http/server/connection_shares.h"

#include <arpa/inet.h>

#include <algorithm>

namespace rt {

std::string ConnectionShares::share_of(const std::string& address) {
  in6_addr six{};
  if (::inet_pton(AF_INET6, address.c_str(), &six) != 1) return address;
  std::fill(six.s6_addr + 8, six.s6_addr + 16, std::uint8_t{0});
  char text[INET6_ADDRSTRLEN] = {};
  ::inet_ntop(AF_INET6, &six, text, sizeof text);
  return std::string(text) + "/64";
}

void ConnectionShares::forget_stranger(Id id, const std::string& address) {
  const auto found = strangers_.find(address);
  found->second.erase(id);
  if (found->second.empty()) strangers_.erase(found);
  --counts_.strangers;
}

// The oldest stranger of the address that has the most.
std::optional<ConnectionShares::Id> ConnectionShares::oldest_of_most() const {
  const auto most = std::ranges::max_element(strangers_, {}, [](const auto& entry) { return entry.second.size(); });
  if (most == strangers_.end()) return std::nullopt;
  return *most->second.begin();
}

ConnectionShares::Beginning ConnectionShares::begin(const std::string& address) {
  const std::string share = share_of(address);
  const std::lock_guard lock(mutex_);
  std::optional<Id> goes;
  const auto own = strangers_.find(share);
  if (own != strangers_.end() && static_cast<int>(own->second.size()) >= limits_.of_an_address)
    goes = *own->second.begin();
  else if (counts_.strangers >= limits_.strangers || counts_.strangers + counts_.recognized >= limits_.all)
    goes = oldest_of_most();
  if (!goes && counts_.strangers + counts_.recognized >= limits_.all) {
    ++counts_.refused;
    return {};
  }
  if (goes) {
    const auto gone = peers_.find(*goes);
    forget_stranger(*goes, gone->second.address);
    peers_.erase(gone);
    ++counts_.ended;
  }
  const Id id = ++last_;
  peers_.emplace(id, Peer{.address = share, .user = {}, .recognized = false});
  strangers_[share].insert(id);
  ++counts_.strangers;
  return {id, goes};
}

bool ConnectionShares::recognize(Id id, const std::string& user) {
  const std::lock_guard lock(mutex_);
  const auto found = peers_.find(id);
  if (found == peers_.end() || found->second.recognized) return true;  // it is ending, or known
  if (!user.empty()) {
    int& own = users_[user];
    if (own >= limits_.of_a_user) {
      ++counts_.refused;
      return false;
    }
    ++own;
  }
  forget_stranger(id, found->second.address);
  found->second = {.address = {}, .user = user, .recognized = true};
  ++counts_.recognized;
  return true;
}

void ConnectionShares::end(Id id) {
  const std::lock_guard lock(mutex_);
  const auto found = peers_.find(id);
  if (found == peers_.end()) return;
  const Peer peer = std::move(found->second);
  peers_.erase(found);
  if (!peer.recognized) return forget_stranger(id, peer.address);
  --counts_.recognized;
  if (peer.user.empty()) return;
  const auto own = users_.find(peer.user);
  if (--own->second == 0) users_.erase(own);
}

ConnectionShares::Counts ConnectionShares::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace rt
