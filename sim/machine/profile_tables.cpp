// Where a row says "estimate within …", publications and vendor manuals give that range and the
// figure is a point in it; "estimate:" alone is a considered guess. "fitted:" would name the
// measurement that a figure was fitted to; none is yet. Nobody publishes POWER9 or POWER10
// core-to-core latencies.
#include "sim/machine/profile_tables.h"

#include <array>

namespace sim {
namespace {

constexpr std::int64_t kNs = 1'000;
constexpr std::int64_t kUs = 1'000'000;

// Sources that several rows share.
constexpr std::string_view kEqualWeights = "no hardware priorities: threads share equally";
constexpr std::string_view kNoPriorities = "no hardware priorities";
constexpr std::string_view kNoEhHint = "no such hint on this ISA";
constexpr std::string_view kPower5Shares =
    "POWER5: decode cycles repeat every R = 2^(|X-Y|+1), one for the lower priority, so low : "
    "medium "
    "= 1 : 7 (Boneti et al., ISCA 2008); later cores are less strict, the ratio is kept as a "
    "figure";
constexpr std::string_view kAlone = "definition: one thread alone";
constexpr std::string_view kSmtGain =
    "estimate: a second thread adds a quarter (vendors and reviews give 20-30 %)";
constexpr std::string_view kBeyondSmt2 = "no more than two threads a core; kept at that of two";
constexpr std::string_view kExclusiveRmw = "a locked instruction owns the line from its first read";
constexpr std::string_view kLoop = "estimate: three or four dependent instructions of a spin loop";
constexpr std::string_view kOccupancy =
    "estimate: reads of one line queue at its home, a small part of a transfer each";
constexpr std::string_view kRound = "round number";

constexpr std::array kPower9{
    ProfileRow{"l1_hit", 1'200, "4-5 cycles at 3.4-4.0 GHz (vendor manuals)"},
    ProfileRow{
        "reservation", 12 * kNs,
        "estimate within 15-30 ns for an uncontended acquire + release (reservations live in "
        "the L2), of which this, both barriers and the store are parts"},
    ProfileRow{"acquire_barrier", 4 * kNs, "estimate: part of the 15-30 ns, see reservation"},
    ProfileRow{"release_barrier", 5 * kNs, "estimate: part of the 15-30 ns, see reservation"},
    ProfileRow{"store", 500, "estimate: about two cycles to enter the store queue"},
    ProfileRow{"loop", 1'500, kLoop},
    ProfileRow{"relax", 1'500,
               "estimate: two no-ops, low and medium (Linux cpu_relax before ISA 3.1)"},
    ProfileRow{"priority_change", 1 * kNs, "estimate: one no-op that ends a dispatch group"},
    ProfileRow{"transfer_chip", 65 * kNs,
               "estimate within 40-90 ns; POWER7 measures 173 ns (nviennot/core-to-core-latency)"},
    ProfileRow{"transfer_socket", 130 * kNs, "estimate between the chip's and the remote figure"},
    ProfileRow{
        "transfer_remote", 240 * kNs,
        "estimate within 180-300 ns; POWER7 measures 443 ns (nviennot/core-to-core-latency)"},
    ProfileRow{"transfer_far", 550 * kNs, "estimate within 400-700 ns (16 sockets, two hops)"},
    ProfileRow{"memory", 85 * kNs,
               "POWER8: 67-91 ns (AnandTech, Assessing IBM's POWER8, part 1, LMBench)"},
    ProfileRow{"shared_occupancy", 5 * kNs, kOccupancy},
    ProfileRow{
        "eh_hold", 50 * kNs,
        "estimate: long enough for a short section; the hint gave +42 % on POWER6 and +78 % on "
        "POWER7 (Linux 4e14a4d17a8c)"},
    ProfileRow{"capacity_1", 1000, kAlone},
    ProfileRow{"capacity_2", 1500, "SMT8 core: about 1.5 (vendor's range)"},
    ProfileRow{"capacity_4", 2250, "estimate within 2.1-2.4"},
    ProfileRow{"capacity_8", 2800, "estimate within 2.6-3"},
    ProfileRow{"weight_medium", 7, kPower5Shares},
    ProfileRow{"weight_low", 1, kPower5Shares},
    ProfileRow{"weight_relax", 4, "estimate: half of each turn at low, half at medium"},
    ProfileRow{"priority_nops", 1, "ISA before 3.1: or 1,1,1 and or 2,2,2 (Linux asm/processor.h)"},
    ProfileRow{"line_bytes", 128, "POWER9 user's manual"},
    ProfileRow{"sockets_per_hop", 4, "16-socket machines: four nodes of four sockets"},
    ProfileRow{"reserve_exclusive", 0,
               "a load-reserve reads shared; only the store takes the line"},
    ProfileRow{"hcall", 300 * kNs, "estimate within 0.1-0.5 us"},
    ProfileRow{"prod", 500 * kNs, "estimate: queue the target and send one doorbell"},
    ProfileRow{"switch_cost", 5 * kUs, "estimate within 2-10 us"},
    ProfileRow{"interrupt", 500 * kNs, "estimate: about 2000 cycles of entry and exit"},
};

constexpr std::array kPower10{
    ProfileRow{"l1_hit", 1 * kNs, "4 cycles at about 4 GHz (vendor manuals)"},
    ProfileRow{"reservation", 10 * kNs,
               "estimate: POWER9's figure less a part (IBM, Hot Chips 32: cache latencies fell)"},
    ProfileRow{"acquire_barrier", 3 * kNs, "estimate: POWER9's figure less a part"},
    ProfileRow{"release_barrier", 4 * kNs, "estimate: POWER9's figure less a part"},
    ProfileRow{"store", 500, "estimate: as POWER9"},
    ProfileRow{"loop", 1'250, kLoop},
    ProfileRow{"relax", 16 * kNs, "estimate: wait 2,0 (pause_short); no figure is published"},
    ProfileRow{"priority_change", 0, "spin_begin and spin_end are empty from ISA 3.1 on (Linux)"},
    ProfileRow{"transfer_chip", 55 * kNs, "estimate: POWER9's range, its lower half"},
    ProfileRow{"transfer_socket", 110 * kNs, "estimate between the chip's and the remote figure"},
    ProfileRow{"transfer_remote", 210 * kNs, "estimate: POWER9's range, its lower half"},
    ProfileRow{"transfer_far", 480 * kNs, "estimate: POWER9's range, its lower half"},
    ProfileRow{"memory", 85 * kNs, "estimate: as POWER9"},
    ProfileRow{"shared_occupancy", 4 * kNs, kOccupancy},
    ProfileRow{"eh_hold", 50 * kNs, "estimate: as POWER9"},
    ProfileRow{"capacity_1", 1000, kAlone},
    ProfileRow{"capacity_2", 1600, "estimate: wider core than POWER9's 1.5"},
    ProfileRow{"capacity_4", 2400, "estimate: upper end of POWER9's 2.1-2.4"},
    ProfileRow{"capacity_8", 3000, "estimate: upper end of POWER9's 2.6-3"},
    ProfileRow{"weight_medium", 7, kPower5Shares},
    ProfileRow{"weight_low", 1, kPower5Shares},
    ProfileRow{"weight_relax", 1, "estimate: a thread in pause_short issues next to nothing"},
    ProfileRow{"priority_nops", 0,
               "ISA 3.1: a pause instead of priorities (Linux asm/processor.h)"},
    ProfileRow{"line_bytes", 128, "POWER10 user's manual"},
    ProfileRow{"sockets_per_hop", 4, "16-socket machines: four nodes of four sockets"},
    ProfileRow{"reserve_exclusive", 0,
               "a load-reserve reads shared; only the store takes the line"},
    ProfileRow{"hcall", 300 * kNs, "estimate within 0.1-0.5 us"},
    ProfileRow{"prod", 500 * kNs, "estimate: as POWER9"},
    ProfileRow{"switch_cost", 5 * kUs, "estimate within 2-10 us"},
    ProfileRow{"interrupt", 500 * kNs, "estimate: as POWER9"},
};

// "chip" is a core complex with one L3, "socket" the other complexes of the package.
constexpr std::array kEpyc{
    ProfileRow{"l1_hit", 1'200, "4 cycles at 3.4 GHz (Zen 3; AnandTech gives 4 for Rome)"},
    ProfileRow{
        "reservation", 5 * kNs,
        "estimate within 5-8 ns for an uncontended acquire + release; the store is the rest"},
    ProfileRow{"acquire_barrier", 0, "a locked instruction is a full barrier"},
    ProfileRow{"release_barrier", 0, "x86 stores release"},
    ProfileRow{"store", 500, "estimate: about two cycles to enter the store buffer"},
    ProfileRow{"loop", 1'200, kLoop},
    ProfileRow{"relax", 19 * kNs, "estimate: PAUSE, about 65 cycles at 3.4 GHz"},
    ProfileRow{"priority_change", 0, kNoPriorities},
    ProfileRow{"transfer_chip", 23 * kNs,
               "EPYC 7R13: 23 ns within a complex (nviennot/core-to-core-latency)"},
    ProfileRow{"transfer_socket", 107 * kNs,
               "EPYC 7R13: 107 ns between complexes (nviennot/core-to-core-latency)"},
    ProfileRow{"transfer_remote", 197 * kNs,
               "EPYC 7R13: 197 ns between sockets (nviennot/core-to-core-latency)"},
    ProfileRow{"transfer_far", 197 * kNs, "two sockets at most: as one hop"},
    ProfileRow{"memory", 113 * kNs, "Rome: 113-134 ns (AnandTech)"},
    ProfileRow{"shared_occupancy", 3 * kNs, kOccupancy},
    ProfileRow{"eh_hold", 0, kNoEhHint},
    ProfileRow{"capacity_1", 1000, kAlone},
    ProfileRow{"capacity_2", 1300, kSmtGain},
    ProfileRow{"capacity_4", 1300, kBeyondSmt2},
    ProfileRow{"capacity_8", 1300, kBeyondSmt2},
    ProfileRow{"weight_medium", 1, kEqualWeights},
    ProfileRow{"weight_low", 1, kEqualWeights},
    ProfileRow{"weight_relax", 1, kEqualWeights},
    ProfileRow{"priority_nops", 0, kNoPriorities},
    ProfileRow{"line_bytes", 64, "AMD64 architecture manual"},
    ProfileRow{"sockets_per_hop", 2, "two sockets, directly linked"},
    ProfileRow{"reserve_exclusive", 1, kExclusiveRmw},
    ProfileRow{"hcall", 1 * kUs, "a vmexit: estimate within 0.7-1.5 us"},
    ProfileRow{"prod", 1 * kUs, "estimate: wake the target's thread and send one interrupt"},
    ProfileRow{"switch_cost", 3 * kUs, "estimate within 2-5 us"},
    ProfileRow{"interrupt", 1 * kUs, "estimate: entry and exit of an injected interrupt"},
};

constexpr std::array kXeon{
    ProfileRow{"l1_hit", 1'800, "5 cycles at 2.8 GHz (mesh Xeons)"},
    ProfileRow{
        "reservation", 6 * kNs,
        "estimate within 5-9 ns for an uncontended acquire + release; the store is the rest"},
    ProfileRow{"acquire_barrier", 0, "a locked instruction is a full barrier"},
    ProfileRow{"release_barrier", 0, "x86 stores release"},
    ProfileRow{"store", 500, "estimate: about two cycles to enter the store buffer"},
    ProfileRow{"loop", 1'500, kLoop},
    ProfileRow{"relax", 45 * kNs,
               "estimate: PAUSE, up to 140 cycles since Skylake (Intel optimization manual)"},
    ProfileRow{"priority_change", 0, kNoPriorities},
    ProfileRow{"transfer_chip", 48 * kNs,
               "Xeon Gold 6242: 48 ns (nviennot/core-to-core-latency); range 45-65 ns"},
    ProfileRow{"transfer_socket", 65 * kNs, "one chip a socket: upper end of the chip's 45-65 ns"},
    ProfileRow{"transfer_remote", 136 * kNs,
               "Xeon Gold 6242: 136 ns (nviennot/core-to-core-latency); range 120-160 ns"},
    ProfileRow{"transfer_far", 200 * kNs, "estimate: one hop and a half"},
    ProfileRow{"memory", 93 * kNs, "Broadwell Xeon: 90-96 ns (AnandTech, LMBench)"},
    ProfileRow{"shared_occupancy", 3 * kNs, kOccupancy},
    ProfileRow{"eh_hold", 0, kNoEhHint},
    ProfileRow{"capacity_1", 1000, kAlone},
    ProfileRow{"capacity_2", 1250, kSmtGain},
    ProfileRow{"capacity_4", 1250, kBeyondSmt2},
    ProfileRow{"capacity_8", 1250, kBeyondSmt2},
    ProfileRow{"weight_medium", 1, kEqualWeights},
    ProfileRow{"weight_low", 1, kEqualWeights},
    ProfileRow{"weight_relax", 1, kEqualWeights},
    ProfileRow{"priority_nops", 0, kNoPriorities},
    ProfileRow{"line_bytes", 64, "Intel 64 architecture manual"},
    ProfileRow{"sockets_per_hop", 4, "up to four sockets are directly linked"},
    ProfileRow{"reserve_exclusive", 1, kExclusiveRmw},
    ProfileRow{"hcall", 1 * kUs, "a vmexit: estimate within 0.7-1.5 us"},
    ProfileRow{"prod", 1 * kUs, "estimate: wake the target's thread and send one interrupt"},
    ProfileRow{"switch_cost", 3 * kUs, "estimate within 2-5 us"},
    ProfileRow{"interrupt", 1 * kUs, "estimate: entry and exit of an injected interrupt"},
};

// No machine in particular: figures that are easy to reckon with by hand.
constexpr std::array kGeneric{
    ProfileRow{"l1_hit", 1 * kNs, kRound},
    ProfileRow{"reservation", 10 * kNs, kRound},
    ProfileRow{"acquire_barrier", 2 * kNs, kRound},
    ProfileRow{"release_barrier", 2 * kNs, kRound},
    ProfileRow{"store", 1 * kNs, kRound},
    ProfileRow{"loop", 2 * kNs, kRound},
    ProfileRow{"relax", 10 * kNs, kRound},
    ProfileRow{"priority_change", 0, kNoPriorities},
    ProfileRow{"transfer_chip", 50 * kNs, kRound},
    ProfileRow{"transfer_socket", 100 * kNs, kRound},
    ProfileRow{"transfer_remote", 200 * kNs, kRound},
    ProfileRow{"transfer_far", 400 * kNs, kRound},
    ProfileRow{"memory", 100 * kNs, kRound},
    ProfileRow{"shared_occupancy", 5 * kNs, kRound},
    ProfileRow{"eh_hold", 0, kRound},
    ProfileRow{"capacity_1", 1000, kAlone},
    ProfileRow{"capacity_2", 1500, kRound},
    ProfileRow{"capacity_4", 2000, kRound},
    ProfileRow{"capacity_8", 2500, kRound},
    ProfileRow{"weight_medium", 1, kEqualWeights},
    ProfileRow{"weight_low", 1, kEqualWeights},
    ProfileRow{"weight_relax", 1, kEqualWeights},
    ProfileRow{"priority_nops", 0, kNoPriorities},
    ProfileRow{"line_bytes", 64, kRound},
    ProfileRow{"sockets_per_hop", 4, kRound},
    ProfileRow{"reserve_exclusive", 1, "the commoner case: the line is fetched for writing"},
    ProfileRow{"hcall", 500 * kNs, kRound},
    ProfileRow{"prod", 500 * kNs, kRound},
    ProfileRow{"switch_cost", 5 * kUs, kRound},
    ProfileRow{"interrupt", 500 * kNs, kRound},
};

constexpr std::array kTables{
    ProfileTable{"power9", "IBM POWER9: SMT priorities, LL/SC, 128-byte lines, PowerVM", kPower9},
    ProfileTable{"power10", "IBM POWER10: pause instead of SMT priorities, LL/SC, PowerVM",
                 kPower10},
    ProfileTable{"epyc", "AMD EPYC (Zen 3): core complexes as chips, SMT2, KVM", kEpyc},
    ProfileTable{"xeon", "Intel Xeon (mesh): SMT2, slow PAUSE, KVM", kXeon},
    ProfileTable{"generic", "no machine in particular: round numbers, easy to check by hand",
                 kGeneric},
};

}  // namespace

std::span<const ProfileTable> profile_tables() {
  return kTables;
}

}  // namespace sim
