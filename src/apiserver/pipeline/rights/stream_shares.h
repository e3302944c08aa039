// Streams into pods (commands, attached clients, ports): how many of them each user may have open, and how many are
// kept for administrators, so that one tenant's streams leave room for those of everybody else.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "api/pod_streams.h"
#include "apiserver/pipeline/request/request.h"
#include "base/result.h"
#include "rt/env.h"

namespace apiserver {

// The name, for messages, of the share that a user takes of something. The service accounts of a namespace are one,
// because whoever may make one of them may make a hundred.
std::string owner_of_share(const UserInfo& user);

// Loop thread only. The shares live as long as a stream holds one of them.
class StreamShares : public std::enable_shared_from_this<StreamShares> {
 public:
  struct Limits {
    int all = 256;
    int connections = 192;  // of them to ports, so that commands have room
    int of_a_user = 64;     // the service accounts of a namespace are one user
    int kept_for_administrators = 32;
  };
  enum class Use : std::uint8_t { kCommand, kConnection };
  struct Counts {
    int open = 0;
    std::uint64_t refused_by_share = 0;  // their user had as many as a user may have
    std::uint64_t refused_full = 0;      // all that this user may take were taken
  };

  // Streams end on any thread, and are given back on the loop of `env`.
  StreamShares(rt::Env& env, const Limits& limits) : env_(env), limits_(limits) {}

  // Begins a stream of this user, which is counted until its on_end. kTooManyRequests says which limit it met.
  using Begin = std::function<api::PodStreams::Opened(api::PodStreamEvents)>;
  api::PodStreams::Opened open(const UserInfo& user, Use use, api::PodStreamEvents events, const Begin& begin);
  const Counts& counts() const { return counts_; }

 private:
  base::Status take(const std::string& owner, bool administrator, Use use);
  void give_back(const std::string& owner, Use use);

  rt::Env& env_;
  const Limits limits_;
  std::map<std::string, int> owners_;
  int connections_ = 0;
  Counts counts_;
};

}  // namespace apiserver
