#include "sim/guest/guest_lock.h"

#include <stdexcept>
#include <type_traits>

#include "lock/mcs.h"
#include "lock/qspinlock.h"
#include "lock/qspinlock_knobs.h"
#include "lock/simple.h"
#include "lock/ticket.h"

namespace sim {
namespace {

std::int64_t as_number(const std::string& name, const KnobValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  throw std::invalid_argument("knob " + name + " takes a number or a boolean");
}

template <class L>
class GuestLockOf final : public GuestLock {
 public:
  using Knobs = typename L::Knobs;

  template <class... Args>
  GuestLockOf(const LockConfig& config, LockMemory& memory, Args... args) {
    for (const auto& [name, value] : config.knobs)
      if (!knobs_.set(name, as_number(name, value)))
        throw std::invalid_argument(config.algorithm + " has no knob " + name +
                                    ", or not with that value");
    auto areas = memory.areas<typename L::CpuArea>();
    lock_ = memory.machine().memory().make<L>(config.node, knobs_, args..., areas);
  }
  lock::Path lock(SimPlatform& platform) override { return lock_->lock(platform); }
  void unlock(SimPlatform& platform) override { lock_->unlock(platform); }
  bool strict_fifo() const override { return lock_->strict_fifo(); }
  bool queues() const override { return !std::is_empty_v<typename L::CpuArea>; }
  const void* address() const override { return lock_; }

 private:
  Knobs knobs_;
  L* lock_ = nullptr;
};

}  // namespace

std::unique_ptr<GuestLock> make_guest_lock(const LockConfig& config, LockMemory& memory) {
  if (config.algorithm == "qspinlock") {
    const auto stage = lock::parse_stage(config.stage);
    if (!stage) throw std::invalid_argument("qspinlock has no stage " + config.stage);
    return std::make_unique<GuestLockOf<lock::QSpinlock<SimPlatform>>>(config, memory, *stage);
  }
  if (config.algorithm == "simple")
    return std::make_unique<GuestLockOf<lock::SimpleSpinlock<SimPlatform>>>(config, memory);
  if (config.algorithm == "ticket")
    return std::make_unique<GuestLockOf<lock::TicketSpinlock<SimPlatform>>>(config, memory);
  if (config.algorithm == "mcs")
    return std::make_unique<GuestLockOf<lock::McsSpinlock<SimPlatform>>>(config, memory);
  throw std::invalid_argument("no lock algorithm " + config.algorithm);
}

}  // namespace sim
