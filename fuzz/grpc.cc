// Bytes of peers over gRPC: the first byte picks the side. Each call ends once, messages and memory have limits.
#include <string>

#include "base/protobuf_wire.h"
#include "rt/grpc/grpc_session.h"
#include "targets.h"

namespace fuzz {

namespace {

void fields(std::string_view input) {
  base::WireReader reader(input);
  std::size_t bytes = 0;
  for (base::WireField field; reader.next(field);) {
    promise(field.number > 0, "fields have numbers");
    bytes += field.bytes.size();
  }
  promise(bytes <= input.size(), "what is read is what came");
}

void server(std::string_view input, std::size_t step) {
  int asked = 0;
  rt::GrpcServerSession* running = nullptr;
  rt::GrpcServerSession session({.on_call =
                                     [&](std::int32_t stream, const std::string&, const std::string& request) {
                                       ++asked;
                                       running->send(stream, request);
                                       running->finish(stream, {});
                                     },
                                 .on_gone = {}});
  running = &session;
  bool going = session.receive("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").ok();
  for (std::size_t at = 0; going && at < input.size(); at += step) {
    going = session.receive(input.substr(at, step)).ok();
    if (going) promise(session.take_output().size() < 16'000'000, "what is said back has a limit");
  }
  promise(asked <= static_cast<int>(input.size()), "no call out of nothing");
}

void client(std::string_view input, std::size_t step) {
  int ends = 0;
  std::size_t bytes = 0;
  rt::GrpcClientSession session({.authority = "localhost",
                                 .method = "/a/b",
                                 .request = "request",
                                 .on_message =
                                     [&](const std::string& message) {
                                       promise(ends == 0, "nothing comes after the end");
                                       bytes += message.size();
                                     },
                                 .on_end = [&](const rt::GrpcStatus&) { ++ends; }});
  session.take_output();
  session.receive(std::string_view("\0\0\0\4\0\0\0\0\0", 9));
  for (std::size_t at = 0; !session.is_over() && at < input.size(); at += step) {
    session.receive(input.substr(at, step));
    promise(session.take_output().size() < 1'000'000, "what is said back has a limit");
  }
  session.close({rt::GrpcCode::kCancelled, "the end"});
  promise(ends == 1, "a call ends once");
  promise(bytes <= input.size(), "messages are what came");
}

}  // namespace

void grpc(std::string_view input) {
  if (input.empty()) return;
  const auto first = static_cast<unsigned char>(input.front());
  input.remove_prefix(1);
  const std::size_t step = 1 + first / 3;
  if (first % 3 == 0) fields(input);
  if (first % 3 == 1) server(input, step);
  if (first % 3 == 2) client(input, step);
}

}  // namespace fuzz
