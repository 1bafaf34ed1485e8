#include "hv/background.h"

namespace hv {
namespace {

sim::Distribution exponential(sim::Time mean) {
  return {.kind = sim::Distribution::Kind::exponential, .mean = mean};
}

sim::Time gap_mean(const hv::Background& load) {
  const double picoseconds =
      static_cast<double>(load.mean.count()) * (1.0 - load.share) / load.share;
  return sim::Time{static_cast<std::int64_t>(picoseconds)};
}

}  // namespace

Hypervisor::Background::Background(Hypervisor& hypervisor, Seat& seat)
    : hypervisor_(hypervisor),
      seat_(seat),
      random_(hypervisor.seed(), "background", seat.id),
      busy_(exponential(hypervisor.config().background.mean)),
      gap_(exponential(gap_mean(hypervisor.config().background))),
      timer_([this] { step(); }),
      slot_(hypervisor.machine().engine().add_slot(timer_)) {}

void Hypervisor::Background::start() {
  hypervisor_.machine().engine().schedule(slot_, gap_.sample(random_));
}

void Hypervisor::Background::step() {
  sim::Engine& engine = hypervisor_.machine().engine();
  if (seat_.state != Seat::State::taken) {
    Unit* unit = seat_.unit;
    if (unit != nullptr) hypervisor_.preempt(seat_, DispatchPolicy::Reason::preempted);
    engine.cancel(seat_.timer);
    seat_.state = Seat::State::taken;
    hypervisor_.use_threads(seat_, sim::CpuUse::background);
    if (unit != nullptr) hypervisor_.place(*unit);
    engine.schedule(slot_, engine.now() + busy_.sample(random_));
  } else {
    hypervisor_.set_idle(seat_);
    hypervisor_.pick_for(seat_, nullptr, sim::Time{0});
    engine.schedule(slot_, engine.now() + gap_.sample(random_));
  }
}

}  // namespace hv
