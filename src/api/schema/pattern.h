// Does a text contain a match of a regular expression that a user wrote? RE2 syntax; linear in the text's length.
#pragma once

#include <memory>
#include <string_view>

namespace api {

class Pattern {
 public:
  // An expression that does not compile matches nothing.
  explicit Pattern(std::string_view expression);
  // One of thousands: it does not compile if it is longer than 4,096 bytes, for the time grows with their square, or
  // takes more than a list of as many letters would (`\pL{400}`).
  static Pattern small(std::string_view expression);
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;
  ~Pattern();

  bool is_valid() const;
  bool matches(std::string_view text) const;

 private:
  struct Compiled;
  explicit Pattern(std::unique_ptr<Compiled> compiled);
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace api
