// The API server refuses requests: now and then, and for a while, those of some resource are forbidden, invalid, or too
// many. A refused request is not carried out in any part.
#include <algorithm>
#include <utility>

#include "api/kinds.h"
#include "base/format.h"
#include "client/client.h"
#include "sim/faults/all.h"
#include "sim/world/network_client.h"
#include "sim/world/world.h"

namespace sim {

namespace {

constexpr std::string_view kEverything = "*";

constexpr std::pair<std::string_view, base::Code> kCodes[] = {
    {"bad-request", base::Code::kBadRequest},
    {"denied", base::Code::kDenied},
    {"forbidden", base::Code::kForbidden},
    {"invalid", base::Code::kInvalid},
    {"too-many-requests", base::Code::kTooManyRequests},
};

std::vector<std::string> code_names() {
  std::vector<std::string> names;
  for (const auto& [name, code] : kCodes) names.emplace_back(name);
  return names;
}

// As rules of access name them, so that "pods" are not "pods/binding".
std::vector<std::string> resource_names() {
  std::vector<std::string> names = {std::string(kEverything)};
  for (const api::KindInfo& kind : api::all_kinds()) {
    names.push_back(kind.resource.plural);
    if (kind.status_subresource) names.push_back(kind.resource.plural + "/status");
    for (const std::string& subresource : kind.subresources) names.push_back(kind.resource.plural + "/" + subresource);
  }
  return names;
}

std::vector<std::string> part_names() {
  std::vector<std::string> names;
  for (const PartKind& kind : all_parts()) names.emplace_back(kind.name);
  return names;
}

std::vector<std::string> or_else(std::vector<std::string> given, std::vector<std::string> fallback) {
  return given.empty() ? std::move(fallback) : std::move(given);
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

class Refusals final : public Fault {
 public:
  Refusals(World& world, Settings& settings, base::Random& dice)
      : world_(world),
        dice_(dice.next()),
        chance_(settings.fraction("chance", 1, dice)),
        every_(settings.pause_range("every", {2'000'000'000, 20'000'000'000})),
        lasts_(settings.span_range("lasts", {1'000'000'000, 15'000'000'000})),
        codes_(or_else(settings.known_words("codes", code_names()), code_names())),
        resources_(or_else(settings.known_words("resources", resource_names()), {std::string(kEverything)})),
        verbs_(or_else(settings.known_words("verbs", {"get", "list", "watch", "create", "update", "patch", "delete",
                                                      "deletecollection"}),
                       {"create", "update", "patch", "delete", "deletecollection"})) {
    // People are not refused: what they do then is no matter of ours.
    for (const std::string& part : or_else(settings.known_words("who", part_names()), part_names()))
      users_.push_back(user_of(part));
  }

  void begin() override {
    world_.network().faults.refuse.push_back([this](const Asked& asked) { return judge(asked); });
    arm();
  }

  void heal() override {
    healed_ = true;
    resource_.clear();
    world_.chronicle().record(base::format("{} requests were refused", refused_));
  }

 private:
  static std::string user_of(std::string_view part) {
    for (const PartKind& kind : all_parts()) {
      if (kind.name == part) return std::string(kind.client);
    }
    return {};
  }

  void arm() {
    world_.after({every_.draw(dice_)}, [this] {
      if (healed_) return;
      resource_ = resources_[dice_.below(resources_.size())];
      const std::string& code = codes_[dice_.below(codes_.size())];
      word_ = code;
      code_ = std::find_if(std::begin(kCodes), std::end(kCodes), [&](const auto& one) {
                return one.first == code;
              })->second;
      const base::Duration lasts{lasts_.draw(dice_)};
      world_.chronicle().record(
          base::format("fault: {} is refused for {}: {}", resource_, base::format_go_duration(lasts), code));
      world_.after(lasts, [this] {
        resource_.clear();
        arm();
      });
    });
  }

  std::optional<base::Error> judge(const Asked& asked) {
    if (resource_.empty() || !contains(users_, asked.user) || !contains(verbs_, asked.verb)) return std::nullopt;
    std::string what = asked.resource.plural;
    if (!asked.subresource.empty()) what += base::format("/{}", asked.subresource);
    if (resource_ != kEverything && resource_ != what) return std::nullopt;
    if (!dice_.chance(chance_)) return std::nullopt;
    ++refused_;
    base::Error error =
        base::make_error(code_, base::format("{} \"{}\": the rules of this world refuse to {} it for {} ({})", what,
                                             asked.name, asked.verb, asked.user, word_));
    if (code_ == base::Code::kTooManyRequests) error.retry_after_seconds = 1;
    return error;
  }

  World& world_;
  base::Random dice_;
  double chance_;
  Settings::Range every_;
  Settings::Range lasts_;
  std::vector<std::string> codes_;
  std::vector<std::string> resources_;
  std::vector<std::string> verbs_;
  std::vector<std::string> users_;
  std::string resource_;  // what is refused at the moment; empty: nothing
  base::Code code_ = base::Code::kForbidden;
  std::string word_;  // for the code
  std::uint64_t refused_ = 0;
  bool healed_ = false;
};

}  // namespace

std::unique_ptr<Fault> make_refuse(World& world, Settings& settings, base::Random& dice) {
  return std::make_unique<Refusals>(world, settings, dice);
}

}  // namespace sim
