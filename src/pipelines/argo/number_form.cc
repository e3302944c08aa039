// The one number of a form is read as far as Go's %d, %o, %x and %X go: zeros and a width before the letter.
#include "pipelines/argo/number_form.h"

#include <optional>

#include "base/format.h"

namespace pipelines::argo {

namespace {

constexpr std::size_t kWidthMax = 60;

// Both give what follows the form's part, and nothing where it is none.
struct Number {
  bool has_zeros = false;
  std::size_t width = 0;
  char letter = 'd';
  std::size_t end = 0;
};

std::optional<Number> number_at(std::string_view form, std::size_t at) {
  Number out;
  if (at < form.size() && form[at] == '0') {
    out.has_zeros = true;
    ++at;
  }
  for (; at < form.size() && form[at] >= '0' && form[at] <= '9'; ++at) {
    out.width = out.width * 10 + static_cast<std::size_t>(form[at] - '0');
    if (out.width > kWidthMax) return std::nullopt;
  }
  if (at >= form.size() || std::string_view("doxX").find(form[at]) == std::string_view::npos) return std::nullopt;
  out.letter = form[at];
  out.end = at + 1;
  return out;
}

std::string digits_of(std::int64_t number, char letter) {
  const bool is_negative = number < 0;
  const std::uint64_t value =
      is_negative ? ~static_cast<std::uint64_t>(number) + 1 : static_cast<std::uint64_t>(number);
  const std::string digits = letter == 'x'   ? base::format("{:x}", value)
                             : letter == 'X' ? base::format("{:X}", value)
                             : letter == 'o' ? base::format("{:o}", value)
                                             : base::format("{}", value);
  return is_negative ? "-" + digits : digits;
}

// The text of the form; null: it has no number, or several.
std::optional<std::string> text_in(std::string_view form, std::int64_t number) {
  std::string out;
  std::size_t numbers = 0;
  for (std::size_t at = 0; at < form.size();) {
    if (form[at] != '%') {
      out += form[at++];
      continue;
    }
    if (form.substr(at).starts_with("%%")) {
      out += '%';
      at += 2;
      continue;
    }
    const auto found = number_at(form, at + 1);
    if (!found || ++numbers > 1) return std::nullopt;
    std::string digits = digits_of(number, found->letter);
    const std::size_t missing = digits.size() < found->width ? found->width - digits.size() : 0;
    const std::size_t sign = found->has_zeros && digits.starts_with('-') ? 1 : 0;
    digits.insert(sign, missing, found->has_zeros ? '0' : ' ');
    out += digits;
    at = found->end;
  }
  return numbers == 1 ? std::optional(out) : std::nullopt;
}

}  // namespace

bool is_number_form(std::string_view form) { return form.empty() || text_in(form, 0).has_value(); }

std::string number_in_form(std::string_view form, std::int64_t number) {
  return form.empty() ? base::format("{}", number) : text_in(form, number).value_or("");
}

}  // namespace pipelines::argo
