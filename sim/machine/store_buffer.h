// The store buffer of one vCPU: stores that wait for their lines while the code goes on.
//
// Stores take effect in the order in which they were issued, one at a time, so a release needs no
// waiting: what was stored before it is visible before it. A load sees the youngest store of its
// own CPU to the same address at once.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "sim/engine/engine.h"
#include "sim/machine/cache_directory.h"

namespace sim {

// Told when a store takes effect, which may be long after it was issued.
class StoreEffectSink {
 public:
  virtual void store_took_effect(const void* subject, std::uint8_t code) = 0;

 protected:
  ~StoreEffectSink() = default;
};

// What is to be told, once; may be nothing.
struct StoreEffect {
  StoreEffectSink* sink = nullptr;
  const void* subject = nullptr;
  std::uint8_t code = 0;
  void fire() {
    if (sink != nullptr) std::exchange(sink, nullptr)->store_took_effect(subject, code);
  }
};

// Reads and writes objects of 1, 2, 4 or 8 bytes as numbers, in the host's byte order.
std::uint64_t peek(const void* address, std::uint8_t size);
void poke(void* address, std::uint8_t size, std::uint64_t value);

class StoreBuffer final : public EventHandler {
 public:
  // Entries of a real one: POWER9 and Zen 3 have about 60 a core, shared by its threads.
  static constexpr std::uint32_t kEntries = 16;

  class Listener {
   public:
    // A store has left the buffer.
    virtual void store_done() = 0;

   protected:
    ~Listener() = default;
  };

  struct Store {
    void* address = nullptr;
    LineId line = 0;
    CoreId core = 0;
    std::uint8_t size = 0;
    std::uint64_t value = 0;
    StoreEffect effect;
  };

  StoreBuffer(Engine& engine, CacheDirectory& directory, Listener& listener)
      : engine_(engine), directory_(directory), listener_(listener) {}
  // Must be called once before the first store.
  void add_slot() { request_.slot = engine_.add_slot(*this); }

  bool empty() const { return count_ == 0; }
  bool full() const { return count_ == kEntries; }
  bool holds_line(LineId line) const;
  // The value that a load of this object has to see; nullopt: the line's.
  std::optional<std::uint64_t> forward(const void* address, std::uint8_t size) const;
  // Precondition: not full. Takes effect at once if nothing waits and the core owns the line.
  void push(const Store& store);

  bool fire() override;

 private:
  const Store& at(std::uint32_t i) const { return stores_[(first_ + i) % kEntries]; }
  // Lets the first store, and those after it whose lines are owned, take effect or start.
  void drain();
  void pop();

  Engine& engine_;
  CacheDirectory& directory_;
  Listener& listener_;
  std::array<Store, kEntries> stores_;
  std::uint32_t first_ = 0;
  std::uint32_t count_ = 0;
  Request request_;  // of the first store, while it is on its way
};

}  // namespace sim
