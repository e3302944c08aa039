// The few functions of NVML that are called here, as its published interface has them. Types are NVML's in our names.
#pragma once

#include <cstdint>

namespace node::nvml {

using Return = int;
struct DeviceHandle;
using Device = DeviceHandle*;
struct EventSetHandle;
using EventSet = EventSetHandle*;

inline constexpr Return kSuccess = 0;
inline constexpr Return kNotSupported = 3;
inline constexpr Return kTimeout = 10;
inline constexpr Return kGpuIsLost = 15;
inline constexpr unsigned long long kEventDoubleBitEcc = 2;
inline constexpr unsigned long long kEventXid = 8;
inline constexpr unsigned kMigEnabled = 1;

struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};

struct Memory {
  unsigned long long total, free, used;  // bytes
};

struct EventData {
  Device device;
  unsigned long long type;
  unsigned long long data;  // of kEventXid: the error's number
  unsigned gpu_instance, compute_instance;
};

// Rows: member, symbol, parameters. A driver that lacks one of the second list is only asked for less.
#define NODE_NVML_NEEDED(ROW)                                          \
  ROW(init, "nvmlInit_v2", ())                                         \
  ROW(shutdown, "nvmlShutdown", ())                                    \
  ROW(driver_version, "nvmlSystemGetDriverVersion", (char*, unsigned)) \
  ROW(count, "nvmlDeviceGetCount_v2", (unsigned*))                     \
  ROW(by_index, "nvmlDeviceGetHandleByIndex_v2", (unsigned, Device*))  \
  ROW(uuid, "nvmlDeviceGetUUID", (Device, char*, unsigned))            \
  ROW(name, "nvmlDeviceGetName", (Device, char*, unsigned))            \
  ROW(memory, "nvmlDeviceGetMemoryInfo", (Device, Memory*))            \
  ROW(minor, "nvmlDeviceGetMinorNumber", (Device, unsigned*))
#define NODE_NVML_OPTIONAL(ROW)                                                         \
  ROW(cuda_version, "nvmlSystemGetCudaDriverVersion_v2", (int*))                        \
  ROW(pci, "nvmlDeviceGetPciInfo_v3", (Device, PciInfo*))                               \
  ROW(capability, "nvmlDeviceGetCudaComputeCapability", (Device, int*, int*))           \
  ROW(mig_mode, "nvmlDeviceGetMigMode", (Device, unsigned*, unsigned*))                 \
  ROW(mig_max, "nvmlDeviceGetMaxMigDeviceCount", (Device, unsigned*))                   \
  ROW(mig_by_index, "nvmlDeviceGetMigDeviceHandleByIndex", (Device, unsigned, Device*)) \
  ROW(gpu_instance, "nvmlDeviceGetGpuInstanceId", (Device, unsigned*))                  \
  ROW(compute_instance, "nvmlDeviceGetComputeInstanceId", (Device, unsigned*))          \
  ROW(make_events, "nvmlEventSetCreate", (EventSet*))                                   \
  ROW(watch, "nvmlDeviceRegisterEvents", (Device, unsigned long long, EventSet))        \
  ROW(wait, "nvmlEventSetWait_v2", (EventSet, EventData*, unsigned))

struct Functions {
#define NODE_NVML_MEMBER(member, symbol, parameters) Return(*member) parameters = nullptr;
  NODE_NVML_NEEDED(NODE_NVML_MEMBER)
  NODE_NVML_OPTIONAL(NODE_NVML_MEMBER)
#undef NODE_NVML_MEMBER
  const char* (*error_text)(Return) = nullptr;
};

}  // namespace node::nvml
