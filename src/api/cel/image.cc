// The parts of a reference to a container's image.
#include <algorithm>

#include "api/cel/syntax.h"

namespace api::cel {
namespace {

using Values = std::vector<Value>;

constexpr std::string_view kLower = "abcdefghijklmnopqrstuvwxyz0123456789";

bool is_made_of(std::string_view text, std::string_view more, std::size_t size_min, std::size_t size_max) {
  return text.size() >= size_min && text.size() <= size_max && std::all_of(text.begin(), text.end(), [&](char c) {
           return kLower.find(c) != std::string_view::npos || more.find(c) != std::string_view::npos;
         });
}

bool is_registry(std::string_view text) {
  const std::size_t colon = std::min(text.rfind(':'), text.size());
  const std::string_view port = text.substr(std::min(colon + 1, text.size()));
  return is_made_of(text.substr(0, colon), "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_.[]:", 1, 255) &&
         port.find_first_not_of("0123456789") == std::string_view::npos;
}

bool read_repository(std::string_view name, Image& out) {
  const std::size_t slash = name.find('/');
  const std::string_view first = name.substr(0, slash);
  const bool has_registry =
      slash != std::string_view::npos && (first.find_first_of(".:") != std::string_view::npos || first == "localhost");
  const std::string_view path = has_registry ? name.substr(slash + 1) : name;
  out.registry = has_registry && first != "docker.io" ? std::string(first) : "index.docker.io";
  if (has_registry && !is_registry(first)) return false;
  if (!is_made_of(path, "_-./", 2, 255) || path.starts_with('/') || path.ends_with('/') ||
      path.find("//") != std::string_view::npos)
    return false;
  const bool official = out.registry == "index.docker.io" && path.find('/') == std::string_view::npos;
  out.repository = (official ? "library/" : "") + std::string(path);
  return true;
}

// "name" or "name:tag".
bool read_tagged(std::string_view text, Image& out) {
  const std::size_t colon = text.rfind(':');
  const bool tagged = colon != std::string_view::npos && text.find('/', colon) == std::string_view::npos;
  out.tag = tagged ? text.substr(colon + 1) : "latest";
  return read_repository(tagged ? text.substr(0, colon) : text, out) &&
         is_made_of(out.tag, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_-.", 1, 127);
}

std::optional<Image> parse(std::string_view text) {
  Image out;
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos) return read_tagged(text, out) ? std::optional(out) : std::nullopt;
  out.digest = text.substr(at + 1);
  const std::string_view hash = std::string_view(out.digest).substr(std::min<std::size_t>(7, out.digest.size()));
  const bool good = out.digest.starts_with("sha256:") && hash.size() == 64 &&
                    hash.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (!good || !read_tagged(text.substr(0, at), out)) return std::nullopt;
  out.tag.clear();  // the digest says more
  return out;
}

using Getter = Value (*)(const Image& image);
Value get(std::string_view name, const Value& object, const Values& a, Getter getter) {
  const Image* image = object.get<Image>();
  return image != nullptr && a.empty() ? getter(*image) : no_overload(name);
}

constexpr FunctionRow kFunctions[] = {
    {"image",
     [](const Values& a, std::uint64_t& cost) {
       const auto* s = a.size() == 1 ? a[0].get<std::string>() : nullptr;
       if (s == nullptr) return no_overload("image");
       cost += s->size() / 10;
       auto out = parse(*s);
       return out ? Value(*std::move(out)) : fail("could not parse reference: " + *s);
     }},
    {"isImage",
     [](const Values& a, std::uint64_t& cost) {
       const auto* s = a.size() == 1 ? a[0].get<std::string>() : nullptr;
       if (s == nullptr) return no_overload("isImage");
       cost += s->size() / 10;
       return Value(parse(*s).has_value());
     }},
};

constexpr MethodRow kMethods[] = {
    {"containsDigest",
     [](const Value& o, const Values& a, std::uint64_t&) {
       return get("containsDigest", o, a, [](const Image& image) { return Value(!image.digest.empty()); });
     }},
    {"registry",
     [](const Value& o, const Values& a, std::uint64_t&) {
       return get("registry", o, a, [](const Image& image) { return Value(image.registry); });
     }},
    {"repository",
     [](const Value& o, const Values& a, std::uint64_t&) {
       return get("repository", o, a, [](const Image& image) { return Value(image.repository); });
     }},
    {"tag", [](const Value& o, const Values& a,
               std::uint64_t&) { return get("tag", o, a, [](const Image& image) { return Value(image.tag); }); }},
    {"digest",
     [](const Value& o, const Values& a, std::uint64_t&) {
       return get("digest", o, a, [](const Image& image) { return Value(image.digest); });
     }},
    {"identifier",
     [](const Value& o, const Values& a, std::uint64_t&) {
       return get("identifier", o, a,
                  [](const Image& image) { return Value(image.digest.empty() ? image.tag : image.digest); });
     }},
};

}  // namespace

Library image_library() { return {kFunctions, kMethods}; }

}  // namespace api::cel
