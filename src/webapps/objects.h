// Objects of the API as handlers read and write them, with the rights of the user who asks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "api/meta/resource.h"
#include "base/result.h"
#include "webapps/apps.h"

namespace webapps {

base::Error bad_request(std::string message);
// kBadRequest where a member of the body is missing.
base::Status check_members(const Call& call, std::initializer_list<std::string_view> names);

base::Result<api::Json> get(Facts& facts, const api::ResourceId& resource, const std::string& ns,
                            const std::string& name);
struct Choice {
  std::string labels = {}, fields = {};  // selectors
};
base::Result<std::vector<api::Json>> list(Facts& facts, const api::ResourceId& resource, const std::string& ns,
                                          const Choice& choice = {});
base::Result<api::Json> create(Facts& facts, const api::ResourceId& resource, const std::string& ns, api::Json object,
                               bool dry_run = false);
base::Result<api::Json> merge(Facts& facts, const api::ResourceId& resource, const std::string& ns,
                              const std::string& name, api::Json patch);
base::Status remove(Facts& facts, const api::ResourceId& resource, const std::string& ns, const std::string& name,
                    std::string_view propagation = "Foreground");
// The events about an object, or about all objects of the kind where `name` is empty.
base::Result<std::vector<api::Json>> events_of(Facts& facts, const std::string& ns, std::string_view kind,
                                               std::string_view name = {});

// {"KEY": data}
Reply answer(std::string_view key, api::Json data);
Reply message(std::string text);
// {"phase", "message", "state"}
api::Json status(std::string_view phase, std::string_view message, std::string_view state = {});
// Whether an error means that the user sees no such object, and not that an answer is waited for.
bool is_missing(const base::Error& error, Facts& facts);

}  // namespace webapps
