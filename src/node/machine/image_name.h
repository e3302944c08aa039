// Names of images and of nodes: their grammar, and the one form in which images are kept. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace node {

// As docker reads names: [HOST[:PORT]/]PATH[:TAG][@DIGEST]. Any other text cannot be an argument, path or key either.
base::Status check_image_name(std::string_view name);
// "nginx" and "docker.io/library/nginx:latest" are one name; "registry:5000/a/b@sha256:..." stays.
std::string normal_image_name(std::string_view name);
// "docker.io", "registry:5000": whom a pull of this image would ask.
std::string registry_of(std::string_view name);
// Whether that is on this machine, as far as the name says.
bool is_on_loopback(std::string_view name);
// "sha256:0123...": what content is called.
bool is_digest(std::string_view text);
// A node is named like a host: lower-case labels between dots.
base::Status check_node_name(std::string_view name);

}  // namespace node
