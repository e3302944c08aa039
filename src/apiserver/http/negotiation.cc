// Reading the Accept header.
#include "apiserver/http/negotiation.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <vector>

#include "apiserver/http/access.h"
#include "base/trim.h"

namespace apiserver {
namespace {

struct Choice {
  std::string_view type;  // "application/json"
  std::map<std::string_view, std::string_view> parameters;
  double quality = 1;

  std::string_view get(std::string_view name) const {
    const auto found = parameters.find(name);
    return found == parameters.end() ? std::string_view() : found->second;
  }
  int stars() const { return static_cast<int>(std::ranges::count(type, '*')); }
};

constexpr std::size_t kChoicesMax = 64;  // clients send a handful

// The text before `end`, which goes with it from `rest`.
std::string_view cut(std::string_view& rest, char end) {
  const std::size_t at = rest.find(end);
  const std::string_view part = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
  return base::trim(part, " ");
}

// Best first; without what is not acceptable at all (quality 0).
std::vector<Choice> choices_of(std::string_view accept) {
  std::vector<Choice> choices;
  while (!accept.empty() && choices.size() < kChoicesMax) {
    std::string_view rest = cut(accept, ',');
    Choice choice;
    choice.type = cut(rest, ';');
    while (!rest.empty()) {
      std::string_view value = cut(rest, ';');
      const std::string_view name = cut(value, '=');
      value = base::trim(value, " ");
      if (name != "q")
        choice.parameters.emplace(name, value);
      else if (std::from_chars(value.data(), value.data() + value.size(), choice.quality).ec != std::errc())
        choice.quality = 0;
    }
    if (choice.quality > 0) choices.push_back(std::move(choice));
  }
  std::ranges::stable_sort(choices, [](const Choice& a, const Choice& b) {
    return a.quality != b.quality ? a.quality > b.quality : a.stars() < b.stars();
  });
  return choices;
}

std::optional<Encoding> encoding_of(const Choice& choice) {
  if (choice.type == "application/json" || choice.type == "application/*" || choice.type == "*/*")
    return Encoding::kJson;
  // Our own clients want this most: what need not be turned into anything. No other server knows the name.
  if (choice.type == "application/vnd.volcano.stored+json") return Encoding::kJson;
  if (choice.type == "application/yaml") return Encoding::kYaml;
  if (choice.type == "application/vnd.kubernetes.protobuf") return Encoding::kProtobuf;
  if (choice.type == "application/cbor" || choice.type == "application/cbor-seq") return Encoding::kCbor;
  return {};
}

std::optional<Format::Shape> shape_of(const Choice& choice) {
  const std::string_view as = choice.get("as");
  if (as.empty()) return Format::Shape::kWhole;
  if (as == "Table") return Format::Shape::kTable;
  if (as == "PartialObjectMetadata" || as == "PartialObjectMetadataList") return Format::Shape::kMetadata;
  return {};
}

}  // namespace

Format negotiate(const rt::HttpRequest& http, const rt::Target& target) {
  Format format;
  for (const Choice& choice : choices_of(rt::header(http.headers, "Accept"))) {
    const auto encoding = encoding_of(choice);
    const auto shape = shape_of(choice);
    if (!encoding || !shape) continue;
    if (encoding == Encoding::kProtobuf && shape == Format::Shape::kTable) continue;
    format.encoding = *encoding;
    format.shape = *shape;
    break;
  }
  const std::string_view include = target.get("includeObject");
  format.include = include == "None"     ? IncludeObject::kNone
                   : include == "Object" ? IncludeObject::kObject
                                         : IncludeObject::kMetadata;
  if (http.web_socket) format.web_socket = chosen_subprotocol(http);
  format.packed = rt::header(http.headers, "Accept-Encoding").find("gzip") != std::string_view::npos;
  return format;
}

Encoding accepted_encoding(const rt::HttpRequest& http) { return negotiate(http, {}).encoding; }

DocumentFormat negotiate_document(std::string_view accept) {
  for (const Choice& choice : choices_of(accept)) {
    const auto encoding = encoding_of(choice);
    const bool aggregated = choice.get("as") == "APIGroupDiscoveryList" && choice.get("v") == "v2";
    if (encoding && encoding != Encoding::kProtobuf && (aggregated || choice.get("as").empty()))
      return {*encoding, aggregated};
  }
  return {};
}

std::string_view media_type(Encoding encoding) {
  switch (encoding) {
    case Encoding::kYaml: return "application/yaml";
    case Encoding::kCbor: return "application/cbor";
    case Encoding::kProtobuf: return "application/vnd.kubernetes.protobuf";
    case Encoding::kJson: break;
  }
  return "application/json";
}

}  // namespace apiserver
