// YAML as Kubernetes reads it (YAML 1.1 scalars through sigs.k8s.io/yaml), and block-style output.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"

namespace api {

struct YamlOptions {
  // Appends one path per mapping key that occurs twice.
  std::vector<std::string>* duplicate_keys = nullptr;
  // The plain scalars y, Y, n and N are texts, as for Python's reader and writer of YAML; kubectl reads booleans.
  bool letters_are_texts = false;
};

// One document; an empty one is null. Errors name the line, in the words kubectl uses.
base::Result<Json> parse_yaml(std::string_view text, YamlOptions options = {});

// A document and the line it begins on (from 1).
struct YamlDocument {
  Json value;
  int line = 1;
};
// All documents of a stream; empty ones are left out. JSON documents are YAML too.
base::Result<std::vector<YamlDocument>> parse_yaml_documents(std::string_view text, YamlOptions options = {});

// Block style, members in their order (sort first for kubectl's look), two spaces, quotes wherever the reader would
// not return the same string. Ends with a newline. With `columns`, an object or a list four levels deep or more that
// fits behind its key in a line of so many bytes is written there in flow style: half the lines of a schema, which
// reads as well.
std::string to_yaml(const Json& json, std::size_t columns = 0);

}  // namespace api
