// Encoding, by form.
#include "apiserver/http/answers.h"

#include "api/json/cbor.h"
#include "api/json/yaml.h"
#include "api/protobuf/protobuf.h"
#include "base/format.h"
#include "rt/http/server/http_server.h"

namespace apiserver {

using api::Json;
using rt::HttpResponse;

namespace {

std::string header_text(std::string_view warning) {
  std::string text;
  for (const char c : warning) {
    if (c == '"' || c == '\\') text += '\\';
    text += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return "299 - \"" + text + "\"";
}

// Each item of a list is read when its turn comes: all of them would be many times what is written. Empty: it has no
// such form.
std::string list_encoded(const ListInPieces& list, Encoding encoding) {
  const auto item = [&](std::size_t i) {
    auto one = api::parse_json(*list.items[i]);
    CHECK(one.ok());  // we wrote it
    return *std::move(one);
  };
  if (encoding == Encoding::kCbor) return api::list_to_cbor(list.around, list.items.size(), item);
  return api::list_to_protobuf(list.around, list.items.size(), item);
}

// A list that lies in pieces, in a form that is made item by item; empty: it is none, or has no such form.
std::string list_encoded(const Answer& answer, const Format& format) {
  const bool by_items = format.encoding == Encoding::kCbor || format.encoding == Encoding::kProtobuf;
  if (!by_items || format.shape != Format::Shape::kWhole) return {};
  const auto list = list_in_pieces(answer);
  return list ? list_encoded(*list, format.encoding) : std::string();
}

Json shaped(const api::KindInfo& kind, Json object, const Format& format, base::Time now) {
  if (object["kind"].as_string() == "Status") return object;
  if (format.shape == Format::Shape::kTable) return make_table(kind, object, now, format.include);
  if (format.shape == Format::Shape::kMetadata) return metadata_only(object);
  return object;
}

}  // namespace

std::string encoded(const Json& value, Encoding& encoding) {
  if (encoding == Encoding::kProtobuf) {
    std::string bytes = api::to_protobuf(value);
    if (!bytes.empty()) return bytes;
    encoding = Encoding::kJson;
  }
  switch (encoding) {
    case Encoding::kYaml: return api::to_yaml(value);
    case Encoding::kCbor: return api::to_cbor(value);
    case Encoding::kJson:
    case Encoding::kProtobuf: break;
  }
  return value.dump();
}

bool is_in_protobuf(const api::KindInfo& kind, Format::Shape shape) {
  if (shape != Format::Shape::kWhole) return shape == Format::Shape::kMetadata;
  return !kind.custom && api::has_protobuf(kind.resource.api_version(), kind.kind);
}

HttpResponse response_of(const api::KindInfo& kind, Answer answer, const Format& format, base::Time now) {
  HttpResponse response;
  response.status = answer.status;
  for (const std::string& warning : answer.warnings) response.headers.emplace_back("Warning", header_text(warning));
  Encoding encoding = format.encoding;
  const bool is_json =
      encoding == Encoding::kJson || (encoding == Encoding::kProtobuf && !is_in_protobuf(kind, format.shape));
  if (format.shape == Format::Shape::kWhole && is_json && !answer.pieces.empty()) {
    encoding = Encoding::kJson;
    response.pieces = std::move(answer.pieces);
  } else {
    response.body = list_encoded(answer, format);
    if (response.body.empty())
      response.body = encoded(shaped(kind, object_of(std::move(answer)), format, now), encoding);
  }
  response.headers.insert(response.headers.begin(), {"Content-Type", std::string(media_type(encoding))});
  return response;
}

HttpResponse document_response(int status, const Json& body, Encoding encoding) {
  HttpResponse response;
  response.status = status;
  response.body = encoded(body, encoding);
  response.headers = {{"Content-Type", std::string(media_type(encoding))}};
  if (encoding == Encoding::kJson) response.body += "\n";
  return response;
}

HttpResponse error_response(const base::Error& error, Encoding encoding) {
  HttpResponse response = document_response(base::http_status(error.code), status_object(error), encoding);
  if (error.retry_after_seconds > 0)
    response.headers.emplace_back("Retry-After", std::to_string(error.retry_after_seconds));
  return response;
}

void fail(rt::HttpExchange& exchange, const base::Error& error, Encoding encoding) {
  exchange.respond(error_response(error, encoding));
}

HttpResponse refusal_of_http(const rt::HttpRefusal& refusal) {
  using base::Code;
  base::Error error = base::make_error(refusal.status == 413   ? Code::kTooLarge
                                       : refusal.status == 429 ? Code::kTooManyRequests
                                       : refusal.status == 503 ? Code::kUnavailable
                                                               : Code::kBadRequest,
                                       refusal.message);
  error.retry_after_seconds = refusal.retry_after_seconds;
  Json status = status_object(error);
  status.set("code", refusal.status);
  HttpResponse response = document_response(refusal.status, status);
  if (refusal.retry_after_seconds > 0)
    response.headers.emplace_back("Retry-After", std::to_string(refusal.retry_after_seconds));
  return response;
}

// Readiness needs all checks, liveness none: a restart mends neither a full disk nor a slow start.
HttpResponse health_answer(std::string_view path, bool verbose, const Health& health) {
  const bool healthy = path == "/readyz" ? health.ready && !health.failing && !health.stands_still : true;
  HttpResponse response;
  response.status = healthy ? 200 : 500;
  response.headers = {{"Content-Type", "text/plain; charset=utf-8"}, {"X-Content-Type-Options", "nosniff"}};
  response.body = healthy ? "ok" : "not ready";
  if (verbose)
    response.body = base::format(
        "[+]ping ok\n[{}]storage {}\n[{}]loop {}\n[{}]start {}\n{} check {}\n", health.failing ? '-' : '+',
        health.failing ? "failed" : "ok", health.stands_still ? '-' : '+', health.stands_still ? "stands still" : "ok",
        health.ready ? '+' : '-', health.ready ? "ok" : "not finished", path.substr(1), healthy ? "passed" : "failed");
  return response;
}

std::size_t bytes_of(const Answer& answer) {
  std::size_t bytes = 0;
  for (const auto& piece : answer.pieces) bytes += piece->size();
  return bytes;
}

Json metadata_only(const Json& object) {
  if (const Json* items = object.find("items")) {
    Json list = Json::object(
        {{"kind", "PartialObjectMetadataList"}, {"apiVersion", "meta.k8s.io/v1"}, {"metadata", object["metadata"]}});
    Json rows = Json::array();
    for (const Json& item : items->items()) rows.push_back(metadata_only(item));
    list.set("items", std::move(rows));
    return list;
  }
  return Json::object(
      {{"kind", "PartialObjectMetadata"}, {"apiVersion", "meta.k8s.io/v1"}, {"metadata", object["metadata"]}});
}

}  // namespace apiserver
