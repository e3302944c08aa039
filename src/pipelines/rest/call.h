// A request of the REST API after routing: the names in its path, its query, its body or uploaded file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "pipelines/rest/facts.h"
#include "pipelines/stage/object_reader.h"
#include "rt/http/http.h"

namespace pipelines::rest {

// The part of a form that holds a file.
struct Upload {
  std::string file_name;
  std::string bytes;
};

struct Call {
  std::string method;
  std::vector<std::string> names;  // what stands for the braces of its route, decoded
  rt::Target target;               // its query
  api::Json body = {};
  std::optional<Upload> upload = {};
  std::string own_namespace;  // where it names none
  std::string user = {};      // who asks, for services that say so

  std::string query(std::string_view name) const { return std::string(target.get(name)); }
  // True for "true", as JSON or Python writes it.
  bool is_on(std::string_view name) const;
  // By the query, or the default.
  std::string ns() const;
};

// A file in the volume of a namespace's claim.
struct StoredFile {
  std::string ns, claim, volume;
  std::string path;
  std::size_t bytes_max = 0;  // so many of its first bytes; 0: all of them, or none where they are too many
  bool is_page = false;       // for a frame of a browser, as HTML, and not as JSON
};

struct Reply {
  api::Json body = api::Json::object();
  std::string pass = {};  // the target of a GET whose answer is passed on instead
  // The bytes of one of these are the answer.
  std::optional<StoredFile> file = {};
  std::optional<StoredObject> object = {};
};

using Handler = base::Result<Reply> (*)(const Call& call, Facts& facts);

// A member of a body by its name in snake case or in lower camel case, as both forms of the protocol's JSON have it.
const api::Json& member(const api::Json& body, std::string_view name);
std::string text(const api::Json& body, std::string_view name);

}  // namespace pipelines::rest
