// UTF-8: is it valid, make it valid, cut it between characters. Bytes from outside (a file of a container, a header, a
// program's error output) pass through here before they become text of an object. Valid means the Unicode standard's
// table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace base {

bool is_utf8(std::string_view text);

// `text` with U+FFFD for each maximal part that begins no valid character (the practice of Unicode and of Go's
// strings.ToValidUTF8 for a run of one). At most three times as long as `text`.
std::string to_utf8(std::string_view text);

// The longest beginning, respectively end, of at most `bytes_max` bytes that splits no character. In text that is not
// valid the cut may fall anywhere within the bad part.
std::string_view utf8_prefix(std::string_view text, std::size_t bytes_max);
std::string_view utf8_suffix(std::string_view text, std::size_t bytes_max);

}  // namespace base
