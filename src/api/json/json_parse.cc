// Text to Json. simdjson does the parsing; this file is the only one that sees it.
#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <set>

#include "api/json/json.h"
#include "api/json/json_bulk.h"
#include "api/json/limits.h"
#include "api/json/projection.h"
#include "api/json/recent_values.h"
#include "api/json/shared_text.h"
#include "api/json/tape.h"
#include "base/format.h"

namespace api {
namespace {

using base::Code;
using base::make_error;
using base::Result;

// The document that long texts may stay in. They are found there in their order; one with escapes is not.
struct Document {
  static constexpr std::size_t kTextMin = 4096;

  std::string_view text;
  std::shared_ptr<const void> owner;
  std::size_t at = 0;
  int searches = 8;  // in vain, which each cost as much as the document is long

  Json value(std::string_view wanted) {
    const std::size_t found = searches > 0 ? text.find(wanted, at) : std::string_view::npos;
    if (found == std::string_view::npos) {
      --searches;
      return Json(wanted);
    }
    at = found + wanted.size();
    return share_text(text.substr(found, wanted.size()), owner);
  }
};

Json scalar(const Tape& tape, std::size_t at, Document* document = nullptr) {
  const auto number = [&] { return tape.words[at + 1]; };
  switch (tape.kind(at)) {
    case 't': return Json(true);
    case 'f': return Json(false);
    case 'l': return Json(static_cast<std::int64_t>(number()));
    case 'u': return Json(number());
    case 'd': return Json(std::bit_cast<double>(number()));
    case '"': {
      const std::string_view text = tape.text(at);
      return document != nullptr && text.size() >= Document::kTextMin ? document->value(text) : Json(text);
    }
    default: return Json();
  }
}

// Builds all of a value; lists and objects below so many levels are null.
struct Reader {
  const Tape& tape;
  Document* document = nullptr;

  Json value(std::size_t at, std::size_t levels = kDocumentLevelsMax) const {
    if (!tape.is_container(at)) return scalar(tape, at, document);
    if (levels == 0) return {};
    const std::size_t end = tape.after(at) - 1;
    if (tape.kind(at) == '[') {
      std::vector<Json> items;
      items.reserve(tape.size(at));
      for (++at; at < end; at = tape.after(at)) items.push_back(value(at, levels - 1));
      return Json::array(std::move(items));
    }
    std::vector<Json::Member> members;
    members.reserve(tape.size(at));
    for (++at; at < end; at = tape.after(at + 1)) members.push_back({Json(tape.text(at)), value(at + 1, levels - 1)});
    return Json::object_of(std::move(members));
  }
};

// Notes the paths of members whose name their object had already.
struct DuplicateFinder {
  const Tape& tape;
  std::vector<std::string>& found;
  std::string path = {};

  void look(std::size_t at) {
    if (!tape.is_container(at)) return;
    const std::size_t end = tape.after(at) - 1, mark = path.size();
    if (tape.kind(at) == '[') {
      std::size_t index = 0;
      for (++at; at < end; at = tape.after(at)) {
        path += "[" + std::to_string(index++) + "]";
        look(at);
        path.resize(mark);
      }
      return;
    }
    std::set<std::string_view> names;  // ordered: who knows a hash can make names that share one place
    for (++at; at < end; at = tape.after(at + 1)) {
      if (!path.empty()) path += ".";
      path += tape.text(at);
      if (!names.insert(tape.text(at)).second) record_duplicate(found, path);
      look(at + 1);
      path.resize(mark);
    }
  }
};

// A text of the object at `at`; empty: it has none of this name.
std::string_view text_member(const Tape& tape, std::size_t at, std::string_view name) {
  if (tape.kind(at) != '{') return {};
  const std::size_t end = tape.after(at) - 1;
  for (++at; at < end; at = tape.after(at + 1))
    if (tape.text(at) == name) return tape.kind(at + 1) == '"' ? tape.text(at + 1) : std::string_view();
  return {};
}

// Builds what a projection keeps. A member that it leaves out is one step on the tape, however large it is; what it
// keeps whole is shared with equal values that were read lately.
struct ProjectionReader {
  const Tape& tape;
  RecentValues& recent;
  Document* document = nullptr;

  Json value(std::size_t at, const Projection* only, std::size_t levels = kDocumentLevelsMax) {
    if (!tape.is_container(at)) return scalar(tape, at, document);
    if (only == nullptr) return whole(at, levels);
    if (levels == 0) return {};
    const std::size_t end = tape.after(at) - 1;
    if (tape.kind(at) == '[') {
      const Projection::Items& wanted = only->items();
      std::vector<Json> items;
      if (wanted.member.empty()) items.reserve(tape.size(at));
      for (++at; at < end; at = tape.after(at))
        if (wanted.member.empty() || wanted.takes(text_member(tape, at, wanted.member)))
          items.push_back(value(at, only, levels - 1));
      return Json::array(std::move(items));
    }
    std::vector<Json::Member> members;
    members.reserve(only->names_all() ? tape.size(at) : std::min(tape.size(at), only->size()));
    for (++at; at < end; at = tape.after(at + 1)) {
      const std::string_view name = tape.text(at);
      const Projection::Choice choice = only->choose(name);
      if (choice.keep) members.push_back({Json(name), value(at + 1, choice.inner, levels - 1)});
    }
    return Json::object_of(std::move(members));
  }

