// Values whose long texts lie in the document that they were read from: what is kept of a large object in several
// places costs its memory once.
#pragma once

#include <memory>
#include <string_view>

#include "api/json/json.h"
#include "api/json/projection.h"

namespace api {

// `text` lies in what `owner` keeps, and owner lives as long as the value does.
Json share_text(std::string_view text, std::shared_ptr<const void> owner);

// As parse_json(text, only), but texts of 4 KiB and more that stand in the document without escapes stay there. `owner`
// keeps the document. `only`: what is built; null: all.
base::Result<Json> parse_json_shared(std::string_view text, std::shared_ptr<const void> owner, const Projection* only);

}  // namespace api
