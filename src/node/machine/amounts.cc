// Amounts read from `resources`.
#include "node/machine/amounts.h"

#include "api/schema/quantity.h"

namespace node {

using api::Json;

PodAmounts container_amounts(const Json& resources) {
  const auto limit_cpu = api::Quantity::from_json(resources["limits"]["cpu"]);
  const auto limit_memory = api::Quantity::from_json(resources["limits"]["memory"]);
  auto request_cpu = api::Quantity::from_json(resources["requests"]["cpu"]);
  if (!request_cpu) request_cpu = limit_cpu;
  PodAmounts amounts;
  if (request_cpu) amounts.cpu_request_milli = bounded_amount(request_cpu->milli_value(), kCpuMilliMax);
  if (limit_cpu) amounts.cpu_limit_milli = bounded_amount(limit_cpu->milli_value(), kCpuMilliMax);
  if (limit_memory) amounts.memory_limit_bytes = bounded_amount(limit_memory->value(), kMemoryBytesMax);
  return amounts;
}

}  // namespace node
