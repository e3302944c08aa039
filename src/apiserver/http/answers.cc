// Encoding, by form.
#include "apiserver/http/answers.h"

#include "api/json/cbor.h"
#include "api/json/yaml.h"

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

// Of a list each item is read when its turn comes: all of them would be many times what is written.
std::string cbor_of(Answer answer) {
  if (const auto list = list_in_pieces(answer))
    return api::list_to_cbor(list->around, list->items.size(), [&](std::size_t i) {
      auto item = api::parse_json(*list->items[i]);
      CHECK(item.ok());  // we wrote it
      return *std::move(item);
    });
  return api::to_cbor(object_of(std::move(answer)));
}

Json shaped(const api::KindInfo& kind, Json object, const Format& format, bool reading, base::Time now) {
  if (object["kind"].as_string() == "Status") return object;
  if (format.shape == Format::Shape::kTable) return make_table(kind, object, now, format.include);
  if (format.shape == Format::Shape::kMetadata && reading) return metadata_only(object);
  return object;
}

}  // namespace

std::string encoded(const Json& value, Encoding encoding) {
  switch (encoding) {
    case Encoding::kYaml: return api::to_yaml(value);
    case Encoding::kCbor: return api::to_cbor(value);
    case Encoding::kJson: break;
  }
  return value.dump();
}

HttpResponse response_of(const api::KindInfo& kind, Answer answer, const Format& format, bool reading, base::Time now) {
  HttpResponse response;
  response.status = answer.status;
  response.headers = {{"Content-Type", std::string(media_type(format.encoding))}};
  for (const std::string& warning : answer.warnings) response.headers.emplace_back("Warning", header_text(warning));
  const bool whole = format.shape == Format::Shape::kWhole;
  if (whole && format.encoding == Encoding::kJson && !answer.pieces.empty())
    response.pieces = std::move(answer.pieces);
  else if (whole && format.encoding == Encoding::kCbor)
    response.body = cbor_of(std::move(answer));
  else
    response.body = encoded(shaped(kind, object_of(std::move(answer)), format, reading, now), format.encoding);
  return response;
}

HttpResponse document_response(int status, const Json& body, Encoding encoding) {
  HttpResponse response;
  response.status = status;
  response.headers = {{"Content-Type", std::string(media_type(encoding))}};
  response.body = encoded(body, encoding);
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
