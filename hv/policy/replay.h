// replay: a recorded schedule, followed to the letter.
//
// 1. What it is for. A schedule that was seen once (in a trace of a real machine, or drawn by hand
//    to hit one window of a lock's slow path) can be played to any lock, as often as one likes. It
//    is the sharpest tool for a reproducer: "preempt vCPU 3 here, and see who waits".
//
// 2. The file: replay_file.h.
//
//      time →       0         1.5 ms      2 ms
//      file         0,0,7     1500000,0,- 2000000,0,3
//      pCPU 0     [s 7      ][ (idle)   ][s 3 …           s: the switch, which takes its time
//
//    The record says whose the physical CPU is. The vCPU executes from the end of the switch on, as
//    under any other policy; the cost of a switch is not taken out of the recorded times.
//
// 3. What the file can't know. A vCPU that isn't ready at its time (it has ceded, or waits for
//    another one's dispatch) leaves its physical CPU idle until it is ready or the record changes;
//    nobody else takes it. A vCPU that no line has given a physical CPU to does not run. After the
//    last line the last assignment stays. A vCPU that is given to a second physical CPU moves: the
//    first one is idle then.
//
// 4. Left out: directed dispatch (a confer makes its caller wait, and changes no assignment),
//    weights, entitlements. Background load takes a physical CPU away whatever the file says.
//
// Units: nanoseconds in the file, virtual time here.
#pragma once

#include <string>
#include <vector>

#include "hv/dispatch_policy.h"
#include "hv/policy/replay_file.h"
#include "sim/engine/engine.h"

namespace hv {

class Replay final : public DispatchPolicy {
 public:
  // Throws std::invalid_argument for a file that can't be read or is malformed.
  Replay(const std::string& path, sim::Time slice);

  // Throws std::invalid_argument where the file doesn't fit the machine, the partitions or a pin.
  void start(Hypervisor& hypervisor) override;
  void enqueue(Unit&, Reason) override {}
  void dequeue(Unit&) override {}
  Choice pick(Seat& seat, const Partition* prefer) override;
  void ran(Unit&, Seat&, sim::Time) override {}
  Seat* victim(Unit&) override { return nullptr; }
  Seat* place(Unit& unit) override { return seat_of_[unit.id]; }
  bool allows_directed_dispatch() const override { return false; }
  bool staggers() const override { return false; }

 private:
  // Makes the assignments that are due.
  void step();
  void assign(const ReplayStep& step);

  std::string path_;
  sim::Time slice_;  // slices are renewed as long as the assignment stays
  Hypervisor* hypervisor_ = nullptr;
  std::vector<ReplayStep> steps_;
  std::size_t next_ = 0;
  std::vector<Unit*> unit_on_;  // by seat
  std::vector<Seat*> seat_of_;  // by unit
  sim::Timer timer_;
  sim::Slot slot_ = sim::kNoSlot;
};

}  // namespace hv
