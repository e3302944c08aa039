// Small documents that the server writes itself: texts are escaped, and a policy lets nothing run.
#pragma once

#include <string>
#include <string_view>

#include "rt/http/http.h"

namespace ui {

std::string escaped_html(std::string_view text);
// Files of this origin may style it, and its forms go back to this origin; nothing runs, and no site frames it.
rt::HttpResponse guarded_answer(int status, std::string type, std::string body);

}  // namespace ui
