// Everything that reads what strangers send, each as a function of bytes. A target ends the process when a promise is
// broken.
#pragma once

#include <span>
#include <string_view>

namespace fuzz {

struct Target {
  std::string_view name;
  void (*run)(std::string_view input);
};

std::span<const Target> all_targets();
const Target* find_target(std::string_view name);

// Stops the process, naming the broken promise.
void promise(bool kept, std::string_view what, std::string_view detail = {});

void json(std::string_view input);
void cbor(std::string_view input);
void protobuf(std::string_view input);
void yaml(std::string_view input);
void quantity(std::string_view input);
void selector(std::string_view input);
void discovery(std::string_view input);
void shell_words(std::string_view input);
void cron(std::string_view input);
void colocation_files(std::string_view input);
void patch(std::string_view input);
void patch_limits(std::string_view input);
void cel(std::string_view input);
void policies(std::string_view input);
void devices(std::string_view input);
void plugins(std::string_view input);
void route(std::string_view input);
void http(std::string_view input);
void grpc(std::string_view input);
void http2(std::string_view input);
void http2_server(std::string_view input);
void spdy(std::string_view input);
void connection(std::string_view input);
void keys(std::string_view input);
void definition(std::string_view input);
void scheduler_config(std::string_view input);
void plugin_arguments(std::string_view input);
void sharding(std::string_view input);
void scheduler_objects(std::string_view input);
void workflow(std::string_view input);
void writes(std::string_view input);
void database(std::string_view input);
void termination(std::string_view input);
void image(std::string_view input);

}  // namespace fuzz
