// Comparing and keeping parts of a tape.
#include "api/json/recent_values.h"

namespace api {
namespace {

// The amount that is added to a word when a value moves on the tape, or its strings move.
std::uint64_t base_of(char kind, std::size_t at, std::uint64_t strings) {
  if (kind == '"') return strings;
  return kind == '{' || kind == '[' || kind == '}' || kind == ']' ? at : 0;
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t more) { return (hash ^ more) * 0x9E3779B97F4A7C15u; }

// The last bytes of a string and its length.
std::uint64_t ending_of(const unsigned char* string) {
  const std::uint32_t length = Tape::length_at(string);
  std::uint64_t out = 0;
  const std::uint32_t taken = length < 8 ? length : 8;
  std::memcpy(&out, string + 4 + length - taken, taken);
  return mixed(out, length);
}

}  // namespace

RecentValues::Span RecentValues::span_of(const Tape& tape, std::size_t at) {
  Span out;
  const std::size_t end = tape.after(at);
  if (end - at > kWordsMax) return out;
  std::uint64_t hash = end - at;
  bool any = false;
  for (std::size_t i = at; i < end; ++i) {
    const char kind = tape.kind(i);
    if (kind == '"') {
      out.last = tape.payload(i);
      if (!any) out.begin = out.last;
      any = true;
    } else if (Tape::is_number(kind)) {
      hash = mixed(hash, tape.words[++i]);
    }
  }
  if (any) {
    const unsigned char* last = tape.strings + out.last;
    out.end = out.last + 4 + Tape::length_at(last) + 1;
    hash = mixed(mixed(hash, out.end - out.begin), ending_of(last));
  }
  if (out.end - out.begin > kBytesMax) return out;
  out.words = end - at;
  out.slot = static_cast<std::size_t>(hash >> 32) % kSlots;
  return out;
}

bool RecentValues::equals(const Slot& slot, const Tape& tape, std::size_t at, const Span& span) {
  if (slot.words.size() != span.words || slot.strings.size() != span.end - span.begin) return false;
  for (std::size_t i = 0; i < span.words; ++i) {
    const char kind = tape.kind(at + i);
    if (tape.words[at + i] - base_of(kind, at, span.begin) != slot.words[i]) return false;
    if (!Tape::is_number(kind)) continue;
    ++i;
    if (tape.words[at + i] != slot.words[i]) return false;
  }
  // Equal words say that each string begins where the other does: their lengths are among the bytes.
  return slot.strings.empty() || std::memcmp(slot.strings.data(), tape.strings + span.begin, slot.strings.size()) == 0;
}

const Json* RecentValues::find(const Tape& tape, std::size_t at, const Span& span) const {
  if (span.words == 0) return nullptr;
  const Slot& slot = slots_[span.slot];
  return equals(slot, tape, at, span) ? &slot.value : nullptr;
}

void RecentValues::keep(const Tape& tape, std::size_t at, const Span& span, const Json& value) {
  if (span.words == 0) return;
  Slot& slot = slots_[span.slot];
  slot.words.assign(tape.words + at, tape.words + at + span.words);
  for (std::size_t i = 0; i < span.words; ++i) {
    const char kind = tape.kind(at + i);
    slot.words[i] -= base_of(kind, at, span.begin);
    if (Tape::is_number(kind)) ++i;
  }
  slot.strings.assign(tape.strings + span.begin, tape.strings + span.end);
  slot.value = value;
}

}  // namespace api