  Json whole(std::size_t at, std::size_t levels) {
    const RecentValues::Span span = RecentValues::span_of(tape, at);
    if (const Json* same = recent.find(tape, at, span)) return *same;
    Json made = Reader{tape, document}.value(at, levels);
    recent.keep(tape, at, span, made);
    return made;
  }
};

// Integers beyond 64 bits are read again as doubles, so each is given a fraction, which simdjson accepts.
std::string with_doubles(std::string_view text) {
  std::string out;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\' && i + 1 < text.size())
        out += text[i++];
      else if (c == '"')
        quoted = false;
      out += text[i++];
      continue;
    }
    if (c == '"') quoted = true;
    if (c != '-' && (c < '0' || c > '9')) {
      out += c;
      ++i;
      continue;
    }
    const std::size_t begin = i;
    while (i < text.size() && std::string_view("+-.eE0123456789").find(text[i]) != std::string_view::npos) ++i;
    const std::string_view number = text.substr(begin, i - begin);
    out += number;
    if (number.find_first_of(".eE") == std::string_view::npos && number.size() >= 19) out += ".0";
  }
  return out;
}

// Parses and hands the tape to `build`; its first value is at kRoot.
constexpr std::size_t kRoot = 1;

template <std::size_t kLevelsMax, class Build>
Result<Json> parse_and_build(std::string_view text, Build build) {
  // A parser holds about fourteen bytes for each of its capacity, and every thread has one.
  static constexpr std::size_t kKeptCapacity = std::size_t{1} << 20, kLeastCapacity = std::size_t{1} << 16;
  thread_local simdjson::dom::parser parser;
  if (parser.max_depth() != kLevelsMax)
    if (const auto error = parser.allocate(std::max(text.size(), kLeastCapacity), kLevelsMax))
      return make_error(Code::kInternal, simdjson::error_message(error));
  if (text.data() == nullptr) text = "";  // of a value that is not there
  auto parsed = parser.parse(text.data(), text.size(), true);
  std::string rewritten;
  if (parsed.error() == simdjson::NUMBER_ERROR) {
    rewritten = with_doubles(text);
    parsed = parser.parse(rewritten);
  }
  if (parsed.error() != simdjson::SUCCESS) {
    if (parser.capacity() > kKeptCapacity) parser = simdjson::dom::parser();
    return make_error(Code::kBadRequest, base::format("invalid JSON: {}", simdjson::error_message(parsed.error())));
  }
  Json result = build(Tape{parser.doc.tape.get(), parser.doc.string_buf.get()});
  // Texts that come page by page need that room again at once, and new memory is dear.
  if (parser.capacity() > kKeptCapacity && text.size() < parser.capacity() / 4) parser = simdjson::dom::parser();
  return result;
}

// The root's member of that name, or nothing where there is none or it is not a text.
RecentValues& recent_values() {
  thread_local RecentValues values;
  return values;
}

}  // namespace

Result<Json> parse_json(std::string_view text, ParseOptions options) {
  return parse_and_build<kDocumentLevelsMax>(text, [&](const Tape& tape) {
    if (options.duplicate_keys) DuplicateFinder{tape, *options.duplicate_keys}.look(kRoot);
    return Reader{tape}.value(kRoot);
  });
}

Result<Json> parse_json(std::string_view text, const Projection& only) {
  return parse_and_build<kAnswerLevelsMax>(text, [&](const Tape& tape) {
    return ProjectionReader{tape, recent_values()}.value(kRoot, &only);
  });
}

Result<Json> parse_json_shared(std::string_view text, std::shared_ptr<const void> owner, const Projection* only) {
  Document document{text, std::move(owner)};
  // Most documents have no text that is as long, and are not searched.
  Document* const shared = text.size() >= Document::kTextMin ? &document : nullptr;
  if (only == nullptr)
    return parse_and_build<kDocumentLevelsMax>(text, [&](const Tape& tape) {
      return Reader{tape, shared}.value(kRoot);
    });
  return parse_and_build<kAnswerLevelsMax>(text, [&](const Tape& tape) {
    return ProjectionReader{tape, recent_values(), shared}.value(kRoot, only);
  });
}

Result<Json> parse_json(std::string_view text, const ChooseProjection& choose) {
  return parse_and_build<kAnswerLevelsMax>(text, [&](const Tape& tape) {
    const Projection* only = choose(text_member(tape, kRoot, "apiVersion"), text_member(tape, kRoot, "kind"));
    return only == nullptr ? Reader{tape}.value(kRoot) : ProjectionReader{tape, recent_values()}.value(kRoot, only);
  });
}

base::Status check_readable(std::string_view bytes) {
  static constexpr std::size_t kKeptCapacity = std::size_t{1} << 20;
  thread_local simdjson::dom::parser parser;
  if (parser.max_depth() != kObjectLevelsMax || parser.capacity() < bytes.size())
    if (const auto error = parser.allocate(std::max(bytes.size(), kKeptCapacity), kObjectLevelsMax))
      return make_error(Code::kInvalid, simdjson::error_message(error));
  auto error = parser.parse(bytes.data(), bytes.size(), true).error();
  if (error == simdjson::NUMBER_ERROR) error = parser.parse(with_doubles(bytes)).error();
  if (parser.capacity() > kKeptCapacity) parser = simdjson::dom::parser();
  if (error == simdjson::DEPTH_ERROR)
    return make_error(Code::kInvalid, base::format("nested too deeply: more than {} levels", kObjectLevelsMax));
  if (error) return make_error(Code::kInvalid, simdjson::error_message(error));
  return {};
}

}  // namespace api
