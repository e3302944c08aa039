// Objects found by a text inside them: the index behind ObjectReader::list_by().
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/admission.h"

namespace api {

class TextIndex {
 public:
  explicit TextIndex(TextField field) : field_(std::move(field)) {}

  // `key` is the object's "ns/name"; a null object is gone.
  void put(const std::string& key, Json object);
  // In the order of keys.
  std::vector<Json> find(std::string_view value, bool as_prefix) const;

 private:
  TextField field_;
  std::map<std::string, std::map<std::string, Json>, std::less<>> objects_;  // by text, then by key; not of ""
  std::map<std::string, std::string> texts_;                                 // by key
};

}  // namespace api
