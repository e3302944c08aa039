// Pauses by the number of tries, and which refusals are about the object alone.
#include "controllers/framework/refusals.h"

#include <algorithm>
#include <array>

#include "api/schema/quantity.h"
#include "base/format.h"
#include "controllers/framework/execution.h"
#include "controllers/framework/pauses.h"

namespace controllers {

namespace {

constexpr base::Duration kFirstPause = base::seconds(1);
constexpr base::Duration kPauseMax = base::seconds(30);
// An outage is often over at once.
constexpr base::Duration kFirstOutagePause = base::milliseconds(5);
// An object that is wrong is given up after about three minutes.
constexpr base::Duration kForEverPauseMax = base::seconds(16);
// Many jobs may wait for one quota, and each of its changes wakes them all.
constexpr base::Duration kHastenedPauseMax = base::seconds(10);

// Fields of a pod that LimitRanges, RuntimeClasses and PriorityClasses fill in.
constexpr std::array<std::string_view, 6> kFilledIn = {".resources",       "spec.overhead",    "spec.priority",
                                                       "runtimeClassName", "preemptionPolicy", "spec.tolerations"};

bool is_filled_in(std::string_view text) {
  return std::ranges::any_of(kFilledIn,
                             [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

// "pods=1,requests.cpu=2" behind `word`.
std::map<std::string, api::Quantity> amounts_after(std::string_view message, std::string_view word) {
  std::map<std::string, api::Quantity> amounts;
  const std::size_t at = message.find(word);
  if (at == std::string_view::npos) return amounts;
  std::string_view list = message.substr(at + word.size());
  list = list.substr(0, list.find(", "));
  while (!list.empty()) {
    const std::string_view one = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), one.size() + 1));
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos) continue;
    if (const auto amount = api::Quantity::parse(one.substr(equals + 1)))
      amounts[std::string(one.substr(0, equals))] = *amount;
  }
  return amounts;
}

}  // namespace

bool can_never_be(const base::Error& error) {
  // A webhook and a policy may answer with any code.
  if (error.message.find("admission webhook \"") != std::string::npos ||
      error.message.find("ValidatingAdmissionPolicy '") != std::string::npos)
    return false;
  if (error.code == base::Code::kTooLarge || error.code == base::Code::kBadRequest) return true;
  if (error.code != base::Code::kInvalid) return false;
  if (error.causes.empty()) return !is_filled_in(error.message);
  return !std::ranges::all_of(error.causes, [](const base::Cause& cause) { return is_filled_in(cause.field); });
}

std::string shortfall_of(std::string_view message) {
  if (message.find("exceeded quota: ") == std::string_view::npos) return {};
  const auto requested = amounts_after(message, "requested: ");
  const auto used = amounts_after(message, "used: ");
  const auto limited = amounts_after(message, "limited: ");
  std::string text;
  for (const auto& [name, amount] : requested) {
    const auto have = used.find(name);
    const auto limit = limited.find(name);
    if (have == used.end() || limit == limited.end()) continue;
    const api::Quantity missing = amount + have->second - limit->second;
    if (missing <= api::Quantity()) continue;
    text += base::format("{}{}={}", text.empty() ? "short of " : ",", name, missing.to_string());
  }
  return text;
}

bool quota_may_have_room(const api::Json* before, const api::Json* after) {
  if (!before || !after) return before != nullptr;
  if ((*before)["spec"] != (*after)["spec"] || (*before)["status"]["hard"] != (*after)["status"]["hard"]) return true;
  const auto now = api::resource_list_from((*after)["status"]["used"]);
  for (const auto& [name, amount] : api::resource_list_from((*before)["status"]["used"]))
    if (const auto found = now.find(name); found == now.end() || found->second < amount) return true;
  return false;
}

void Refusals::record(const std::string& what, const base::Error& error, bool made, base::Time now) {
  One& one = refused_[what];
  const bool outage = is_outage(error);
  const bool for_ever = can_never_be(error);
  one.tries = made || one.outage != outage || one.for_ever != for_ever ? 1 : one.tries + 1;
  one.text = error.message;
  one.outage = outage;
  one.for_ever = for_ever;
  one.last = now;
  one.pause = doubled(outage ? kFirstOutagePause : kFirstPause, one.tries, for_ever ? kForEverPauseMax : kPauseMax);
}

void Refusals::hasten() {
  for (auto& [what, one] : refused_)
    if (!one.for_ever && !one.outage) one.pause = std::min({one.pause, kFirstPause * one.tries, kHastenedPauseMax});
}

base::Duration Refusals::left(const std::string& what, base::Time now) const {
  const auto found = refused_.find(what);
  return found == refused_.end() ? base::Duration{}
                                 : pause_left(found->second.last + found->second.pause, now, kPauseMax);
}

void RefusedKeys::set(const std::string& key, bool is_refused) {
  const std::string ns = key.substr(0, key.find('/'));
  if (is_refused) {
    keys_[ns].insert(key);
  } else if (const auto found = keys_.find(ns); found != keys_.end()) {
    found->second.erase(key);
    if (found->second.empty()) keys_.erase(found);
  }
}

std::vector<std::string> RefusedKeys::of(const std::string& ns) const {
  std::vector<std::string> out;
  for (const auto& [one, keys] : keys_)
    if (ns.empty() || ns == one) out.insert(out.end(), keys.begin(), keys.end());
  return out;
}

const std::string* Refusals::given_up(int tries_max) const {
  for (const auto& [what, one] : refused_)
    if (one.for_ever && one.tries > tries_max) return &one.text;
  return nullptr;
}

}  // namespace controllers
