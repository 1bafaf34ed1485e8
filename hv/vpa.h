// The Virtual Processor Area: the page of guest memory through which a vCPU and the hypervisor
// talk.
//
// Only the fields that locks read are laid out, at their architected offsets, because the offsets
// decide which cache lines are read: the dispatch counter stands on a line that the hypervisor
// alone writes. Source: LoPAR, "Per Virtual Processor Area"; 640 bytes, 128-byte aligned.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hv {

struct alignas(128) Vpa {
  std::uint8_t reserved0[0xFE];
  std::uint8_t idle;  // 0xFE: set by the guest while the CPU has nothing to do
  std::uint8_t reserved1;
  // 0x100: +1 at every dispatch and at every preempt, cede or confer. Even: dispatched.
  std::uint32_t yield_count;
  std::uint8_t reserved2[640 - 0x104];
};
static_assert(sizeof(Vpa) == 640);
static_assert(offsetof(Vpa, idle) == 0xFE);
static_assert(offsetof(Vpa, yield_count) == 0x100);

}  // namespace hv
