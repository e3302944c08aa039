// Taking names apart.
#include "node/machine/image_name.h"

#include <algorithm>
#include <vector>

#include "base/format.h"
#include "base/split.h"
#include "node/machine/container_text.h"

namespace node {

namespace {

constexpr std::size_t kNameMax = 255;
constexpr std::size_t kTagMax = 128;

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_lower(c) || (c >= 'A' && c <= 'Z') || is_digit(c); }

// Letters and digits, with one '.', one or two '_', or any number of '-' between them.
bool is_path_word(std::string_view word) {
  std::size_t separators = 0;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char c = word[i];
    if (is_lower(c) || is_digit(c)) {
      separators = 0;
      continue;
    }
    if (c != '.' && c != '_' && c != '-') return false;
    if (i == 0) return false;
    ++separators;
    if (separators > 1 && (word[i - 1] != c || c == '.' || (c == '_' && separators > 2))) return false;
  }
  return !word.empty() && separators == 0;
}

bool is_host(std::string_view text) {
  std::string_view port;
  const std::size_t colon = text.rfind(':');
  const bool bracketed = text.starts_with('[');
  const std::size_t close = text.find(']');
  if (bracketed && close == std::string_view::npos) return false;
  if (colon != std::string_view::npos && (!bracketed || colon > close)) {
    port = text.substr(colon + 1);
    if (port.empty() || port.size() > 5 || !std::all_of(port.begin(), port.end(), is_digit)) return false;
    text = text.substr(0, colon);
  }
  if (bracketed) {
    if (!text.ends_with(']')) return false;
    const std::string_view inner = text.substr(1, text.size() - 2);
    return !inner.empty() && std::all_of(inner.begin(), inner.end(), [](char c) {
      return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':' || c == '.';
    });
  }
  for (const std::string_view label : base::split(text, '.'))
    if (label.empty() || !is_word(label.front()) || !is_word(label.back()) ||
        !std::all_of(label.begin(), label.end(), [](char c) { return is_word(c) || c == '-'; }))
      return false;
  return true;
}

bool names_host(std::string_view first) {
  return first.find('.') != std::string_view::npos || first.find(':') != std::string_view::npos || first == "localhost";
}

bool is_tag(std::string_view tag) {
  if (tag.empty() || tag.size() > kTagMax || (!is_word(tag.front()) && tag.front() != '_')) return false;
  return std::all_of(tag.begin(), tag.end(), [](char c) { return is_word(c) || c == '_' || c == '.' || c == '-'; });
}

}  // namespace

bool is_digest(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view kind = text.substr(0, colon), sum = text.substr(colon + 1);
  return std::all_of(kind.begin(), kind.end(), [](char c) { return is_lower(c) || is_digit(c); }) && sum.size() >= 32 &&
         sum.size() <= 128 &&
         std::all_of(sum.begin(), sum.end(), [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
}

base::Status check_image_name(std::string_view name) {
  const auto failed = [&](std::string_view why) {
    return base::make_error(base::Code::kInvalid,
                            base::format("image name {:?}: {}", reason_text(name.substr(0, kNameMax + 1)), why));
  };
  std::string_view rest = name;
  if (const std::size_t at = rest.find('@'); at != std::string_view::npos) {
    if (!is_digest(rest.substr(at + 1))) return failed("what follows @ is not a digest");
    rest = rest.substr(0, at);
  }
  const std::size_t slash = rest.rfind('/');
  if (const std::size_t colon = rest.rfind(':');
      colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash)) {
    if (!is_tag(rest.substr(colon + 1))) return failed("the tag is malformed");
    rest = rest.substr(0, colon);
  }
  if (rest.size() > kNameMax) return failed("it is too long");
  std::vector<std::string_view> words = base::split(rest, '/');
  if (words.size() > 1 && names_host(words.front())) {
    if (!is_host(words.front())) return failed("the registry's name is malformed");
    words.erase(words.begin());
  }
  if (!std::all_of(words.begin(), words.end(), is_path_word))
    return failed("names are lower-case words between slashes, such as team/app:v1");
  return {};
}

std::string normal_image_name(std::string_view name) {
  std::string text(name);
  const std::size_t slash = text.find('/');
  const bool has_host = slash != std::string::npos && names_host(text.substr(0, slash));
  if (!has_host) text = slash == std::string::npos ? "docker.io/library/" + text : "docker.io/" + text;
  if (text.starts_with("index.docker.io/")) text = "docker.io/" + text.substr(16);
  if (text.starts_with("docker.io/") && text.find('/', 10) == std::string::npos)
    text = "docker.io/library/" + text.substr(10);
  if (text.find('@') != std::string::npos) return text;
  if (text.find(':', text.rfind('/')) == std::string::npos) text += ":latest";
  return text;
}

std::string registry_of(std::string_view name) {
  const std::string normal = normal_image_name(name);
  return normal.substr(0, normal.find('/'));
}

bool is_on_loopback(std::string_view name) {
  const std::string registry = registry_of(name);
  const std::string_view host = std::string_view(registry).substr(0, registry.rfind(':'));
  // An address, and not a name that begins like one.
  return host == "localhost" || registry.starts_with("[::1]") ||
         (host.starts_with("127.") && std::ranges::all_of(host, [](char c) { return is_digit(c) || c == '.'; }));
}

base::Status check_node_name(std::string_view name) {
  const auto fits = [](std::string_view label) {
    return !label.empty() && label.front() != '-' && label.back() != '-' &&
           std::all_of(label.begin(), label.end(), [](char c) { return is_lower(c) || is_digit(c) || c == '-'; });
  };
  const std::vector<std::string_view> labels = base::split(name, '.');
  if (name.size() <= 253 && std::all_of(labels.begin(), labels.end(), fits)) return {};
  return base::make_error(
      base::Code::kInvalid,
      base::format("node name {:?}: at most 253 lower-case letters, digits, '-' and '.', such as node-1",
                   reason_text(name.substr(0, 254))));
}

}  // namespace node
