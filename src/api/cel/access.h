// The rights of a user, as expressions see them. Expressions ask (authorizer), and a book of roles answers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace api::cel {

// For a path that is not a resource `path` is set, and of the rest only `verb`.
struct AccessQuestion {
  std::string verb;
  std::string group;
  std::string resource;
  std::string subresource;
  std::string ns;
  std::string name;
  std::string path;
  bool operator==(const AccessQuestion&) const = default;
};

// The subject of the question: who sent the request, where `name` is empty, else a service account.
struct AccessAccount {
  std::string ns;
  std::string name;
  bool operator==(const AccessAccount&) const = default;
};

struct AccessJudge {
  std::function<bool(const AccessAccount&, const AccessQuestion&)> may;  // any thread
  std::uint64_t cost = 0;                                                // of an answer, in steps
};

}  // namespace api::cel
