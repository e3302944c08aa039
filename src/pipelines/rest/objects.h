// Objects of the API as handlers read them: by id or by name, with errors in the words of the REST API.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pipelines/rest/call.h"

namespace pipelines::rest {

// A kind of objects as the REST API calls it.
struct Noun {
  const api::ResourceId& resource;
  std::string_view word;  // "experiment"
};
extern const Noun kExperimentNoun, kPipelineNoun, kVersionNoun, kRunNoun, kRecurringNoun, kWorkflowNoun;

base::Error not_found(const Noun& noun, std::string_view id);
// The object with this id. kNotFound where there is none that the server knows.
base::Result<api::Json> object_of(Facts& facts, const Noun& noun, const std::string& id);
// The same by its name.
base::Result<api::Json> object_named(Facts& facts, const Noun& noun, const ObjectKey& key);
// The objects of a namespace, or those that a selector of labels names.
base::Result<std::vector<api::Json>> objects_of(Facts& facts, const api::ResourceId& resource, const std::string& ns,
                                                const std::string& label_selector = {});
base::Result<api::Json> create(Facts& facts, const Noun& noun, const std::string& ns, api::Json object);
// A merge patch of this very object, whatever its controller has written meanwhile.
base::Result<api::Json> patch(Facts& facts, const Noun& noun, const api::Json& object, api::Json changes);
// The same of the object as it was read: kConflict where it has changed since.
base::Result<api::Json> patch_as_read(Facts& facts, const Noun& noun, const api::Json& object, api::Json changes);
// `propagation`: Background, Foreground or Orphan.
base::Result<Reply> remove(Facts& facts, const Noun& noun, const api::Json& object,
                           std::string_view propagation = "Background");
// An object of this kind with `spec`. A name that ends with a hyphen is completed by the server.
api::Json new_object(std::string_view kind, const std::string& name, api::Json spec);
// A member whose text is empty is left out.
void set_text(api::Json& object, std::string_view name, std::string_view text);

// Members of answers.
std::string shown_name(const api::Json& object);  // displayName, or the object's name
std::string created_at(const api::Json& object);
std::string time_or_epoch(const api::Json& time);  // the gateway writes times that are not there as 1970
std::string storage_state(const api::Json& object);

}  // namespace pipelines::rest
