// Which form of an answer a request accepts: its encoding, and whether objects are asked for whole, as rows or as
// metadata.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/documents/tables.h"
#include "rt/http/http.h"

namespace apiserver {

// Protobuf is for whole objects of core kinds; what has no such form is JSON, whatever was asked for.
enum class Encoding : std::uint8_t { kJson, kYaml, kCbor, kProtobuf };

struct Format {
  enum class Shape : std::uint8_t { kWhole, kTable, kMetadata };

  Encoding encoding = Encoding::kJson;
  Shape shape = Shape::kWhole;
  IncludeObject include = IncludeObject::kMetadata;
  // Set: a watch goes over a WebSocket, with this subprotocol; empty: with none.
  std::optional<std::string> web_socket = {};
  bool packed = false;  // a long answer is packed before it is sent
};

// By quality, among equals what is named before what is meant by "*", and then by order. A client that accepts nothing
// that there is gets JSON. A client that accepts application/cbor-seq, the form of watches in CBOR, is taken to read
// CBOR.
Format negotiate(const rt::HttpRequest& http, const rt::Target& target);
// The encoding of a refusal.
Encoding accepted_encoding(const rt::HttpRequest& http);

// The format of a discovery document.
struct DocumentFormat {
  Encoding encoding = Encoding::kJson;
  bool aggregated = false;  // an APIGroupDiscoveryList, where there is one
};
DocumentFormat negotiate_document(std::string_view accept);

std::string_view media_type(Encoding encoding);

}  // namespace apiserver
