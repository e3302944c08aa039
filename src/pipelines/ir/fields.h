// Fields of a document, read with the path that errors name.
#pragma once

#include <string>
#include <string_view>

#include "api/json/json.h"
#include "base/result.h"
#include "base/time.h"

namespace pipelines {

// A value and its place in the document. The value outlives it.
class Field {
 public:
  Field(const api::Json& value, std::string path) : value_(value), path_(std::move(path)) {}

  const api::Json& json() const { return value_; }
  const std::string& path() const { return path_; }
  bool is_absent() const { return value_.is_null(); }
  Field operator[](std::string_view name) const;

  base::Error error(std::string_view text) const;
  // A missing one is an empty object, array or text.
  base::Status check_object() const;
  base::Status check_array() const;
  base::Result<std::string> text() const;
  base::Result<std::string> name() const;     // not empty, and bounded
  base::Result<std::int64_t> number() const;  // also in a text, as 64 bit numbers are written; 0 where it is missing
  base::Result<base::Duration> duration() const;  // "10s"; zero where it is missing
  base::Result<bool> boolean() const;

 private:
  const api::Json& value_;
  std::string path_;
};

// A text of a message, cut where it is long.
std::string shown(const api::Json& value);

}  // namespace pipelines
