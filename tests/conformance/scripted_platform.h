// A Platform without threads: one CPU, plain memory, and a script that plays everybody else.
//
// Everything the lock asks is written to `log`, one line each; memory only where it was given a
// name. The script acts at turns of relax (at_turn), or at any logged request (before): before it
// is carried out, except that an update has taken effect by the time its line comes ("try word" is
// before). With `skip` a relax lets its whole budget pass unless the script acts first, otherwise
// one turn: a lock must behave the same under both. A wait that nothing will ever end throws.
//
//   load word | update word acquire eh | refused word | cas word release | cas-failed word
//   store word relaxed =0 | half word release =0 | fence acquire | count 2 | preempted? 2
//   confer 2@5 | confer any | prod 3 | begin | end | relax 32 | clock | note acquired
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lock/platform.h"

namespace test {

// g++ 12 warns of an overlapping copy in `"literal" + std::string` (its bug 105651).
inline std::string joined(std::string left, const std::string& right) {
  left += right;
  return left;
}

inline std::string name_of(lock::Note note) {
  static const char* const names[] = {"queued",    "head",     "must_queue",
                                      "may_steal", "acquired", "released"};
  return names[static_cast<std::size_t>(note)];
}

class ScriptedPlatform {
 public:
  template <class T>
  struct Atomic {
    T value{};
  };

  ScriptedPlatform(lock::CpuId me, lock::CpuId cpus)
      : counts(cpus, 0), preempted(cpus, false), nodes(cpus, 0), me_(me) {}

  std::vector<std::uint32_t> counts;  // yield counts
  std::vector<bool> preempted;        // what vcpu_is_preempted says
  std::vector<std::uint32_t> nodes;
  bool shared = true;
  bool skip = true;
  bool low_priority_hcalls = false;  // whether a confer between spin_begin and spin_end is right
  std::uint64_t now = 0;
  std::uint64_t turns = 0;
  std::vector<std::string> log;
  std::function<void(const std::string&)> before;

  template <class T>
  void name(const Atomic<T>& a, std::string as) {
    names_[&a] = std::move(as);
  }
  void name(const void* a, std::string as) { names_[a] = std::move(as); }
  void at_turn(std::uint64_t turn, std::function<void()> act) {
    script_.emplace(turn, std::move(act));
  }

