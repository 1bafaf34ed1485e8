#include "sim/machine/cache_directory.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace sim {

CacheDirectory::CacheDirectory(Engine& engine, const GuestMemory& memory, const Topology& topology,
                               const Profile& profile)
    : engine_(engine),
      memory_(memory),
      topology_(topology),
      profile_(profile),
      cores_(topology.total_cores()),
      words_((cores_ + 63) / 64) {}

void CacheDirectory::grow(LineId line) {
  const std::size_t size = std::max<std::size_t>(memory_.lines(), line + 1);
  lines_.resize(size);
  sharers_.resize(size * words_);
}

bool CacheDirectory::readable(LineId id, CoreId core) {
  const Line& line = at(id);
  if (line.exclusive) return false;
  return line.owner == core || ((sharers(id)[core / 64] >> (core % 64)) & 1) != 0;
}

void CacheDirectory::submit(Request& request) {
  Line& line = at(request.line);
  request.next = nullptr;
  request.failed = false;
  request.deferred = false;
  const bool joins_reads = request.access == Access::read && !line.exclusive &&
                           line.deferred == nullptr && line.head == nullptr;
  if (line.in_flight == 0 || joins_reads) {
    start(line, request);
    return;
  }
  if (line.head == nullptr) {
    line.head = &request;
  } else {
    line.tail->next = &request;
  }
  line.tail = &request;
  if (request.access == Access::conditional) ++line.waiting_conditionals;
}

void CacheDirectory::start(Line& line, Request& request) {
  ++line.in_flight;
  if (line.held_until > engine_.now() && line.owner != request.core) {
    request.deferred = true;
    line.deferred = &request;
    engine_.schedule(request.slot, line.held_until);
    return;
  }
  serve(line, request);
}

void CacheDirectory::serve(Line& line, Request& request) {
  const Time travel = latency(line, request);
  Time begin = engine_.now();
  if (request.access == Access::read) {
    if (line.in_flight > 1)
      begin = std::max(begin, line.last_read_start + profile_.shared_occupancy);
    line.last_read_start = begin;
    if (line.owner != kNoCore && line.owner != request.core) {
      sharers(request.line)[line.owner / 64] |= std::uint64_t{1} << (line.owner % 64);
      line.owner = kNoCore;
    }
  } else {
    if (request.access == Access::conditional && request.version != line.version) {
      // Lost while it was held back.
      request.failed = true;
      --line.in_flight;
      engine_.schedule(request.slot, engine_.now());
      start_waiting(line);
      return;
    }
    take_alone(request.line, line, request.core);
    line.exclusive = true;
    if (request.access != Access::own) written(line);
    wake_watchers(line);
  }
  engine_.schedule(request.slot, begin + travel);
}

void CacheDirectory::start_waiting(Line& line) {
  while (line.head != nullptr) {
    Request& next = *line.head;
    const bool reads_only = !line.exclusive && line.deferred == nullptr;
    if (line.in_flight > 0 && !(reads_only && next.access == Access::read)) return;
    line.head = next.next;
    if (next.access == Access::conditional) --line.waiting_conditionals;
    start(line, next);
  }
}

bool CacheDirectory::complete(Request& request) {
  Line& line = at(request.line);
  if (request.failed) return true;
  if (request.deferred) {
    request.deferred = false;
    line.deferred = nullptr;
    serve(line, request);
    return false;
  }
  assert(line.in_flight > 0);
  line.exclusive = false;
  if (request.access == Access::own) {
    request.version = line.version;
    return true;
  }
  --line.in_flight;
  arrive(line, request);
  // What is served next may already have written the line, from this copy's point of view.
  request.version = line.version;
  start_waiting(line);
  return true;
}

void CacheDirectory::end_own(LineId id) {
  Line& line = at(id);
  --line.in_flight;
  start_waiting(line);
}

void CacheDirectory::arrive(Line& line, Request& request) {
  if (request.access == Access::read) {
    if (line.owner == request.core) return;
    std::uint64_t* set = sharers(request.line);
    const bool alone = line.owner == kNoCore &&
                       std::all_of(set, set + words_, [](std::uint64_t word) { return word == 0; });
    if (alone) {
      line.owner = request.core;
      return;
    }
    if (line.owner != kNoCore) set[line.owner / 64] |= std::uint64_t{1} << (line.owner % 64);
    line.owner = kNoCore;
    set[request.core / 64] |= std::uint64_t{1} << (request.core % 64);
  } else {
    std::memcpy(request.address, &request.value, request.size);
    line.held_until = engine_.now() + request.hold;
  }
}

void CacheDirectory::write_owned(LineId id, [[maybe_unused]] CoreId core) {
  Line& line = at(id);
  assert(line.owner == core && !line.exclusive);
  written(line);
  wake_watchers(line);
}

void CacheDirectory::write_by_hypervisor(LineId id, CoreId core) {
  Line& line = at(id);
  take_alone(id, line, core);
  written(line);
  wake_watchers(line);
}

void CacheDirectory::take_alone(LineId id, Line& line, CoreId core) {
  if (line.owner == kNoCore) std::fill_n(sharers(id), words_, 0);
  line.owner = core;
}

void CacheDirectory::written(Line& line) {
  ++line.version;
  line.held_until = Time{0};
  if (line.waiting_conditionals > 0) fail_waiting_conditionals(line);
  if (line.deferred != nullptr) {
    // The store that the hint waited for has come.
    Request& request = *std::exchange(line.deferred, nullptr);
    request.deferred = false;
    serve(line, request);
  }
}

