// Protocol buffers' wire format, written and read.
#include "base/protobuf_wire.h"

#include <gtest/gtest.h>

namespace base {
namespace {

TEST(WireFormat, is_read_as_it_was_written) {
  WireWriter writer;
  writer.add(1, std::string_view("text"));
  writer.add(2, std::uint64_t{300});
  writer.add(3, false);
  writer.add_entry(4, "");
  writer.add_pair(5, "k", "v");
  writer.add_integer(6, 0);
  writer.add_double(7, 0.5);
  const std::string bytes = writer.take();
  std::string seen;
  WireReader reader(bytes);
  for (WireField field; reader.next(field);)
    seen += std::to_string(field.number) + "=" + std::to_string(field.integer) + "," +
            std::to_string(field.bytes.size()) + " ";
  EXPECT_FALSE(reader.malformed());
  EXPECT_EQ(seen, "1=0,4 2=300,0 4=0,0 5=0,6 6=0,0 7=4602678819172646912,0 ");
  for (const std::string_view bad : {std::string_view("\x0a\x05"
                                                      "abc"),
                                     std::string_view("\x08"), std::string_view("\x0b"), std::string_view("\0\1", 2),
                                     std::string_view("\x09"
                                                      "1234")}) {
    WireReader broken(bad);
    for (WireField field; broken.next(field);) {
    }
    EXPECT_TRUE(broken.malformed());
  }
}

}  // namespace
}  // namespace base