  std::size_t count(const std::string& prefix) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        log, [&](const std::string& line) { return line.starts_with(prefix); }));
  }
  // Position of the first line with that prefix at or after `from`; log.size() if there is none.
  std::size_t find(const std::string& prefix, std::size_t from = 0) const {
    while (from < log.size() && !log[from].starts_with(prefix)) ++from;
    return from;
  }
  std::vector<std::string> notes() const {
    std::vector<std::string> found;
    for (const auto& line : log) {
      if (line.starts_with("note ")) found.push_back(line.substr(5));
    }
    return found;
  }
  int depth() const { return depth_; }  // spin_begins that are open

  template <class T>
  T load(const Atomic<T>& a, std::memory_order) {
    record(a, "load ");
    return a.value;
  }
  template <class T>
  void store(Atomic<T>& a, std::type_identity_t<T> value, std::memory_order order) {
    std::string suffix = order_name(order);
    if constexpr (std::is_integral_v<T>) suffix += joined(" =", std::to_string(value));
    record(a, "store ", suffix);
    a.value = value;
    commit();
  }
  void store_low_half(Atomic<std::uint32_t>& a, std::uint16_t value, std::memory_order order) {
    record(a, "half ", order_name(order) + joined(" =", std::to_string(value)));
    a.value = (a.value & 0xffff0000u) | value;
    commit();
  }
  template <class T, class F>
  lock::Updated<T> update(Atomic<T>& a, F&& f, std::memory_order order, lock::Hint hint);
  template <class T>
  T compare_exchange(Atomic<T>& a, std::type_identity_t<T> expected, std::type_identity_t<T> wanted,
                     std::memory_order order, lock::Hint hint);
  void fence(std::memory_order order) { say(joined("fence", order_name(order))); }

  lock::CpuId processor_id() const { return me_; }
  lock::CpuId processors() const { return static_cast<lock::CpuId>(counts.size()); }
  std::uint32_t node_of(lock::CpuId cpu) const { return nodes.at(cpu); }
  bool is_shared_processor() const { return shared; }
  std::uint32_t yield_count_of(lock::CpuId cpu) {
    say(joined("count ", std::to_string(cpu)));
    return counts.at(cpu);
  }
  bool vcpu_is_preempted(lock::CpuId cpu) {
    say(joined("preempted? ", std::to_string(cpu)));
    return preempted.at(cpu);
  }
  void yield_to_preempted(lock::CpuId cpu, std::uint32_t count) {
    hcall(joined("confer ", std::to_string(cpu)) + joined("@", std::to_string(count)));
  }
  void yield_to_any() { hcall("confer any"); }
  void prod(lock::CpuId cpu) { hcall(joined("prod ", std::to_string(cpu))); }

  void spin_begin() {
    say("begin");
    if (++depth_ != 1) throw std::logic_error("spin_begin twice");
  }
  void spin_end() {
    say("end");
    if (--depth_ != 0) throw std::logic_error("spin_end without spin_begin");
  }
  std::uint64_t relax(std::uint64_t budget);
  std::uint64_t clock() {
    say("clock");
    return now;
  }
  bool clock_before(std::uint64_t time) { return now < time; }

  void note(const void*, lock::Note note) { say(joined("note ", name_of(note))); }
  void note_at_next_store(const void*, lock::Note note) { pending_ = note; }

 private:
  static std::string order_name(std::memory_order order) {
    if (order == std::memory_order_acquire) return " acquire";
    if (order == std::memory_order_release) return " release";
    return order == std::memory_order_relaxed ? " relaxed" : " other";
  }

  void say(const std::string& line) {
    if (log.size() > 200'000) throw std::runtime_error("the script never ends");
    if (before) before(line);
    log.push_back(line);
  }
  template <class T>
  void record(const Atomic<T>& a, const std::string& what, const std::string& suffix = "") {
    const auto it = names_.find(&a);
    if (it != names_.end()) say(what + it->second + suffix);
  }
  template <class T>
  bool named(const Atomic<T>& a) const {
    return names_.contains(&a);
  }
  void hcall(const std::string& line) {
    if (depth_ != 0 && !low_priority_hcalls)
      throw std::logic_error(joined("hcall at low priority: ", line));
    say(line);
  }
  void commit() {
    if (const auto note = std::exchange(pending_, std::nullopt))
      say(joined("note ", name_of(*note)));
  }

  lock::CpuId me_;
  int depth_ = 0;
  std::optional<lock::Note> pending_;
  std::map<const void*, std::string> names_;
  std::multimap<std::uint64_t, std::function<void()>> script_;
};

template <class T, class F>
lock::Updated<T> ScriptedPlatform::update(Atomic<T>& a, F&& f, std::memory_order order,
                                          lock::Hint hint) {
  const std::string suffix = order_name(order) + (hint == lock::Hint::lock ? " eh" : "");
  if (before && named(a)) before(joined("try ", names_[&a]));
  const T old = a.value;
  const std::optional<T> wanted = f(old);
  if (wanted) a.value = *wanted;
  record(a, wanted ? "update " : "refused ", wanted ? suffix : "");
  if (!wanted) {
    pending_.reset();
    return {old, false};
  }
  commit();
  return {old, true};
}

template <class T>
T ScriptedPlatform::compare_exchange(Atomic<T>& a, std::type_identity_t<T> expected,
                                     std::type_identity_t<T> wanted, std::memory_order order,
                                     lock::Hint hint) {
  const std::string suffix = order_name(order) + (hint == lock::Hint::lock ? " eh" : "");
  if (before && named(a)) before(joined("try ", names_[&a]));
  const T old = a.value;
  if (old == expected) a.value = wanted;
  record(a, old == expected ? "cas " : "cas-failed ", suffix);
  if (old != expected) {
    pending_.reset();
    return old;
  }
  commit();
  return old;
}

inline std::uint64_t ScriptedPlatform::relax(std::uint64_t budget) {
  if (budget == 0) throw std::logic_error("relax without a turn");
  say(budget == lock::kNoBudget ? std::string("relax") : joined("relax ", std::to_string(budget)));
  const auto next = script_.begin();
  if (next == script_.end() && skip && budget == lock::kNoBudget) {
    throw std::runtime_error("waits for ever");
  }
  std::uint64_t passed = skip ? budget : 1;
  if (next != script_.end())
    passed = std::min(passed, std::max<std::uint64_t>(1, next->first - turns));
  turns += passed;
  while (!script_.empty() && script_.begin()->first <= turns) {
    const auto act = std::move(script_.begin()->second);
    script_.erase(script_.begin());
    act();
  }
  return passed;
}

static_assert(lock::Platform<ScriptedPlatform>);

}  // namespace test
