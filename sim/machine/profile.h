// Machine profiles: what the hardware costs, each figure with its source.
//
// A profile is a value: take a built-in one with `find_profile`, override figures by key with
// `set_figure` (the config reader does), hand it to the machine. Units are in the types: `Time` is
// virtual time; weights and per-mille figures are plain integers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "sim/engine/time.h"

namespace sim {

struct Profile {
  std::string name = "generic";

  // Work: executed instructions, so it takes longer on a core that is shared (see smt_core.h).
  Time l1_hit{};           // load that hits in the core's cache
  Time reservation{};      // load-reserve + store-conditional on a line the core owns, together
  Time acquire_barrier{};  // barrier after a successful acquisition
  Time release_barrier{};  // barrier before a releasing store
  Time store{};            // issue of a plain store into the store buffer
  Time loop{};             // the other instructions of one turn of a spin loop
  Time relax{};            // the pause (or priority no-ops) of one turn
  Time priority_change{};  // one priority no-op; unused where priority_nops = 0

  // Latency: coherence transactions, independent of the core's rate.
  Time transfer_chip{};     // line from another core of the chip
  Time transfer_socket{};   // from another chip of the socket
  Time transfer_remote{};   // from another socket, one hop
  Time transfer_far{};      // from another socket, two hops (see sockets_per_hop)
  Time memory{};            // line from local memory; remote memory adds the transfer figure
  Time shared_occupancy{};  // how long one read of a shared line keeps the line busy for others
  Time eh_hold{};  // how long a line acquired with the EH=1 hint is held back; 0: not at all

  // SMT: capacity of a core, in thousandths of one thread alone, for 1, 2, 4, 8 busy threads.
  std::int64_t capacity_1 = 1000;
  std::int64_t capacity_2 = 1000;
  std::int64_t capacity_4 = 1000;
  std::int64_t capacity_8 = 1000;
  // Decode weights of the hardware priorities; a thread's share is its weight over the sum.
  std::int64_t weight_medium = 1;
  std::int64_t weight_low = 1;     // after spin_begin
  std::int64_t weight_relax = 1;   // in a loop that pauses, or dips low and medium, each turn
  std::int64_t priority_nops = 0;  // 1: spin_begin/spin_end change the priority (ISA < 3.1)

  std::int64_t line_bytes = 64;
  // Sockets with numbers in one group of this size are one hop apart.
  std::int64_t sockets_per_hop = 4;
  std::int64_t reserve_exclusive = 1;  // 1: a load-reserve fetches the line for writing at once

  // Hypervisor.
  Time hcall{};        // a hypervisor call that dispatches nobody, round trip
  Time prod{};         // H_PROD's extra work when it makes a vCPU ready
  Time switch_cost{};  // dispatch of another vCPU (or, granularity core, of another virtual core)
  Time interrupt{};    // entry and exit of a guest interrupt
};

// One figure of a profile: its key in the config ([machine] key = …, or [hypervisor] for the last
// group) and where to find it.
struct Figure {
  std::string_view key;
  std::variant<Time Profile::*, std::int64_t Profile::*> member;
  std::int64_t min;  // smallest and largest allowed value; for a Time in picoseconds
  std::int64_t max;
  std::string_view meaning;
};

std::span<const Figure> figures();
const Figure* find_figure(std::string_view key);
// Picoseconds for a Time. `set_figure` does not check the bounds: the config reader does.
std::int64_t figure_value(const Profile& profile, const Figure& figure);
void set_figure(Profile& profile, const Figure& figure, std::int64_t value);

std::span<const std::string_view> profile_names();
// nullopt for an unknown name.
std::optional<Profile> find_profile(std::string_view name);
// One line; empty for an unknown name.
std::string_view profile_summary(std::string_view profile);
// Where the figure of that profile comes from: a citation, an estimate, or "fitted: …".
std::string_view figure_source(std::string_view profile, std::string_view key);

}  // namespace sim
