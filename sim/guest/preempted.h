// vcpu_is_preempted: the guest's judgement of whether another CPU is off its physical CPU against
// its will. Linux arch/powerpc/include/asm/paravirt.h, in three forms (hv::PreemptedRule): the raw
// odd count (5.9); a sibling in the caller's own core is not preempted, since PowerVM dispatches
// whole cores (5.11); and the form of 6.7, which asks the VPA's idle flag and the target's
// siblings.
#pragma once

#include <cstdint>

#include "hv/vcpu.h"

namespace sim {

// Called on `caller`'s fiber; reads the VPAs as loads of the caller.
bool vcpu_is_preempted(hv::PreemptedRule rule, hv::Vcpu& caller, std::uint32_t cpu);

}  // namespace sim
