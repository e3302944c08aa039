// Answers as bytes: objects, lists and errors in the form that the request accepts.
#pragma once

#include "apiserver/http/negotiation.h"
#include "apiserver/pipeline/request/request.h"
#include "base/time.h"
#include "rt/http/http.h"

namespace rt {
struct HttpRefusal;
}

namespace apiserver {

// The bytes of one value. `encoding` becomes that which they have.
std::string encoded(const api::Json& value, Encoding& encoding);

// Whether objects of this kind, and lists of them, have a form in protobuf when they are shown so.
bool is_in_protobuf(const api::KindInfo& kind, Format::Shape shape);

// Any thread.
rt::HttpResponse response_of(const api::KindInfo& kind, Answer answer, const Format& format, base::Time now);

// A document, and the Status of an error; text ends with a line.
rt::HttpResponse document_response(int status, const api::Json& body, Encoding encoding = Encoding::kJson);
rt::HttpResponse error_response(const base::Error& error, Encoding encoding = Encoding::kJson);
void fail(rt::HttpExchange& exchange, const base::Error& error, Encoding encoding = Encoding::kJson);

// A refusal of the HTTP server itself, which reads like any other error.
rt::HttpResponse refusal_of_http(const rt::HttpRefusal& refusal);

// The facts behind /healthz, /livez and /readyz.
struct Health {
  bool ready = false;         // the server has started
  bool failing = false;       // its storage fails
  bool stands_still = false;  // one callback holds its loop
};

// `path`: one of the three, without a slash at its end.
rt::HttpResponse health_answer(std::string_view path, bool verbose, const Health& health);

// The size of the body.
std::size_t bytes_of(const Answer& answer);

// PartialObjectMetadata of an object or list.
api::Json metadata_only(const api::Json& object);

}  // namespace apiserver
