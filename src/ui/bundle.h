// The files of the page, compressed, as they are in the program (src/ui/bundle, made by tools/ui).
#pragma once

#include <string_view>

namespace ui {

struct BundleFile {
  std::string_view path;  // below /ui/: "page.js"; empty: the page itself
  std::string_view type;  // its Content-Type
  std::string_view gzip;  // its bytes
};

// Null if there is no such file.
const BundleFile* bundle_file(std::string_view path);

}  // namespace ui
