// The parts of a URL, and whether a text is one. Read as Go's net/url reads it.
#include <algorithm>

#include "api/cel/syntax.h"
#include "base/format.h"

namespace api::cel {
namespace {

using Values = std::vector<Value>;

enum class Part : std::uint8_t { kPath, kHost, kZone, kUser, kQuery, kFragment };

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
int hex_of(char c) { return is_digit(c) ? c - '0' : (c | 32) - 'a' + 10; }
bool is_one_of(char c, std::string_view set) { return c != '\0' && set.find(c) != std::string_view::npos; }

bool must_be_escaped(char c, Part part) {
  if (is_letter(c) || is_digit(c)) return false;
  if ((part == Part::kHost || part == Part::kZone) && is_one_of(c, "!$&'()*+,;=:[]<>\"")) return false;
  if (is_one_of(c, "-_.~")) return false;
  if (is_one_of(c, "$&+,/:;=?@")) {
    if (part == Part::kPath) return c == '?';
    if (part == Part::kUser) return is_one_of(c, "@/?:");
    return part != Part::kFragment;
  }
  return part != Part::kFragment || !is_one_of(c, "!()*");
}

std::string escape(std::string_view text, Part part) {
  std::string out;
  for (const char c : text) {
    if (must_be_escaped(c, part))
      out += base::format("%{:02X}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out;
}

class Reader {
 public:
  // `for_request`: only absolute URLs and paths, and a '#' is nothing special.
  std::optional<Url> run(std::string_view text, bool for_request) {
    Url out;
    std::string_view rest = text;
    if (!for_request) {
      rest = text.substr(0, text.find('#'));
      if (rest.size() < text.size() && !unescape(text.substr(rest.size() + 1), Part::kFragment, out.fragment))
        return {};
    }
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
    if (std::any_of(text.begin(), text.end(), is_control)) return wrong("net/url: invalid control character in URL");
    if (rest.empty() && for_request) return wrong("empty url");
    if (rest == "*") {
      out.path = "*";
      return out;
    }
    if (!scheme(rest, out)) return {};
    if (const std::size_t mark = rest.find('?'); mark != std::string_view::npos) {
      out.query = rest.substr(mark + 1);
      rest = rest.substr(0, mark);
    }
    if (!rest.starts_with('/')) {
      if (!out.scheme.empty()) {
        out.opaque = rest;
        return out;
      }
      if (for_request) return wrong("invalid URI for request");
      if (rest.substr(0, rest.find('/')).find(':') != std::string_view::npos)
        return wrong("first path segment in URL cannot contain colon");
    }
    const bool has_authority = !out.scheme.empty() || (!for_request && !rest.starts_with("///"));
    if (has_authority && rest.starts_with("//")) {
      const std::string_view authority = rest.substr(2, rest.find('/', 2) - 2);
      rest = rest.substr(2 + authority.size());
      if (!read_authority(authority, out)) return {};
    }
    if (!unescape(rest, Part::kPath, out.path)) return {};
    if (escape(out.path, Part::kPath) != rest) out.raw_path = rest;
    return out;
  }

  // The plain text of an escaped part.
  bool unescape(std::string_view text, Part part, std::string& out) {
    const bool host = part == Part::kHost || part == Part::kZone;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c == '%') {
        const std::string_view code = text.substr(i, 3);
        if (code.size() < 3 || !is_hex(code[1]) || !is_hex(code[2])) return bad_escape(code);
        const char plain = static_cast<char>(hex_of(code[1]) * 16 + hex_of(code[2]));
        // Hosts may only escape what is not ASCII, and a zone's percent sign.
        if (part == Part::kHost && hex_of(code[1]) < 8 && code != "%25") return bad_escape(code);
        if (part == Part::kZone && code != "%25" && plain != ' ' && must_be_escaped(plain, Part::kHost))
          return bad_escape(code);
        out += plain;
        i += 2;
      } else if (host && static_cast<unsigned char>(c) < 0x80 && must_be_escaped(c, part)) {
        wrong(base::format("invalid character {} in host name", quote(std::string_view(&c, 1))));
        return false;
      } else {
        out += part == Part::kQuery && c == '+' ? ' ' : c;
      }
    }
    return true;
  }

  const std::string& problem() const { return problem_; }

 private:
  std::nullopt_t wrong(std::string problem) {
    problem_ = std::move(problem);
    return std::nullopt;
  }
  bool bad_escape(std::string_view code) {
    wrong(base::format("invalid URL escape {}", quote(code)));
    return false;
  }

  bool scheme(std::string_view& rest, Url& out) {
    for (std::size_t i = 0; i < rest.size(); ++i) {
      const char c = rest[i];
      if (is_letter(c) || (i > 0 && (is_digit(c) || is_one_of(c, "+-.")))) continue;
      if (c != ':') return true;
      if (i == 0) {
        wrong("missing protocol scheme");
        return false;
      }
      out.scheme = rest.substr(0, i);
      std::transform(out.scheme.begin(), out.scheme.end(), out.scheme.begin(),
                     [](char x) { return x >= 'A' && x <= 'Z' ? static_cast<char>(x + 32) : x; });
      rest.remove_prefix(i + 1);
      return true;
    }
    return true;
  }

  bool read_authority(std::string_view authority, Url& out) {
    const std::size_t at = authority.rfind('@');
    if (!read_host(at == std::string_view::npos ? authority : authority.substr(at + 1), out)) return false;
    if (at == std::string_view::npos) return true;
    out.has_user = true;
    const std::string_view user = authority.substr(0, at);
    const bool good = std::all_of(user.begin(), user.end(), [](char c) {
      return is_letter(c) || is_digit(c) || is_one_of(c, "-._:~!$&'()*+,;=%@");
    });
    if (!good) wrong("net/url: invalid userinfo");
    return good && unescape(user, Part::kUser, out.user);
  }

  bool read_host(std::string_view host, Url& out) {
    std::size_t colon = host.rfind(':');
    if (host.starts_with('[')) {
      const std::size_t close = host.rfind(']');
      if (close == std::string_view::npos) {
        wrong("missing ']' in host");
        return false;
      }
      colon = close + 1;
      if (const std::size_t zone = host.substr(0, close).find("%25"); zone != std::string_view::npos) {
        return has_port(host.substr(colon)) && unescape(host.substr(0, zone), Part::kHost, out.host) &&
               unescape(host.substr(zone, close - zone), Part::kZone, out.host) &&
               unescape(host.substr(close), Part::kHost, out.host);
      }
    }
    if (colon < host.size() && !has_port(host.substr(colon))) return false;
    return unescape(host, Part::kHost, out.host);
  }

  // Empty, or a colon and digits.
  bool has_port(std::string_view text) {
    if (text.empty() || (text[0] == ':' && std::all_of(text.begin() + 1, text.end(), is_digit))) return true;
    wrong(base::format("invalid port {} after host", quote(text)));
    return false;
  }

  std::string problem_;
};

// The host without its port, and the port.
std::pair<std::string, std::string> split_host(const std::string& host) {
  std::string name = host, port;
  const std::size_t colon = host.rfind(':');
  if (colon != std::string::npos &&
      std::all_of(host.begin() + static_cast<std::ptrdiff_t>(colon) + 1, host.end(), is_digit)) {
    port = host.substr(colon + 1);
    name.resize(colon);
  }
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  return {name, port};
}

std::string escaped_path(const Url& url) {
  const auto may_stay = [](char c) { return is_one_of(c, "!$&'()*+,;=:@[]%") || !must_be_escaped(c, Part::kPath); };
  if (!url.raw_path.empty() && std::all_of(url.raw_path.begin(), url.raw_path.end(), may_stay)) return url.raw_path;
  return url.path == "*" ? "*" : escape(url.path, Part::kPath);
}

// The values of each key; pairs that cannot be read are left out.
Value query_of(const Url& url, std::uint64_t& cost) {
  std::vector<std::pair<std::string, List>> keys;
  const std::string_view text = url.query;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('&', start), text.size());
    const std::string_view pair = text.substr(start, end - start);
    start = end + 1;
    if (pair.empty() || pair.find(';') != std::string_view::npos) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    std::string key, value;
    Reader reader;
    if (!reader.unescape(pair.substr(0, equals), Part::kQuery, key) ||
        !reader.unescape(pair.substr(std::min(equals + 1, pair.size())), Part::kQuery, value))
      continue;
    auto known = std::find_if(keys.begin(), keys.end(), [&](const auto& one) { return one.first == key; });
    cost += keys.size();
    if (known == keys.end()) known = keys.insert(known, {key, {}});
    known->second.push_back(value);
  }
  Map out;
  for (auto& [key, values] : keys) out.entries.emplace_back(key, std::move(values));
  return out;
}

