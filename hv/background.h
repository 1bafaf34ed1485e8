// Background load: somebody else takes a physical CPU away at random times.
#pragma once

#include "hv/hypervisor.h"
#include "sim/engine/distribution.h"

namespace hv {

// Takes one seat for `share` of the time: exponential pieces of the configured mean, with
// exponential gaps between them.
struct Hypervisor::Background {
  Background(Hypervisor& hypervisor, Seat& seat);
  void start();

 private:
  void step();

  Hypervisor& hypervisor_;
  Seat& seat_;
  sim::Random random_;
  sim::Distribution busy_;
  sim::Distribution gap_;
  sim::Timer timer_;
  sim::Slot slot_;
};

}  // namespace hv
