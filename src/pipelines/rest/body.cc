// Forms are read as RFC 7578 writes them: parts between boundaries, each with its header.
#include "pipelines/rest/body.h"

#include "base/format.h"
#include "base/trim.h"

namespace pipelines::rest {

using base::Code;
using base::make_error;

namespace {

constexpr std::string_view kForm = "multipart/form-data", kFile = "uploadfile", kLine = "\r\n";
constexpr std::size_t kPartsMax = 100, kBoundaryMax = 200;

// The value of a parameter of a header: `form-data; name="uploadfile"; filename="a.yaml"`.
std::string parameter(std::string_view header, std::string_view name) {
  for (std::size_t at = header.find(';'); at != std::string_view::npos; at = header.find(';', at)) {
    ++at;
    while (at < header.size() && header[at] == ' ') ++at;
    if (!rt::same_header(header.substr(at, name.size()), name)) continue;
    std::string_view rest = header.substr(at + name.size());
    if (!rest.starts_with('=')) continue;
    rest.remove_prefix(1);
    if (!rest.starts_with('"')) return std::string(base::trim(rest.substr(0, rest.find(';'))));
    std::string value;
    for (std::size_t i = 1; i < rest.size() && rest[i] != '"'; ++i) {
      if (rest[i] == '\\' && i + 1 < rest.size()) ++i;
      value += rest[i];
    }
    return value;
  }
  return {};
}

std::string_view disposition_of(std::string_view header) {
  constexpr std::string_view kName = "Content-Disposition:";
  while (!header.empty()) {
    const std::string_view line = header.substr(0, header.find(kLine));
    if (rt::same_header(line.substr(0, kName.size()), kName)) return line.substr(kName.size());
    header.remove_prefix(std::min(header.size(), line.size() + kLine.size()));
  }
  return {};
}

}  // namespace

base::Result<Upload> form_file(std::string_view content_type, std::string_view body, std::string_view name) {
  const std::string boundary = parameter(content_type, "boundary");
  if (boundary.empty() || boundary.size() > kBoundaryMax)
    return make_error(Code::kInvalid, "the form's Content-Type has no boundary");
  const std::string between = "\r\n--" + boundary;
  // The first boundary has no line before it.
  std::string_view rest = body;
  if (rest.starts_with(std::string_view(between).substr(kLine.size()))) {
    rest.remove_prefix(between.size() - kLine.size());
  } else if (const std::size_t at = rest.find(between); at != std::string_view::npos) {
    rest.remove_prefix(at + between.size());
  } else {
    return make_error(Code::kInvalid, "the form has no part");
  }
  for (std::size_t parts = 0; parts < kPartsMax && rest.starts_with(kLine); ++parts) {
    const std::size_t end = rest.find(between);
    if (end == std::string_view::npos) return make_error(Code::kInvalid, "the form ends within a part");
    const std::string_view part = rest.substr(kLine.size(), end < kLine.size() ? 0 : end - kLine.size());
    const std::size_t head = part.find("\r\n\r\n");
    if (head == std::string_view::npos) return make_error(Code::kInvalid, "a part of the form has no header");
    const std::string_view disposition = disposition_of(part.substr(0, head));
    if (parameter(disposition, "name") == name)
      return Upload{parameter(disposition, "filename"), std::string(part.substr(head + 4))};
    rest.remove_prefix(end + between.size());
  }
  return make_error(Code::kInvalid, base::format("the form has no part named {}", name));
}

base::Status read_body(const rt::HttpRequest& http, Call& call) {
  const std::string_view type = rt::header(http.headers, "Content-Type");
  if (type.starts_with(kForm)) {
    TRY(call.upload, form_file(type, http.body, kFile));
    return {};
  }
  if (http.body.empty()) return {};
  auto body = api::parse_json(http.body);
  if (!body.ok()) return make_error(Code::kBadRequest, "the body is not JSON: " + body.error().message);
  if (!body->is_object()) return make_error(Code::kBadRequest, "the body is not an object");
  call.body = *std::move(body);
  return {};
}

}  // namespace pipelines::rest
