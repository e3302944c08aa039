// Which records are Secrets, and their text in and out.
#include "store/sealed_kv.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/format.h"
#include "rt/tls/sealing.h"
#include "rt/tls/tls.h"

namespace store {
namespace {

using base::Code;

constexpr std::string_view kMagic = "volcano:enc:aes-256-gcm:v1:";
constexpr std::string_view kObjects("o/secrets\0", 10);
constexpr std::string_view kHistoryTable = "/secrets";
constexpr std::size_t kRevisionBytes = 8;
constexpr std::size_t kSealedPerCommit = 256;

// How many bytes of a record lie before its text; nothing for what is not a record of Secrets.
std::optional<std::size_t> text_begin(std::string_view key, std::string_view value) {
  if (key.starts_with(kObjects)) return std::min(value.size(), kRevisionBytes);
  if (!key.starts_with('h') || value.empty()) return {};
  const std::size_t end = value.find('\0', 1);  // the byte before is the kind of change
  if (end == std::string_view::npos || value.substr(1, end - 1) != kHistoryTable) return {};
  return end + 1;
}

std::string header_of(const EncryptionKey& key) {
  std::string header = base::format("{}{}:{}:", kMagic, key.name, key.check);
  header += rt::sha256_hex(header).substr(0, 8) + ":";
  return header;
}

std::string associated(std::string_view key, std::string_view before, std::string_view header) {
  std::string text = std::to_string(key.size()) + ":";
  text += key;
  text += before;
  text += header;
  return text;
}

struct Header {
  std::string_view all, name, check;
};

// Empty if the header is damaged.
std::optional<Header> parse_header(std::string_view text) {
  std::size_t ends[3];
  std::size_t at = kMagic.size();
  for (std::size_t& end : ends) {
    end = text.substr(0, 256).find(':', at);
    if (end == std::string_view::npos) return {};
    at = end + 1;
  }
  if (rt::sha256_hex(text.substr(0, ends[1] + 1)).substr(0, 8) != text.substr(ends[1] + 1, ends[2] - ends[1] - 1))
    return {};
  return Header{.all = text.substr(0, at),
                .name = text.substr(kMagic.size(), ends[0] - kMagic.size()),
                .check = text.substr(ends[0] + 1, ends[1] - ends[0] - 1)};
}

// A record as it is on the disk, and what the keys make of it.
struct Opened {
  std::optional<std::string> plain;  // the whole value; unset: it is passed on as it is
  std::string missing;               // the key's name
  bool other = false;                // of the missing key: one of that name is there, and is another
  bool current = false;              // under the key that writes now
};

Opened open_record(const EncryptionKeys& keys, std::string_view key, std::string_view value, std::size_t begin) {
  const std::string_view text = value.substr(begin);
  Opened opened;
  if (!is_sealed(text)) {
    opened.current = keys.writing() == nullptr;
    return opened;
  }
  const auto header = parse_header(text);
  if (!header) return opened;
  const EncryptionKey* with = keys.find(header->name);
  if (with == nullptr || with->check != header->check) {
    opened.missing = header->name;
    opened.other = with != nullptr;
    return opened;
  }
  opened.current = with == keys.writing();
  const std::string_view before = value.substr(0, begin);
  auto plain = rt::unseal(with->bytes, text.substr(header->all.size()), associated(key, before, header->all));
  if (plain) opened.plain = std::string(before) + *plain;
  return opened;
}

// "secrets ml/db", or "history of revision 12".
std::string name_of(std::string_view key) {
  if (key.starts_with(kObjects)) {
    std::string name(key.substr(kObjects.size()));
    std::ranges::replace(name, '\0', '/');
    return "secrets " + name;
  }
  std::uint64_t revision = 0;
  for (const char c : key.substr(1)) revision = revision << 8 | static_cast<unsigned char>(c);
  return base::format("history of revision {}", revision);
}

base::Error missing_key(std::string_view key, const Opened& opened) {
  return base::make_error(
      Code::kInvalid,
      opened.other
          ? base::format("{} is encrypted with another key \"{}\" than the one of that name in "
                         "--encryption-key-file; nothing was changed",
                         name_of(key), opened.missing)
          : base::format(
                "{} is encrypted with the key \"{}\", which --encryption-key-file does not have; nothing was changed",
                name_of(key), opened.missing));
}

class SealingWriter : public rt::KvWriter {
 public:
  SealingWriter(rt::KvWriter& inner, const EncryptionKey& key) : inner_(inner), key_(key), header_(header_of(key)) {}
  void put(std::string_view key, std::string_view value) override {
    const auto begin = text_begin(key, value);
    if (!begin) return inner_.put(key, value);
    std::string sealed(value.substr(0, *begin));
    const std::string text =
        rt::seal(key_.bytes, value.substr(*begin), associated(key, value.substr(0, *begin), header_));
    sealed += header_;
    sealed += text;
    inner_.put(key, sealed);
  }
  void erase(std::string_view key) override { inner_.erase(key); }

