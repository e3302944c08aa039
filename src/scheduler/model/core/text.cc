// How does the model keep a text that it only reads again, in few bytes?
#include "scheduler/model/core/text.h"

#include <algorithm>
#include <limits>
#include <new>

namespace scheduler {

Text::Body* Text::body_of(std::string_view text) {
  if (text.empty()) return nullptr;
  // No object is that large; what is cut off here was never a text somebody wrote.
  text = text.substr(0, std::numeric_limits<std::uint32_t>::max());
  auto* body = new (::operator new(sizeof(Body) + text.size())) Body{{1}, static_cast<std::uint32_t>(text.size())};
  std::copy(text.begin(), text.end(), reinterpret_cast<char*>(body + 1));
  return body;
}

void Text::free(Body* body) {
  body->~Body();
  ::operator delete(body);
}

}  // namespace scheduler