using Getter = Value (*)(const Url& url, std::uint64_t& cost);
Value get(std::string_view name, const Value& object, const Values& a, std::uint64_t& cost, Getter getter) {
  const Url* url = object.get<Url>();
  return url != nullptr && a.empty() ? getter(*url, cost) : no_overload(name);
}

constexpr FunctionRow kFunctions[] = {
    {"url",
     [](const Values& a, std::uint64_t& cost) {
       const auto* s = a.size() == 1 ? a[0].get<std::string>() : nullptr;
       if (s == nullptr) return no_overload("url");
       cost += s->size() / 10;
       std::string problem;
       auto out = parse_url(*s, problem);
       return out ? Value(*std::move(out)) : fail("URL parse error during conversion from string: " + problem);
     }},
    {"isURL",
     [](const Values& a, std::uint64_t& cost) {
       const auto* s = a.size() == 1 ? a[0].get<std::string>() : nullptr;
       if (s == nullptr) return no_overload("isURL");
       cost += s->size() / 10;
       return Value(Reader().run(*s, true).has_value());
     }},
};

constexpr MethodRow kMethods[] = {
    {"getScheme",
     [](const Value& o, const Values& a, std::uint64_t& cost) {
       return get("getScheme", o, a, cost, [](const Url& url, std::uint64_t&) { return Value(url.scheme); });
     }},
    {"getHost",
     [](const Value& o, const Values& a, std::uint64_t& cost) {
       return get("getHost", o, a, cost, [](const Url& url, std::uint64_t&) { return Value(url.host); });
     }},
    {"getHostname",
     [](const Value& o, const Values& a, std::uint64_t& cost) {
       return get("getHostname", o, a, cost,
                  [](const Url& url, std::uint64_t&) { return Value(split_host(url.host).first); });
     }},
    {"getPort",
     [](const Value& o, const Values& a, std::uint64_t& cost) {
       return get("getPort", o, a, cost,
                  [](const Url& url, std::uint64_t&) { return Value(split_host(url.host).second); });
     }},
    {"getEscapedPath",
     [](const Value& o, const Values& a, std::uint64_t& cost) {
       return get("getEscapedPath", o, a, cost,
                  [](const Url& url, std::uint64_t&) { return Value(escaped_path(url)); });
     }},
    {"getQuery",
     [](const Value& o, const Values& a, std::uint64_t& cost) { return get("getQuery", o, a, cost, query_of); }},
};

}  // namespace

std::optional<Url> parse_url(std::string_view text, std::string& problem) {
  Reader strict, reader;
  std::optional<Url> out;
  if (strict.run(text, true)) out = reader.run(text, false);
  if (!out)
    problem = base::format("parse {}: {}", quote(text), strict.problem().empty() ? reader.problem() : strict.problem());
  return out;
}

std::optional<Url> parse_url_reference(std::string_view text, std::string& problem) {
  Reader reader;
  std::optional<Url> out = reader.run(text, false);
  if (!out) problem = base::format("parse {}: {}", quote(text), reader.problem());
  return out;
}

Library url_library() { return {kFunctions, kMethods}; }

}  // namespace api::cel
