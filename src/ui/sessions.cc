// Codes and cookies as sealed lists: the end, the user; the proof follows from the seal, which differs each time.
#include "ui/sessions.h"

#include <algorithm>
#include <utility>

#include "api/json/json.h"
#include "base/base64.h"
#include "rt/tls/sealing.h"
#include "rt/tls/tls.h"

namespace ui {
namespace {

using base::Code;
using base::make_error;

constexpr std::size_t kTextMax = 8192;                // of a cookie; browsers keep 4,096
constexpr std::size_t kUsedMax = 100'000;             // codes of an hour
constexpr std::int64_t kNanoseconds = 1'000'000'000;  // of a second
constexpr const char* kNotOurs = "the session is not one of this server";

int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

std::string key_from(std::string_view secret) {
  const std::string hex = rt::sha256_hex("volcano page\n" + std::string(secret));
  std::string key;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) key += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  key.resize(rt::kSealingKeyBytes);
  return key;
}

base::Error refused(const char* why) { return make_error(Code::kUnauthorized, why); }

}  // namespace

Sessions::Sessions(std::string_view secret, std::string_view purpose, base::Duration code_life)
    : key_(key_from(secret)),
      code_use_(std::string(purpose) + ": code"),
      session_use_(std::string(purpose) + ": session"),
      code_life_(code_life) {}

std::string Sessions::make_code(const Visitor& visitor, base::Time now) const {
  return sealed(visitor, now + code_life_, code_use_);
}

base::Result<std::string> Sessions::redeem(std::string_view code, base::Time now) {
  TRY(const Session found, opened(code, now, code_use_));
  std::erase_if(used_, [now](const auto& one) { return one.second <= now; });
  if (used_.size() >= kUsedMax) return refused("too many links were used in the last hour");
  // Base64 has several texts for one code; its proof is one.
  if (!used_.emplace(found.proof, found.until).second) return refused("this link was used already");
  return make_session(found.visitor, now, now + kSessionLife);
}

std::string Sessions::make_session(const Visitor& visitor, base::Time now, base::Time until) const {
  return sealed(visitor, std::min(until, now + kSessionLife), session_use_);
}

base::Result<Session> Sessions::read(std::string_view cookie, base::Time now) const {
  return opened(cookie, now, session_use_);
}

// A list: the end in seconds, the name, the uid, the token, the groups. Short, because a person may have to copy a
// link; JSON, because a name may have any letters.
std::string Sessions::sealed(const Visitor& visitor, base::Time until, std::string_view use) const {
  api::Json content = api::Json::array({until.ns / kNanoseconds, visitor.name, visitor.uid, visitor.token});
  for (const std::string& group : visitor.groups) content.push_back(group);
  return base::base64url_encode(rt::seal(key_, content.dump(), use));
}

base::Result<Session> Sessions::opened(std::string_view text, base::Time now, std::string_view use) const {
  constexpr std::size_t kNonceBytes = 12;  // with which a seal begins
  if (text.size() > kTextMax) return refused(kNotOurs);
  const auto bytes = base::base64url_decode(text);
  if (!bytes.ok() || bytes->size() < kNonceBytes) return refused(kNotOurs);
  const auto plain = rt::unseal(key_, *bytes, use);
  if (!plain) return refused(kNotOurs);
  TRY(const api::Json content, api::parse_json(*plain));
  Session out{
      .visitor = {content[std::size_t{1}].str(), {}, content[std::size_t{2}].str(), content[std::size_t{3}].str()}};
  for (std::size_t i = 4; i < content.items().size(); ++i) out.visitor.groups.push_back(content[i].str());
  out.until = base::Time{content[std::size_t{0}].as_int() * kNanoseconds};
  if (out.until <= now) return refused("the session is over");
  out.proof = rt::sha256_hex("proof\n" + key_ + bytes->substr(0, kNonceBytes)).substr(0, 32);
  return out;
}

}  // namespace ui
