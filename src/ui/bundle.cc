// The table of the page's files. The linker puts their bytes between two symbols each (cmake/page.cmake).
#include "ui/bundle.h"

#define BUNDLED(name) extern "C" const char _binary_##name##_gz_start[], _binary_##name##_gz_end[];
BUNDLED(index_html)
BUNDLED(page_js)
BUNDLED(shared_js)
BUNDLED(later_js)
BUNDLED(page_css)
BUNDLED(icon_svg)
#undef BUNDLED

namespace ui {
namespace {

std::string_view between(const char* begin, const char* end) { return {begin, static_cast<std::size_t>(end - begin)}; }

}  // namespace

const BundleFile* bundle_file(std::string_view path) {
  static const BundleFile files[] = {
      {"", "text/html; charset=utf-8", between(_binary_index_html_gz_start, _binary_index_html_gz_end)},
      {"page.js", "text/javascript; charset=utf-8", between(_binary_page_js_gz_start, _binary_page_js_gz_end)},
      {"shared.js", "text/javascript; charset=utf-8", between(_binary_shared_js_gz_start, _binary_shared_js_gz_end)},
      {"later.js", "text/javascript; charset=utf-8", between(_binary_later_js_gz_start, _binary_later_js_gz_end)},
      {"page.css", "text/css; charset=utf-8", between(_binary_page_css_gz_start, _binary_page_css_gz_end)},
      {"icon.svg", "image/svg+xml", between(_binary_icon_svg_gz_start, _binary_icon_svg_gz_end)},
  };
  for (const BundleFile& file : files)
    if (file.path == path) return &file;
  return nullptr;
}

}  // namespace ui
