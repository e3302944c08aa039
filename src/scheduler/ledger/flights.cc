// Which writes are under way, unconfirmed or lost, and does the server's word count meanwhile?
#include "scheduler/ledger/flights.h"

#include <charconv>
#include <utility>

namespace scheduler {

bool is_newer(std::string_view version, std::string_view than) {
  std::uint64_t a = 0, b = 0;
  if (version.empty() || than.empty()) return true;
  const auto parsed_a = std::from_chars(version.data(), version.data() + version.size(), a);
  const auto parsed_b = std::from_chars(than.data(), than.data() + than.size(), b);
  if (parsed_a.ec != std::errc{} || parsed_b.ec != std::errc{}) return version != than;
  return a > b;
}

std::string Flights::flight_key(Entry entry, std::string_view key) {
  std::string out(1, static_cast<char>('a' + static_cast<int>(entry)));
  out += key;
  return out;
}

bool Flights::counts(Entry entry, std::string_view key, std::string_view version) {
  if (flights_.empty()) return true;
  const auto found = flights_.find(flight_key(entry, key));
  if (found == flights_.end()) return true;
  if (found->second.open > 0) {
    found->second.unheard = version;
    return false;
  }
  const std::string& answered = found->second.answered;
  if (!answered.empty() && answered != version && is_newer(answered, version)) return false;
  flights_.erase(found);
  return true;
}

// Writes that are under way end by themselves.
void Flights::forget(Entry entry, std::string_view key) {
  if (flights_.empty()) return;
  const auto found = flights_.find(flight_key(entry, key));
  if (found == flights_.end()) return;
  if (found->second.open == 0)
    flights_.erase(found);
  else
    found->second.is_forgotten = true;
}

void Flights::begin(Entry entry, std::string_view key) {
  Flight& flight = flights_[flight_key(entry, key)];
  ++flight.open;
  flight.is_forgotten = false;
  ++open_[static_cast<std::size_t>(entry)];
}

bool Flights::end(Entry entry, std::string_view key, std::string_view version) {
  const auto found = flights_.find(flight_key(entry, key));
  if (found == flights_.end() || found->second.open == 0) return false;
  Flight& flight = found->second;
  --open_[static_cast<std::size_t>(entry)];
  --flight.open;
  if (!version.empty() && (flight.answered.empty() || is_newer(version, flight.answered))) flight.answered = version;
  if (flight.open > 0) return false;
  const std::string unheard = std::exchange(flight.unheard, {});
  const bool missed = !unheard.empty() && !version.empty() && unheard != version && is_newer(unheard, version);
  if (flight.is_forgotten || (flight.answered.empty() && !flight.is_doubtful)) flights_.erase(found);
  return missed;
}

bool Flights::is_under_way(Entry entry, std::string_view key) const {
  if (flights_.empty()) return false;
  const auto found = flights_.find(flight_key(entry, key));
  return found != flights_.end() && found->second.open > 0;
}

bool Flights::is_doubtful(Entry entry, std::string_view key) const {
  const auto found = flights_.find(flight_key(entry, key));
  return found != flights_.end() && found->second.is_doubtful;
}

}  // namespace scheduler
