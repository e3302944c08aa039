// Which connections a server keeps when there are many. Connections whose peers were recognized have seats of their
// own; of the others ("strangers": nothing that was asked over them has shown who asks) each address may have some, and
// the one that has been a stranger for longest makes room for the next. A flood from one address so costs its own
// peers, and whoever shows soon who it is gets in.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

namespace rt {

// Thread-safe.
class ConnectionShares {
 public:
  struct Limits {
    int all = 4096;
    int strangers = 3072;      // of them: the others are kept for peers that are recognized
    int of_an_address = 1024;  // strangers
    int of_a_user = 1024;      // recognized; of those without a share as many as there are
  };
  struct Counts {
    int strangers = 0;
    int recognized = 0;
    std::uint64_t ended = 0;    // strangers that made room
    std::uint64_t refused = 0;  // connections: all seats are taken by recognized peers, or all of the user's
  };
  using Id = std::uint64_t;
  struct Beginning {
    Id id = 0;  // 0: there is no seat
    std::optional<Id> makes_room;
  };

  explicit ConnectionShares(const Limits& limits) : limits_(limits) {}

  // A connection from this address begins, as a stranger. The one that makes room is counted no more.
  Beginning begin(const std::string& address);
  // Over this connection its peer was recognized; again: nothing changes. False: the user has as many as one may have,
  // and this one stays a stranger. `user` is empty for those who have no share.
  bool recognize(Id id, const std::string& user);
  void end(Id id);
  Counts counts() const;

  // The address that a peer counts for: of IPv6 a network of 64 bits, which a single machine has.
  static std::string share_of(const std::string& address);

 private:
  struct Peer {
    std::string address;  // of a stranger
    std::string user;
    bool recognized = false;
  };
  void forget_stranger(Id id, const std::string& address);
  std::optional<Id> oldest_of_most() const;

  const Limits limits_;
  mutable std::mutex mutex_;
  std::unordered_map<Id, Peer> peers_;
  std::map<std::string, std::set<Id>> strangers_;  // by address; the first came first
  std::map<std::string, int> users_;
  Id last_ = 0;
  Counts counts_;
};

}  // namespace rt
