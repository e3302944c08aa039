// The addresses of notebooks, TensorBoards and viewers of volumes: "/notebook/NAMESPACE/NAME/...".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/json/json.h"
#include "rt/http/http.h"

namespace ui {

// How requests reach a server that does not know its own address.
struct NotebookRoute {
  std::optional<std::string> rewrite = {};  // in place of prefix() and its slash; unset: the path goes as it is
  rt::Headers headers = {};                 // that each request gets
};

struct NotebookPlace {
  enum class Kind : std::uint8_t { kNotebook, kTensorboard, kViewer };
  Kind kind = Kind::kNotebook;
  std::string ns;
  std::string name;

  // "/notebook/NAMESPACE/NAME"
  std::string prefix() const;
  // "notebook NAMESPACE/NAME", as sentences name it.
  std::string text() const;
  // The object in the API.
  std::string object_path() const;
  // The labels of its pods, for a list of them.
  std::string pod_selector() const;
  // The API's way to its server: "/api/v1/namespaces/NAMESPACE/services/NAME:80/proxy".
  std::string proxy_prefix() const;
  // A notebook knows its own prefix (NB_PREFIX) unless annotations say otherwise, a TensorBoard knows none. `object`:
  // what was found of it, or null.
  NotebookRoute route(const api::Json& object) const;
  // A target below prefix() as the API's way to it.
  std::string proxy_target(std::string_view target, const NotebookRoute& route) const;
  // The other way round: a path that its server names, as the browser reaches it.
  std::string browser_target(std::string_view path_on_server, const NotebookRoute& route) const;
};

// Whether a path may be one.
bool is_notebook_path(std::string_view path);
// The place that a target (as it was sent) is of; nothing: it is of none, or its names are invalid.
std::optional<NotebookPlace> notebook_place(std::string_view target);

}  // namespace ui
