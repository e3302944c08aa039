// The addresses of notebooks and TensorBoards: "/notebook/NAMESPACE/NAME/...", "/tensorboard/NAMESPACE/NAME/...".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ui {

struct NotebookPlace {
  enum class Kind : std::uint8_t { kNotebook, kTensorboard };
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
  // A target below prefix() as the API's way to it. A notebook knows its own prefix (NB_PREFIX), a TensorBoard none.
  std::string proxy_target(std::string_view target) const;
  // The other way round: a path that its server names, as the browser reaches it.
  std::string browser_target(std::string_view path_on_server) const;
};

// Whether a path may be one: "/notebook/..." or "/tensorboard/...".
bool is_notebook_path(std::string_view path);
// The place that a target (as it was sent) is of; nothing: it is of none, or its names are invalid.
std::optional<NotebookPlace> notebook_place(std::string_view target);

}  // namespace ui
