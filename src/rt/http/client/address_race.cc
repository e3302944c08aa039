// Which of several addresses of a server connects first?
#include "rt/http/client/address_race.h"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <chrono>
#include <utility>

namespace rt {

namespace asio = boost::asio;

namespace {
constexpr std::chrono::milliseconds kPatience{300};
constexpr std::size_t kUnderWayMax = 8;  // each holds a descriptor; further ones wait until one has failed
}  // namespace

std::vector<AddressRace::Tcp::endpoint> in_turns(const std::vector<AddressRace::Tcp::endpoint>& addresses) {
  std::vector<AddressRace::Tcp::endpoint> families[2];  // the first one's, and the other
  for (const auto& one : addresses) families[one.protocol() == addresses.front().protocol() ? 0 : 1].push_back(one);
  std::vector<AddressRace::Tcp::endpoint> out;
  for (std::size_t i = 0; i < std::max(families[0].size(), families[1].size()); ++i)
    for (const auto& family : families)
      if (i < family.size()) out.push_back(family[i]);
  return out;
}

AddressRace::AddressRace(asio::io_context& context, std::vector<Tcp::endpoint> addresses, Done done)
    : context_(context), addresses_(std::move(addresses)), done_(std::move(done)), patience_(context) {}

void AddressRace::start() { try_next(); }

void AddressRace::try_next() {
  const std::size_t which = tried_.size();
  ++under_way_;
  tried_.emplace_back(context_).async_connect(
      addresses_[which], [self = shared_from_this(), which](ErrorCode error) { self->answered(which, error); });
  patience_.cancel();
  if (tried_.size() == addresses_.size() || under_way_ == kUnderWayMax) return;
  patience_.expires_after(kPatience);
  patience_.async_wait([self = shared_from_this(), which](ErrorCode error) {
    // One that ran out just before it was cancelled no longer counts.
    if (!error && self->done_ && !self->cancelled_ && self->tried_.size() == which + 1) self->try_next();
  });
}

void AddressRace::answered(std::size_t which, ErrorCode error) {
  --under_way_;
  if (!done_) return;
  if (cancelled_) error = asio::error::operation_aborted;
  if (!error) return end({std::move(tried_[which]), {}, addresses_[which]});
  if (!failure_) {
    failure_ = error;
    failed_ = addresses_[which];
  }
  ErrorCode ignored;
  tried_[which].close(ignored);
  if (!cancelled_ && tried_.size() < addresses_.size()) return try_next();
  if (under_way_ == 0) end({Tcp::socket(context_), failure_, failed_});
}

void AddressRace::cancel() {
  if (!done_) return;
  cancelled_ = true;
  close_all();  // the last of them to hear of it ends the race
}

void AddressRace::close_all() {
  patience_.cancel();
  ErrorCode ignored;
  for (Tcp::socket& one : tried_) one.close(ignored);
}

void AddressRace::end(End end) {
  close_all();
  std::exchange(done_, nullptr)(std::move(end));
}

}  // namespace rt
