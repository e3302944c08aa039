// A container's variables and words: valueFrom, envFrom and $(NAME). Pure.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "node/pod/lookups.h"

namespace node {

// The most that the kernel gives a program: one word (NAME=value, or an argument), and about all of them together.
inline constexpr std::size_t kWordBytesMax = 131072;
inline constexpr std::size_t kWordsBytesMax = 2 << 20;

using Environment = std::vector<std::pair<std::string, std::string>>;  // in order, each name once

// The containers of a pod, looked up once for all that name one. Lives as long as the pod.
class ContainersByName {
 public:
  explicit ContainersByName(const api::Json& pod);
  const api::Json* find(std::string_view name) const;  // null: there is none

 private:
  std::map<std::string_view, const api::Json*> containers_;
};

base::Result<Environment> environment_of(const api::Json& pod, const api::Json& container, const Lookups& lookups);
using ValueOf = std::function<const std::string*(std::string_view name)>;  // null: there is no such variable
// Replaces $(NAME) by its value, leaves unknown names, turns $$ into $. The result ends soon after kWordBytesMax.
std::string expand(std::string_view text, const ValueOf& value_of);
std::string expand(std::string_view text, const Environment& environment);
// metadata.labels['a'], status.podIP, spec.nodeName, ...: an error names a path that is not supported.
base::Result<std::string> field_value(const api::Json& pod, std::string_view path, const Lookups& lookups);
// limits.cpu and its kin in units of the divisor, rounded up.
base::Result<std::string> resource_value(const api::Json& container, const api::Json& reference,
                                         const Lookups& lookups);

}  // namespace node
