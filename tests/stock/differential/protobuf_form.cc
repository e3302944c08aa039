// protobuf_form read < PROTOBUF > JSON, protobuf_form write < JSON > PROTOBUF: an object, or a list, in the other form,
// as our programs read and write it.
#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>

#include "api/protobuf/protobuf.h"

int main(int argc, char** argv) {
  const std::string_view what = argc == 2 ? argv[1] : "";
  if (what != "read" && what != "write") {
    std::fprintf(stderr, "usage: protobuf_form read|write < IN > OUT\n");
    return 2;
  }
  const std::string in{std::istreambuf_iterator<char>(std::cin), {}};
  const auto value = what == "read" ? api::parse_protobuf_answer(in, nullptr) : api::parse_json(in);
  if (!value.ok()) {
    std::fprintf(stderr, "%s\n", value.error().message.c_str());
    return 1;
  }
  std::cout << (what == "read" ? value->dump() : api::to_protobuf(*value));
  return 0;
}
