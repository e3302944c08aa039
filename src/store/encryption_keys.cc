// Lines, names, and what must not be told of a key.
#include "store/encryption_keys.h"

#include <algorithm>

#include "base/base64.h"
#include "base/format.h"
#include "base/split.h"
#include "rt/tls/sealing.h"
#include "rt/tls/tls.h"

namespace store {
namespace {

constexpr std::size_t kKeysMax = 64, kNameBytesMax = 63;
constexpr std::string_view kIdentity = "identity";

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kNameBytesMax && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  });
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t from = text.find_first_not_of(" \t\r");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t\r") - from + 1);
}

// A line may be all of a secret, so that it is never repeated in a message.
base::Result<EncryptionKey> parse_line(std::string_view line) {
  if (line == kIdentity) return EncryptionKey{.name = std::string(line), .bytes = {}, .check = {}};
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_name(line.substr(0, colon)))
    return base::make_error(base::Code::kInvalid,
                            "it is not a NAME:KEY with a name of at most 63 letters, digits, '.', '_' and '-'");
  EncryptionKey key{.name = std::string(line.substr(0, colon)), .bytes = {}, .check = {}};
  if (key.name == kIdentity)
    return base::make_error(base::Code::kInvalid, "the name \"identity\" means plain text, and has no key");
  auto bytes = base::base64_decode(without_blanks(line.substr(colon + 1)));
  if (!bytes.ok())
    return base::make_error(base::Code::kInvalid, base::format("the key \"{}\" is not valid base64", key.name));
  if (bytes->size() != rt::kSealingKeyBytes)
    return base::make_error(base::Code::kInvalid, base::format("the key \"{}\" has {} bytes; AES-256 needs {}",
                                                               key.name, bytes->size(), rt::kSealingKeyBytes));
  key.bytes = *std::move(bytes);
  key.check = rt::sha256_hex("volcano encryption key check " + key.name + " " + key.bytes).substr(0, 16);
  return key;
}

}  // namespace

base::Result<EncryptionKeys> EncryptionKeys::parse(std::string_view text) {
  EncryptionKeys keys;
  int number = 0;
  for (const std::string_view raw : base::split(text, '\n')) {
    ++number;
    const std::string_view line = without_blanks(raw);
    if (line.empty() || line.front() == '#') continue;
    auto key = parse_line(line);
    if (!key.ok()) return base::within(key.take_error(), base::format("line {}", number));
    if (keys.find(key->name) != nullptr)
      return base::make_error(base::Code::kInvalid,
                              base::format("line {}: the name \"{}\" is there twice", number, key->name));
    if (keys.keys_.size() == kKeysMax)
      return base::make_error(base::Code::kInvalid, base::format("it has more than {} keys", kKeysMax));
    keys.keys_.push_back(*std::move(key));
  }
  if (keys.keys_.empty()) return base::make_error(base::Code::kInvalid, "it has no key (a line NAME:KEY)");
  return keys;
}

const EncryptionKey* EncryptionKeys::writing() const {
  return keys_.empty() || keys_.front().bytes.empty() ? nullptr : &keys_.front();
}

const EncryptionKey* EncryptionKeys::find(std::string_view name) const {
  const auto at = std::ranges::find(keys_, name, &EncryptionKey::name);
  return at == keys_.end() ? nullptr : &*at;
}

}  // namespace store
