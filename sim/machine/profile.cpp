#include "sim/machine/profile.h"

#include <algorithm>
#include <array>
#include <vector>

#include "sim/machine/profile_tables.h"

namespace sim {
namespace {

constexpr std::int64_t kUs = 1'000'000;
constexpr std::int64_t kMs = 1'000'000'000;

// A turn of a spin loop must take time, or virtual time would stand still in it.
constexpr std::int64_t kLeastTurn = 100;  // ps
constexpr std::int64_t kMostWork = 100 * kUs;
constexpr std::int64_t kMostHypervisor = 100 * kMs;

constexpr std::array kFigures{
    Figure{"l1_hit", &Profile::l1_hit, kLeastTurn, kMostWork, "load that hits in the core's cache"},
    Figure{"reservation", &Profile::reservation, 0, kMostWork,
           "load-reserve and store-conditional on an owned line, together"},
    Figure{"acquire_barrier", &Profile::acquire_barrier, 0, kMostWork,
           "barrier after a successful acquisition"},
    Figure{"release_barrier", &Profile::release_barrier, 0, kMostWork,
           "barrier before a releasing store"},
    Figure{"store", &Profile::store, 0, kMostWork, "issue of a plain store"},
    Figure{"loop", &Profile::loop, kLeastTurn, kMostWork,
           "the other instructions of one turn of a spin loop"},
    Figure{"relax", &Profile::relax, 0, kMostWork, "the pause of one turn of a spin loop"},
    Figure{"priority_change", &Profile::priority_change, 0, kMostWork, "one priority no-op"},
    Figure{"transfer_chip", &Profile::transfer_chip, 0, kMs, "line from another core of the chip"},
    Figure{"transfer_socket", &Profile::transfer_socket, 0, kMs,
           "line from another chip of the socket"},
    Figure{"transfer_remote", &Profile::transfer_remote, 0, kMs,
           "line from another socket, one hop"},
    Figure{"transfer_far", &Profile::transfer_far, 0, kMs, "line from another socket, two hops"},
    Figure{"memory", &Profile::memory, 0, kMs, "line from local memory"},
    Figure{"shared_occupancy", &Profile::shared_occupancy, 0, kMs,
           "how long one read of a shared line keeps it busy for others"},
    Figure{"eh_hold", &Profile::eh_hold, 0, kMs,
           "how long a line acquired with the EH=1 hint is held back; 0: not at all"},
    Figure{"capacity_1", &Profile::capacity_1, 100, 8000,
           "capacity of a core with 1 busy thread, in thousandths of one thread alone"},
    Figure{"capacity_2", &Profile::capacity_2, 100, 8000, "the same with 2 busy threads"},
    Figure{"capacity_4", &Profile::capacity_4, 100, 8000, "the same with 4 busy threads"},
    Figure{"capacity_8", &Profile::capacity_8, 100, 8000, "the same with 8 busy threads"},
    Figure{"weight_medium", &Profile::weight_medium, 1, 1000, "decode weight at medium priority"},
    Figure{"weight_low", &Profile::weight_low, 1, 1000, "decode weight after spin_begin"},
    Figure{"weight_relax", &Profile::weight_relax, 1, 1000,
           "decode weight in a loop that pauses each turn"},
    Figure{"priority_nops", &Profile::priority_nops, 0, 1,
           "1: spin_begin and spin_end change the priority"},
    Figure{"line_bytes", &Profile::line_bytes, 8, 4096, "size of a cache line, a power of two"},
    Figure{"sockets_per_hop", &Profile::sockets_per_hop, 1, 64,
           "sockets in one group are one hop apart"},
    Figure{"reserve_exclusive", &Profile::reserve_exclusive, 0, 1,
           "1: a load-reserve fetches the line for writing at once"},
    Figure{"hcall", &Profile::hcall, 0, kMostHypervisor,
           "hypervisor call that dispatches nobody, round trip"},
    Figure{"prod", &Profile::prod, 0, kMostHypervisor,
           "H_PROD's extra work when it makes a vCPU ready"},
    Figure{"switch_cost", &Profile::switch_cost, 0, kMostHypervisor, "dispatch of another vCPU"},
    Figure{"interrupt", &Profile::interrupt, 0, kMostHypervisor,
           "entry and exit of a guest interrupt"},
};

const ProfileTable* find_table(std::string_view name) {
  const auto tables = profile_tables();
  const auto it = std::ranges::find(tables, name, &ProfileTable::name);
  return it == tables.end() ? nullptr : &*it;
}

}  // namespace

std::span<const Figure> figures() {
  return kFigures;
}

const Figure* find_figure(std::string_view key) {
  const auto it = std::ranges::find(kFigures, key, &Figure::key);
  return it == kFigures.end() ? nullptr : &*it;
}

std::int64_t figure_value(const Profile& profile, const Figure& figure) {
  if (const auto* time = std::get_if<Time Profile::*>(&figure.member)) {
    return (profile.**time).count();
  }
  return profile.*std::get<std::int64_t Profile::*>(figure.member);
}

void set_figure(Profile& profile, const Figure& figure, std::int64_t value) {
  if (const auto* time = std::get_if<Time Profile::*>(&figure.member)) {
    profile.** time = picoseconds(value);
  } else {
    profile.*std::get<std::int64_t Profile::*>(figure.member) = value;
  }
}

std::span<const std::string_view> profile_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const ProfileTable& table : profile_tables()) all.push_back(table.name);
    return all;
  }();
  return names;
}

std::optional<Profile> find_profile(std::string_view name) {
  const ProfileTable* table = find_table(name);
  if (table == nullptr) return std::nullopt;
  Profile profile;
  profile.name = table->name;
  for (const ProfileRow& row : table->rows) set_figure(profile, *find_figure(row.key), row.value);
  return profile;
}

std::string_view profile_summary(std::string_view profile) {
  const ProfileTable* table = find_table(profile);
  return table == nullptr ? std::string_view{} : table->summary;
}

std::string_view figure_source(std::string_view profile, std::string_view key) {
  const ProfileTable* table = find_table(profile);
  if (table == nullptr) return {};
  const auto row = std::ranges::find(table->rows, key, &ProfileRow::key);
  return row == table->rows.end() ? std::string_view{} : row->source;
}

}  // namespace sim