 private:
  rt::KvWriter& inner_;
  const EncryptionKey& key_;
  std::string header_;
};

}  // namespace

bool is_sealed(std::string_view text) { return text.starts_with(kMagic); }

SealedKv::SealedKv(std::unique_ptr<rt::KvStore> inner, EncryptionKeys keys, Missing missing)
    : inner_(std::move(inner)), keys_(std::move(keys)), missing_(missing) {}

base::Status SealedKv::commit(const std::function<void(rt::KvWriter&)>& changes) {
  const EncryptionKey* key = keys_.writing();
  if (key == nullptr) return inner_->commit(changes);
  return inner_->commit([&](rt::KvWriter& writer) {
    SealingWriter sealing(writer, *key);
    changes(sealing);
  });
}

base::Status SealedKv::commit_with_reserve(const std::function<void(rt::KvWriter&)>& changes) {
  const EncryptionKey* key = keys_.writing();
  if (key == nullptr) return inner_->commit_with_reserve(changes);
  return inner_->commit_with_reserve([&](rt::KvWriter& writer) {
    SealingWriter sealing(writer, *key);
    changes(sealing);
  });
}

base::Status SealedKv::scan(std::string_view begin, std::string_view end,
                            const std::function<bool(std::string_view, std::string_view)>& visit) const {
  base::Status refused;
  TRY_VOID(inner_->scan(begin, end, [&](std::string_view key, std::string_view value) {
    const auto text = text_begin(key, value);
    if (!text) return visit(key, value);
    const Opened opened = open_record(keys_, key, value, *text);
    if (opened.missing.empty()) return visit(key, opened.plain ? std::string_view(*opened.plain) : value);
    if (missing_ == Missing::kPassOver) return true;
    refused = missing_key(key, opened);
    return false;
  }));
  return refused;
}

base::Status SealedKv::seal_all() {
  for (const auto& [first, last] : {std::pair("h", "i"), std::pair("o/secrets", "o/secrett")}) {
    std::string from = first;
    for (;;) {
      std::vector<std::pair<std::string, std::string>> batch;
      TRY_VOID(inner_->scan(from, last, [&](std::string_view key, std::string_view value) {
        const auto text = text_begin(key, value);
        if (!text) return true;
        Opened opened = open_record(keys_, key, value, *text);
        // A record that cannot be opened stays as it is.
        if (opened.current || (!opened.plain && is_sealed(value.substr(*text)))) return true;
        batch.emplace_back(key, opened.plain ? *std::move(opened.plain) : std::string(value));
        return batch.size() < kSealedPerCommit;
      }));
      if (batch.empty()) break;
      TRY_VOID(commit([&](rt::KvWriter& writer) {
        for (const auto& [key, value] : batch) writer.put(key, value);
      }));
      from = batch.back().first + '\0';
    }
  }
  return {};
}

base::Result<std::size_t> SealedKv::passed_over() const {
  std::size_t count = 0;
  for (const auto& [first, last] : {std::pair("h", "i"), std::pair("o/secrets", "o/secrett")})
    TRY_VOID(inner_->scan(first, last, [&](std::string_view key, std::string_view value) {
      const auto text = text_begin(key, value);
      count += text && !open_record(keys_, key, value, *text).missing.empty();
      return true;
    }));
  return count;
}

}  // namespace store
