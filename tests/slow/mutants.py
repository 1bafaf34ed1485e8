#!/usr/bin/env python3
"""Plants faults in locks, hypervisor, machine and measures, one at a time; a test must notice each.

    tests/slow/mutants.py [NAME…]

Works in a temporary copy of the committed tree; builds the tests named in TESTS there, replaces one
piece of text a mutant (which must occur exactly once), rebuilds and runs. A mutant is caught when a
test fails, crashes or hangs. Prints a table; exit code 1 if a mutant survives or fits no more.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

LOCK_TESTS = ["qspinlock", "native_qspinlock", "native_locks", "guest_failure", "showcase",
              "exactness_property"]
HV_TESTS = ["hcall_cede", "hcall_prod", "hcall_confer", "dispatch", "hypervisor_stress", "showcase"]
MACHINE_TESTS = ["cache_directory", "smt_core", "guest_failure", "exactness_property", "showcase"]
MEASURE_TESTS = ["lock_monitor"]
GUEST_TESTS = ["shipped_configs", "guest_failure", "exactness_property"]
POLICY_TESTS = ["policy_dispatch_wheel", "policy_fair", "policy_gang", "dispatch",
                "hypervisor_stress"]
SECONDS = 60  # a test takes a few; more is a hang

CORE = "lock/qspinlock_core.h"
SLOW = "lock/qspinlock.h"
YIELD = "lock/qspinlock_yield.h"
HCALL = "hv/hcall.cpp"
HYPERVISOR = "hv/hypervisor.cpp"
EXECUTION = "sim/machine/execution.cpp"
SPIN = "sim/machine/execution_spin.cpp"
DIRECTORY = "sim/machine/cache_directory.cpp"
MONITOR = "sim/measure/lock_monitor.cpp"
STALLS = "sim/measure/stall_tracker.h"
GUEST = "sim/guest/guest_cpu.cpp"
WHEEL = "hv/policy/dispatch_wheel.cpp"
FAIR = "hv/policy/fair.cpp"

# name, file, text, replacement, tests
MUTANTS = [
    ("queue is not released at hand-over", SLOW,
     "p_.store(next->locked, std::uint8_t{1}, kRelaxed);\n      return;", "return;", LOCK_TESTS),
    ("owner does not wait for the successor's link", SLOW,
     "while (next == nullptr) {", "if (next == nullptr) return;\n    while (next == nullptr) {",
     LOCK_TESTS),
    ("tail is not cleared by the last in the queue", CORE,
     "return others == tail ? mine : others | mine;", "return others | mine;", LOCK_TESTS),
    ("publish_tail drops the flags and the owner", CORE,
     "return (word & ~qword::kTailMask) | tail;", "return word * 0 + tail;", LOCK_TESTS),
    ("unlock clears the whole word", CORE,
     "p.store_low_half(word_, 0, std::memory_order_release);",
     "p.store(word_, std::uint32_t{0}, std::memory_order_release);", LOCK_TESTS),
    ("head takes a locked word", CORE,
     "if (refuses && qword::is_locked(word)) return std::nullopt;", "", LOCK_TESTS),
    ("a thief passes MUST_Q", CORE,
     "if ((word & ~qword::kTailMask) != 0) return std::nullopt;",
     "if (qword::is_locked(word)) return std::nullopt;", LOCK_TESTS),
    ("head never forbids stealing", SLOW,
     "      lock_.set_must_queue(p_);\n", "", LOCK_TESTS),
    ("MUST_Q stays cleared after a confer", YIELD,
     "if (allow_steal) lock_.set_must_queue(p_);", "", LOCK_TESTS),
    ("confer without looking at the word again", YIELD,
     "if (lock_.load(p_) != val) {", "if (lock_.load(p_) != val && val == 0) {", LOCK_TESTS),
    ("confer at low SMT priority", YIELD,
     "    spin_end();\n    acted_ = true;\n    seen_sleepy_owner(val);",
     "    acted_ = true;\n    seen_sleepy_owner(val);", LOCK_TESTS),
    ("yield with a stale count", YIELD,
     "p_.yield_to_preempted(owner, count);", "p_.yield_to_preempted(owner, count + 1);",
     LOCK_TESTS),
    ("H_PROD is dropped", HCALL,
     "    vcpu.prodded = true;\n    if (vcpu.state == VcpuState::ceded) {",
     "    if (vcpu.state == VcpuState::running && vcpu.prodded) {", HV_TESTS),
    ("H_PROD is not remembered", HCALL, "    vcpu.prodded = true;\n", "", HV_TESTS),
    ("H_CEDE forgets a prod that came first", HCALL,
     "if (caller.prodded) {\n    caller.prodded = false;\n"
     "  } else if (!caller.interrupt_pending) {",
     "caller.prodded = false;\n  if (!caller.interrupt_pending) {", HV_TESTS),
    ("H_CEDE never sleeps", HCALL, "    block(caller, VcpuState::ceded, nullptr);\n", "", HV_TESTS),
    ("H_CONFER takes a stale count", HCALL, "vcpu.vpa->yield_count != dispatch || ", "", HV_TESTS),
    ("H_CONFER takes an even count", HCALL, "dispatch % 2 == 0 || ", "", HV_TESTS),
    ("a confer is never released", HCALL, "if (target.conferrers.empty()) return;",
     "if (target.conferrers.size() < 1000) return;", HV_TESTS),
    ("yield count is not bumped", HYPERVISOR, "  ++vcpu.vpa->yield_count;\n", "", HV_TESTS),
    ("an interrupt does not wake a ceded vCPU", HYPERVISOR,
     "if (vcpu.state == VcpuState::ceded) {\n    make_ready(vcpu, DispatchPolicy::Reason::woken);\n"
     "  } else if (vcpu.state", "if (vcpu.state", HV_TESTS),
    ("a dispatch keeps the prod bit", HYPERVISOR,
     "if (config_.prod_memory == ProdMemory::until_dispatch) vcpu.prodded = false;", "", HV_TESTS),
    ("a preempted vCPU stays on its CPU", HYPERVISOR, "  vcpu.execution.detach();\n", "", HV_TESTS),
    ("a reservation is never lost", EXECUTION,
     "reserved_ && reserved_line_ == line && directory.version(line) == reserved_version_;",
     "reserved_ && reserved_line_ == line;", MACHINE_TESTS),
    ("a release fence does not hold a conditional back", EXECUTION,
     "if (std::exchange(fenced_, false)) drain_stores();", "", MACHINE_TESTS),
    ("a locked instruction does not wait for stores", EXECUTION,
     "if (exclusive || store_buffer_.holds_line(line)) drain_stores();", "", MACHINE_TESTS),
    ("copies survive a write", DIRECTORY,
     "if (line.owner == kNoCore) std::fill_n(sharers(id), words_, 0);", "", MACHINE_TESTS),
    ("a read leaves the owner its exclusive copy", DIRECTORY,
     "if (line.owner != kNoCore && line.owner != request.core) {",
     "if (line.owner != kNoCore && request.core == kNoCore) {", MACHINE_TESTS),
    ("reads of a line do not queue", DIRECTORY,
     "begin = std::max(begin, line.last_read_start + profile_.shared_occupancy);", "",
     MACHINE_TESTS),
    ("the EH hint holds nothing back", DIRECTORY,
     "if (line.held_until > engine_.now() && line.owner != request.core) {",
     "if (line.held_until > engine_.now() && request.core == kNoCore) {", MACHINE_TESTS),
    ("a conditional waits although it has lost", DIRECTORY,
     "if (line.waiting_conditionals > 0) fail_waiting_conditionals(line);", "", MACHINE_TESTS),
    ("a spinner sleeps through a write", DIRECTORY,
     "if (request.access != Access::own) written(line);\n    wake_watchers(line);",
     "if (request.access != Access::own) written(line);", MACHINE_TESTS),
    ("skipped turns ignore a change of rate", EXECUTION,
     "if (old > 0) cursor_.advance(reads_until(), old);", "", MACHINE_TESTS),
    ("skipped turns go on with another core's cache", EXECUTION,
     "} else if (resumes && !lines_still_here()) {", "} else if (resumes && rate < 0) {",
     MACHINE_TESTS),
    ("turns with different work count as the same", "sim/machine/execution.h",
     " && before == other.before &&", " &&", MACHINE_TESTS),
    ("an interrupt waits for the end of a spin", EXECUTION,
     "if (state_ == State::spinning) {\n    end_spin(reads_until());\n  } else if",
     "if", MACHINE_TESTS),
    ("a reservation outlives an interrupt", EXECUTION,
     "  reserved_ = false;\n  turn_pure_ = false;", "  turn_pure_ = false;", MACHINE_TESTS),
    ("a stall is not as deep as it gets", STALLS,
     "link_.depth = std::max(link_.depth, waiting);", "", MEASURE_TESTS),
    ("a drained queue does not end the run of stalls", STALLS,
     "if (waiting == 0) end_run();", "", MEASURE_TESTS),
    ("hand-overs count with nobody waiting", MONITOR,
     "handing_over_ = waiting_ > 0;", "handing_over_ = true;", MEASURE_TESTS),
    ("waiters ahead count as overtakers", MONITOR,
     "acquisitions_ever_ - c.acquisitions_before - (c.ahead - still_ahead);",
     "acquisitions_ever_ - c.acquisitions_before;", MEASURE_TESTS),
    ("a preempted waiter goes on spinning in the account", MONITOR,
     "set_spins(c, c.waiting && spins, now);", "set_spins(c, c.waiting, now);", MEASURE_TESTS),
    ("tasks take an interrupt's lock with interrupts on", GUEST,
     "if (which.taken_in_interrupts) ++interrupts_off_;",
     "if (which.taken_in_interrupts && level_ > 9) ++interrupts_off_;", GUEST_TESTS),
    ("a capped partition gets spare time", WHEEL,
     "partition.config.capped ? 0 : partition.config.weight;", "partition.config.weight;",
     POLICY_TESTS),
    ("spare time ignores weights", WHEEL,
     "time.count() / std::max<std::int64_t>(1, c.weight)", "time.count() / 128", POLICY_TESTS),
    ("a woken vCPU never preempts (fair)", FAIR,
     "return lead > wakeup_granularity_.count() ? &seat : nullptr;",
     "return lead < 0 ? &seat : nullptr;", POLICY_TESTS),
    ("a confer's end preempts its target", HCALL,
     "end_confer(*vcpu, DispatchPolicy::Reason::yielded);",
     "end_confer(*vcpu, DispatchPolicy::Reason::woken);", POLICY_TESTS),
]


def run(command, folder, seconds=None):
    environment = dict(os.environ, CONFIGS=str(folder / "configs"),
                       TRAINWRECK=str(folder / "build" / "trainwreck"))
    try:
        result = subprocess.run(command, cwd=folder, env=environment, timeout=seconds,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return result.returncode, result.stdout
    except subprocess.TimeoutExpired:
        return "hang", ""


def build(folder, tests):
    targets = [f"tests/{test}_test" for test in tests]
    return run(["ninja", "-C", "build", *targets], folder)


def what_caught(folder, tests):
    code, output = build(folder, tests)
    if code != 0:
        return None, output
    for test in tests:
        code, output = run([str(folder / "build" / "tests" / f"{test}_test")], folder, SECONDS)
        if code == "hang":
            return f"{test}: hangs", ""
        if code != 0:
            failed = [line.split()[3].rstrip(",") for line in output.splitlines()
                      if line.startswith("[  FAILED  ]") and "ms)" in line]
            return f"{test}: {failed[0] if failed else 'crashes'}", ""
    return "", ""


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    wanted = set(sys.argv[1:])
    planted = survivors = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        archive = subprocess.run(["git", "-C", root, "archive", "HEAD"], check=True,
                                 stdout=subprocess.PIPE).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
        code, output = run(["meson", "setup", "build", "-Doptimization=1", "-Ddebug=false",
                            "-Dwerror=false"], folder)
        tests = sorted({test for mutant in MUTANTS for test in mutant[4]})
        if code != 0 or what_caught(folder, tests)[0] != "":
            sys.exit("the tree does not pass before anything is planted\n" + output)
        for name, file, text, replacement, tests in MUTANTS:
            if wanted and name not in wanted:
                continue
            planted += 1
            path = folder / file
            original = path.read_text()
            if original.count(text) != 1:
                print(f"{name:48} does not fit {file} any more", flush=True)
                survivors += 1
                continue
            path.write_text(original.replace(text, replacement))
            caught, output = what_caught(folder, tests)
            path.write_text(original)
            if caught is None:
                caught = "does not build\n" + output[-1500:]
                survivors += 1
            elif not caught:
                caught = "SURVIVES"
                survivors += 1
            print(f"{name:48} {caught}", flush=True)
    print(f"{planted} mutants, {survivors} not caught")
    sys.exit(1 if survivors else 0)


main()
