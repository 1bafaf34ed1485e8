// The cache-line directory: which core holds each line, and what a transfer costs.
//
// A load that hits in its core's cache is invisible to everybody else. A miss, or a write to a line
// that the core does not own alone, is a coherence transaction: transactions on one line are served
// one after the other, in order of arrival. That, and nothing else, makes N spinners on one word
// cost O(N) a hand-over. Reads of one line overlap: each keeps the line busy for `shared_occupancy`
// only, since the holder can answer the next one while the first answer travels.
//
// When a transaction that writes is served, all other copies are gone at once (the snoop); the line
// and its new value arrive `latency` later, and until then nobody has it. A read demotes the
// owner's copy to a shared one when it is served.
//
// A store-conditional succeeds when nobody has written the line since the load-reserve. One that
// waits for its turn while somebody else's write is served fails at that moment, as a reservation
// that is lost to a snoop does, and takes no transfer.
//
// A cache belongs to a core and is shared by its threads. Capacity is not modelled: a line stays
// until another core writes it.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/engine.h"
#include "sim/engine/time.h"
#include "sim/machine/guest_memory.h"
#include "sim/machine/profile.h"
#include "sim/machine/topology.h"

namespace sim {

using CoreId = std::uint32_t;
inline constexpr CoreId kNoCore = ~CoreId{0};

enum class Access : std::uint8_t {
  read,         // a shared copy
  own,          // the only copy, unchanged so far
  store,        // the only copy, and the value written
  conditional,  // the same if the reservation still stands
};

// One transaction. The requester owns it and keeps it until it is complete.
struct Request {
  Slot slot = kNoSlot;  // whose event marks the completion
  LineId line = 0;
  CoreId core = 0;
  Access access = Access::read;
  bool failed = false;      // conditional: the reservation was lost
  std::uint8_t size = 0;    // store, conditional: bytes to write
  std::uint64_t value = 0;  // and what
  void* address = nullptr;
  std::uint64_t version = 0;  // conditional: of the line when it was reserved
  Time hold{};                // store, conditional: how long to hold the line back afterwards
  bool deferred = false;      // held back by the EH hint; its service has not begun
  Request* next = nullptr;
};

// Somebody who sleeps until a line that it has read is written or taken away.
class Watcher {
 public:
  struct Node {
    Watcher* watcher = nullptr;
    LineId line = 0;
    Node* previous = nullptr;
    Node* next = nullptr;
  };
  // May unlink any of its own nodes. Spurious calls are allowed.
  virtual void line_changed() = 0;

 protected:
  ~Watcher() = default;
};

class CacheDirectory {
 public:
  CacheDirectory(Engine& engine, const GuestMemory& memory, const Topology& topology,
                 const Profile& profile);

  bool readable(LineId id, CoreId core);
  bool writable(LineId id, CoreId core) {
    const Line& line = at(id);
    return line.owner == core && !line.exclusive;
  }
  // Grows with every write to the line, at the moment at which other copies are invalidated.
  std::uint64_t version(LineId line) { return at(line).version; }

  // Starts the transaction, or queues it behind those on the same line. The engine's event of
  // `request.slot` is scheduled for its completion; the handler then calls complete().
  void submit(Request& request);
  // The event of `request.slot` is due. Returns whether the transaction is complete: the line has
  // arrived and the value is written. False: it was held back and begins only now.
  // After an Access::own the line is the requester's until it calls end_own() at the same instant:
  // what it does with the value is one atomic operation.
  bool complete(Request& request);
  void end_own(LineId id);

  // A write by the core that owns the line alone; takes effect at once.
  void write_owned(LineId id, CoreId core);
  // The hypervisor writes the line from `core`; its cost is in the cost of what it does there.
  void write_by_hypervisor(LineId id, CoreId core);
  // Holds the line back from other cores until `until` (the EH=1 hint), or a write ends it.
  void hold(LineId line, Time until) { at(line).held_until = until; }

  void watch(Watcher::Node& node);
  void unwatch(Watcher::Node& node);

 private:
  struct Line {
    std::uint64_t version = 0;
    Time held_until{};
    Time last_read_start{};
    Request* head = nullptr;  // transactions that wait
    Request* tail = nullptr;
    Watcher::Node* watchers = nullptr;
    CoreId owner = kNoCore;
    std::uint16_t in_flight = 0;
    bool exclusive = false;       // what is in flight writes: nobody has the line
    Request* deferred = nullptr;  // in flight, but held back by the EH hint
    std::uint16_t waiting_conditionals = 0;
  };

  Line& at(LineId line) {
    if (line >= lines_.size()) grow(line);
    return lines_[line];
  }
  void grow(LineId line);
  std::uint64_t* sharers(LineId line) { return &sharers_[std::size_t{line} * words_]; }

  void start(Line& line, Request& request);
  void serve(Line& line, Request& request);
  void arrive(Line& line, Request& request);
  void start_waiting(Line& line);
  void fail_waiting_conditionals(Line& line);
  void written(Line& line);
  void take_alone(LineId id, Line& line, CoreId core);
  void wake_watchers(Line& line);
  Time latency(Line& line, const Request& request);
  Time distance(CoreId from, CoreId to) const;
  bool any_sharer(LineId line, CoreId first, CoreId last);
  // Distance to the nearest, or farthest, other core that shares the line; Time{0}: none.
  Time nearest_sharer(LineId line, CoreId core);
  Time farthest_sharer(LineId line, CoreId core);
  Time memory_latency(LineId line, CoreId core) const;

  Engine& engine_;
  const GuestMemory& memory_;
  Topology topology_;
  Profile profile_;
  CoreId cores_;
  std::size_t words_;  // of a sharer set
  std::vector<Line> lines_;
  std::vector<std::uint64_t> sharers_;  // sets of cores, by line
};

}  // namespace sim
