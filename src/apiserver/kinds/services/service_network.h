// From what Services get their addresses and ports.
#pragma once

#include "api/ipv4.h"

namespace apiserver {

struct ServiceNetwork {
  api::Ipv4Range addresses{0x0a600000, 12};  // 10.96.0.0/12; of prefix lengths from 12 to 30
  int first_port = 30000;                    // of nodes
  int last_port = 32767;
};

// The address of the Service `kubernetes` in the namespace `default`.
inline std::uint32_t server_address(const ServiceNetwork& network) { return network.addresses.first + 1; }

}  // namespace apiserver
