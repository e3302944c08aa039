// Fields one by one.
#include "node/devices/message_fields.h"

#include <algorithm>

#include "base/format.h"
#include "base/utf8.h"

namespace node {

namespace {

constexpr std::size_t kShownMax = 100;
constexpr std::size_t kCdiNameMax = 4096;

}  // namespace

base::Status each_field(std::string_view message, const std::function<base::Status(const base::WireField&)>& use) {
  base::WireReader reader(message);
  for (base::WireField field; reader.next(field);) TRY_VOID(use(field));
  if (reader.malformed()) return base::make_error(base::Code::kInvalid, "the message is malformed");
  return {};
}

base::Error wrong_field(std::string_view field, std::string_view value, std::string_view why) {
  return base::make_error(base::Code::kInvalid,
                          base::format("{}: {:?} {}", field, base::to_utf8(value.substr(0, kShownMax)), why));
}

bool is_plain_text(std::string_view text, std::size_t max) {
  return text.size() <= max && base::is_utf8(text) &&
         std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

base::Status check_cdi_name(std::string_view field, std::string_view name) {
  if (name.find('=') != std::string_view::npos && is_plain_text(name, kCdiNameMax)) return {};
  return wrong_field(field, name, "is not VENDOR/CLASS=NAME");
}

}  // namespace node