void CacheDirectory::fail_waiting_conditionals(Line& line) {
  Request** link = &line.head;
  Request* last = nullptr;
  while (*link != nullptr) {
    Request& request = **link;
    if (request.access == Access::conditional) {
      *link = request.next;
      request.failed = true;
      engine_.schedule(request.slot, engine_.now());
    } else {
      last = &request;
      link = &request.next;
    }
  }
  line.tail = last;
  line.waiting_conditionals = 0;
}

void CacheDirectory::wake_watchers(Line& line) {
  for (Watcher::Node* node = line.watchers; node != nullptr;) {
    Watcher* watcher = node->watcher;  // has one node on a line; the call may unlink it
    node = node->next;
    watcher->line_changed();
  }
}

void CacheDirectory::watch(Watcher::Node& node) {
  Line& line = at(node.line);
  node.previous = nullptr;
  node.next = line.watchers;
  if (node.next != nullptr) node.next->previous = &node;
  line.watchers = &node;
}

void CacheDirectory::unwatch(Watcher::Node& node) {
  if (node.previous != nullptr) {
    node.previous->next = node.next;
  } else {
    at(node.line).watchers = node.next;
  }
  if (node.next != nullptr) node.next->previous = node.previous;
}

Time CacheDirectory::latency(Line& line, const Request& request) {
  const LineId id = request.line;
  const CoreId core = request.core;
  const bool here = readable(id, core);
  if (line.owner != kNoCore) return here ? profile_.l1_hit : distance(line.owner, core);
  if (request.access == Access::read) {
    if (here) return profile_.l1_hit;
    const Time nearest = nearest_sharer(id, core);
    return nearest != Time{0} ? nearest : memory_latency(id, core);
  }
  const Time farthest = farthest_sharer(id, core);
  if (farthest != Time{0}) return farthest;
  return here ? profile_.l1_hit : memory_latency(id, core);
}

Time CacheDirectory::distance(CoreId from, CoreId to) const {
  if (from == to) return profile_.l1_hit;
  if (topology_.chip_of_core(from) == topology_.chip_of_core(to)) return profile_.transfer_chip;
  const std::uint32_t a = topology_.socket_of_core(from);
  const std::uint32_t b = topology_.socket_of_core(to);
  if (a == b) return profile_.transfer_socket;
  const auto group = static_cast<std::uint32_t>(profile_.sockets_per_hop);
  return a / group == b / group ? profile_.transfer_remote : profile_.transfer_far;
}

Time CacheDirectory::memory_latency(LineId line, CoreId core) const {
  const std::uint32_t node = memory_.node_of_line(line);
  const CoreId home = std::min(node * topology_.cores * topology_.chips, cores_ - 1);
  const bool local = topology_.socket_of_core(core) == topology_.socket_of_core(home);
  return profile_.memory + (local ? Time{0} : distance(home, core));
}

bool CacheDirectory::any_sharer(LineId line, CoreId first, CoreId last) {
  const std::uint64_t* set = sharers(line);
  for (CoreId word = first / 64; word * 64 < last; ++word) {
    std::uint64_t bits = set[word];
    if (word * 64 < first) bits &= ~std::uint64_t{0} << (first % 64);
    if (last - word * 64 < 64) bits &= (std::uint64_t{1} << (last - word * 64)) - 1;
    if (bits != 0) return true;
  }
  return false;
}

Time CacheDirectory::nearest_sharer(LineId line, CoreId core) {
  const std::uint32_t socket_cores = topology_.cores * topology_.chips;
  const CoreId chip = core / topology_.cores * topology_.cores;
  const CoreId socket = core / socket_cores * socket_cores;
  const CoreId group_cores = socket_cores * static_cast<CoreId>(profile_.sockets_per_hop);
  const CoreId group = core / group_cores * group_cores;
  if (any_sharer(line, chip, chip + topology_.cores)) return profile_.transfer_chip;
  if (any_sharer(line, socket, socket + socket_cores)) return profile_.transfer_socket;
  if (any_sharer(line, group, std::min(group + group_cores, cores_)))
    return profile_.transfer_remote;
  return any_sharer(line, 0, cores_) ? profile_.transfer_far : Time{0};
}

Time CacheDirectory::farthest_sharer(LineId line, CoreId core) {
  const std::uint32_t socket_cores = topology_.cores * topology_.chips;
  const CoreId chip = core / topology_.cores * topology_.cores;
  const CoreId socket = core / socket_cores * socket_cores;
  const CoreId group_cores = socket_cores * static_cast<CoreId>(profile_.sockets_per_hop);
  const CoreId group = core / group_cores * group_cores;
  const CoreId group_end = std::min(group + group_cores, cores_);
  const auto outside = [&](CoreId first, CoreId last, CoreId within_first, CoreId within_last) {
    return any_sharer(line, within_first, first) || any_sharer(line, last, within_last);
  };
  if (outside(group, group_end, 0, cores_)) return profile_.transfer_far;
  if (outside(socket, socket + socket_cores, group, group_end)) return profile_.transfer_remote;
  if (outside(chip, chip + topology_.cores, socket, socket + socket_cores))
    return profile_.transfer_socket;
  return outside(core, core + 1, chip, chip + topology_.cores) ? profile_.transfer_chip : Time{0};
}

}  // namespace sim
