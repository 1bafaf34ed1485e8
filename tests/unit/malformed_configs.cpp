#include "tests/unit/malformed_configs.h"

#include <string_view>

#include "sim/machine/profile.h"

namespace sim {
namespace {

enum class Type { duration, distribution, integer, real, boolean, name, choice, cpus, table, list };

// A key, and what must stand before it.
struct Key {
  std::string head;
  std::string path;
  Type type;
};

struct Wrong {
  std::string value;
  std::vector<std::string> words;
};

const std::vector<std::string> kUnits{"ps, ns, us, ms, s or min"};

std::vector<Wrong> wrong_values(Type type) {
  switch (type) {
    case Type::duration:
      return {{"5", kUnits},
              {"0.5", kUnits},
              {"true", {"duration", "is true"}},
              {"[\"1ms\"]", {"duration", "is a list"}},
              {"{ a = 1 }", {"duration", "is a table"}},
              {"1979-05-27", {"duration", "date"}},
              {"nan", kUnits},
              {"\"\"", kUnits},
              {"\"5\"", {"unit", "ms"}},
              {"\"5 parsecs\"", kUnits},
              {"\"-1ms\"", {"negative"}},
              {"\"0.1ps\"", {"whole number of picoseconds"}},
              {"\"100001s\"", {"at most 100000s"}},
              {"\"99999999999999999999ns\"", {"at most 100000s"}},
              {"\"1e9ns\"", kUnits},
              {"\"1\\n2ms\"", kUnits}};
    case Type::distribution:
      return {{"5", kUnits},
              {"inf", kUnits},
              {"false", {"is false"}},
              {"[]", {"is a list"}},
              {"\"fast\"", kUnits},
              {"\"-1ms\"", {"negative"}},
              {"\"100001s\"", {"at most 100000s"}},
              {"07:32:00", {"time"}}};
    case Type::integer:
      return {{"\"5\"", {"integer from"}},        {"8.0", {"integer from", "number 8"}},
              {"1.5", {"integer from"}},          {"true", {"integer from"}},
              {"[5]", {"integer from"}},          {"{ a = 5 }", {"integer from"}},
              {"-1", {"integer from", "is -1"}},  {"nan", {"integer from"}},
              {"-inf", {"integer from", "-inf"}}, {"-9223372036854775808", {"integer from"}},
              {"1979-05-27", {"integer from"}}};
    case Type::real:
      return {{"\"0.5\"", {"number"}},   {"true", {"number"}},   {"[0.5]", {"number"}},
              {"{ a = 5 }", {"number"}}, {"nan", {"finite"}},    {"inf", {"finite"}},
              {"-1", {"must be", "-1"}}, {"1e300", {"must be"}}, {"-0.5", {"must be"}}};
    case Type::boolean:
      return {{"2", {"true or false"}},
              {"\"true\"", {"true or false", "string \"true\""}},
              {"1.0", {"true or false"}},
              {"[true]", {"true or false"}},
              {"{ a = true }", {"true or false"}}};
    case Type::name:
      return {{"5", {"string"}},
              {"true", {"string"}},
              {"[\"a\"]", {"string"}},
              {"{ a = 1 }", {"string"}},
              {"\"\"", {"letters"}},
              {"\"12\"", {"not digits alone"}},
              {"\"a b\"", {"letters"}},
              {"\"a.b\"", {"letters"}},
              {"\"a\\nb\"", {"letters"}},
              {"\"gr\u00fcn\"", {"letters"}},
              {'"' + std::string(65, 'x') + '"', {"1 to 64"}}};
    case Type::choice:
      return {{"5", {"strings"}},
              {"true", {"strings"}},
              {"[\"a\"]", {"strings"}},
              {"{ a = 1 }", {"strings"}},
              {"\"\"", {"unknown name", "llowed: "}},
              {"\"xyzzy\"", {"unknown name \"xyzzy\"", "llowed: "}}};
    case Type::cpus:
      return {{"5", {"list of"}},         {"true", {"list of"}},         {"[]", {"empty"}},
              {"[-1]", {"0 to"}},         {"[1000000]", {"0 to"}},       {"[0.5]", {"0 to"}},
              {"[\"0\"]", {"list of"}},   {"[[0]]", {"list of"}},        {"\"\"", {"list of"}},
              {"\"0-\"", {"list of"}},    {"\"3-1\"", {"list of"}},      {"\"0-999999\"", {"0 to"}},
              {"\"0,\"", {"list of"}},    {"\"-1\"", {"list of"}},       {"\"0-1-2\"", {"list of"}},
              {"{ a = 1 }", {"list of"}}, {"\"99999999999\"", {"0 to"}}, {"\"0x1\"", {"list of"}}};
    case Type::table:
      return {{"5", {"needs a table"}},
              {"\"x\"", {"needs a table"}},
              {"[1]", {"needs a table"}},
              {"[{}]", {"needs a table"}},
              {"true", {"needs a table"}}};
    case Type::list:
      return {{"5", {"needs a list of tables"}},
              {"\"x\"", {"needs a list of tables"}},
              {"{}", {"needs a list of tables"}},
              {"true", {"needs a list of tables"}}};
  }
  return {};
}

const std::vector<Key>& keys() {
  static const std::vector<Key> all{
      {"", "duration", Type::duration},
      {"", "seed", Type::integer},
      {"", "run", Type::table},
      {"", "machine", Type::table},
      {"", "hypervisor", Type::table},
      {"", "partition", Type::list},
      {"", "lock", Type::list},
      {"", "workload", Type::list},
      {"", "interrupt", Type::list},
      {"[run]", "run.warmup", Type::duration},
      {"[run]", "run.livelock_limit", Type::duration},
      {"[machine]", "machine.profile", Type::choice},
      {"[machine]", "machine.sockets", Type::integer},
      {"[machine]", "machine.chips", Type::integer},
      {"[machine]", "machine.cores", Type::integer},
      {"[machine]", "machine.threads", Type::integer},
      {"[hypervisor]", "hypervisor.policy", Type::choice},
      {"[hypervisor]", "hypervisor.granularity", Type::choice},
      {"[hypervisor]", "hypervisor.timeslice", Type::duration},
      {"[hypervisor]", "hypervisor.switch_cost", Type::duration},
      {"[hypervisor]", "hypervisor.hcall_cost", Type::duration},
      {"[hypervisor]", "hypervisor.prod_cost", Type::duration},
      {"[hypervisor]", "hypervisor.interrupt_cost", Type::duration},
      {"[hypervisor]", "hypervisor.wakeup_granularity", Type::duration},
      {"[hypervisor]", "hypervisor.background", Type::table},
      {"[hypervisor.background]", "hypervisor.background.share", Type::real},
      {"[hypervisor.background]", "hypervisor.background.mean", Type::duration},
      {"[hypervisor]", "hypervisor.prod_memory", Type::choice},
      {"[hypervisor]", "hypervisor.preempted_rule", Type::choice},
      {"[hypervisor]", "hypervisor.confer_all_waits_for_ceded", Type::boolean},
      {"[[partition]]", "partition.0.name", Type::name},
      {"[[partition]]", "partition.0.vcpus", Type::integer},
      {"[[partition]]", "partition.0.entitlement", Type::real},
      {"[[partition]]", "partition.0.weight", Type::integer},
      {"[[partition]]", "partition.0.capped", Type::boolean},
      {"[[partition]]", "partition.0.pin", Type::cpus},
      {"[[lock]]", "lock.0.name", Type::name},
      {"[[lock]]", "lock.0.algorithm", Type::choice},
      {"[[lock]]", "lock.0.stage", Type::choice},
      {"[[lock]]", "lock.0.node", Type::integer},
      {"[[lock]]", "lock.0.knobs", Type::table},
      {"[[lock]]\n[lock.knobs]", "lock.0.knobs.steal_spins", Type::integer},
      {"[[lock]]\n[lock.knobs]", "lock.0.knobs.pv_yield_owner", Type::boolean},
      {"[[workload]]", "workload.0.partition", Type::choice},
      {"[[workload]]", "workload.0.kind", Type::choice},
      {"[[workload]]", "workload.0.critical_section", Type::distribution},
      {"[[workload]]", "workload.0.hold", Type::distribution},
      {"[[workload]]", "workload.0.think", Type::distribution},
      {"[[workload]]", "workload.0.block", Type::distribution},
      {"[[workload]]", "workload.0.block_every", Type::integer},
      {"[[workload]]", "workload.0.tasks", Type::integer},
      {"[[workload]]", "workload.0.vcpus", Type::cpus},
      {"[[workload]]", "workload.0.guest_slice", Type::duration},
      {"[[interrupt]]", "interrupt.0.period", Type::duration},
      {"[[interrupt]]", "interrupt.0.interval", Type::distribution},
      {"[[interrupt]]\nperiod = \"1ms\"", "interrupt.0.name", Type::name},
      {"[[interrupt]]\nperiod = \"1ms\"", "interrupt.0.partition", Type::choice},
      {"[[interrupt]]\nperiod = \"1ms\"", "interrupt.0.level", Type::choice},
      {"[[interrupt]]\nperiod = \"1ms\"", "interrupt.0.vcpus", Type::cpus},
      {"[[interrupt]]\nperiod = \"1ms\"", "interrupt.0.duration", Type::distribution},
  };
  return all;
}

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('.') + 1);
}

void add_wrong_types(std::vector<Malformed>& all) {
  std::vector<Key> every = keys();
  for (const Figure& figure : figures()) {
    const bool time = std::holds_alternative<Time Profile::*>(figure.member);
    every.push_back(
        {"[machine]", "machine." + std::string(figure.key), time ? Type::duration : Type::integer});
  }
  for (const Key& key : every) {
    for (const Wrong& wrong : wrong_values(key.type)) {
      // A list of tables is a list; its own key complains then.
      all.push_back({key.head + "\n" + last_part(key.path) + " = " + wrong.value + "\n", key.path,
                     wrong.words});
    }
  }
}

void add_unknown_keys(std::vector<Malformed>& all) {
  for (const Key& key : keys()) {
    const std::string name = last_part(key.path);
    // Two neighbours swapped, or a letter too many.
    std::string swapped = name;
    std::swap(swapped[name.size() - 2], swapped[name.size() - 1]);
    const std::string parent = key.path.substr(0, key.path.size() - name.size());
    for (const std::string& typo : {swapped, name + "x"}) {
      all.push_back({key.head + "\n" + typo + " = 1\n",
                     parent + typo,
                     {"unknown key", "did you mean \"" + name + "\"?", "Allowed: "}});
    }
  }
}

void add_rules(std::vector<Malformed>& all) {
  const std::vector<Malformed> rules{
      // Not a config at all.
      {"", "", {"no settings"}, false},
      {"\n\n# only a comment\n", "", {"no settings"}, false},
      {"seed = \n", "", {"not TOML"}},
      {"seed 1\n", "", {"not TOML"}},
      {"[machine\n", "", {"not TOML"}},
      {"[[lock]\n", "", {"not TOML"}},
      {"seed = 1\nseed = 2\n", "", {"not TOML"}},
      {"duration = \"1s\n", "", {"not TOML"}},
      {"{\"seed\": 1}", "", {"not TOML"}},
      {"seed = 99999999999999999999\n", "", {"not TOML"}},
      {"seed = 0x\n", "", {"not TOML"}},
      {"[lock]\nname = \"hot\"\n[[lock]]\n", "", {"not TOML"}},
      {"seed = 1\n\xff\xfe\n", "", {"UTF-8"}},
      {"# \xc3(\nseed = 1", "", {"UTF-8"}},
      {"# \xed\xa0\x80\nseed = 1", "", {"UTF-8"}},
      {std::string("\0\0\0\0", 4), "", {"not TOML"}},
      {"a" + std::string(200, '.') + "b = 1", "", {"nests keys deeper"}},
      {"seed = " + std::string(1000, '[') + "\n", "", {"not TOML"}},
      {"\"a\\nb\" = 1\n", "a\nb", {"unknown key \"a\\nb\""}},
      {"\"\" = 1\n", "", {"unknown key \"\""}},
      {std::string(5000, 'k') + " = 1\n", std::string(5000, 'k'), {"unknown key", "…"}},
      {"[machines]\ncores = 1\n", "machines", {"did you mean \"machine\"?"}},
      {"[[locks]]\n", "locks", {"did you mean \"lock\"?"}},
      // Lists of tables.
      {"partition = []\n", "partition", {"at least one"}},
      {"lock = []\n", "lock", {"at least one"}},
      {"workload = []\n", "workload", {"at least one"}},
      {"lock = [5]\n", "lock.0", {"list of tables", "integer 5"}},
      {"lock = [{}, \"hot\"]\n", "lock.1", {"list of tables"}},
      {"lock = [[{}]]\n", "lock.0", {"list of tables", "a list"}},
      {"interrupt = [true]\n", "interrupt.0", {"list of tables"}},
      // Sizes.
      {"duration = \"0s\"\n", "duration", {"from 1ns"}},
      {"[run]\nlivelock_limit = \"1ns\"\n", "run.livelock_limit", {"from 1us"}},
      {"[machine]\ncores = 0\n", "machine.cores", {"1 to 16384"}},
      {"[machine]\nthreads = 16\n", "machine.threads", {"1 to 8"}},
      {"[machine]\ncores = 20000\n", "machine.cores", {"1 to 16384"}},
      {"[machine]\ncores = 9223372036854775807\n", "machine.cores", {"1 to 16384"}},
      {"[machine]\nsockets = 16384\nchips = 16384\ncores = 16384\n",
       "machine.cores",
       {"at most 16384 hardware threads", "4398046511104"}},
      {"[machine]\ncores = 4096\nthreads = 8\n", "machine.cores", {"has 32768"}},
      {"[machine]\nl1_hit = \"0s\"\n", "machine.l1_hit", {"from 100ps to"}},
      {"[machine]\nloop = \"0s\"\n", "machine.loop", {"from 100ps to"}},
      {"[machine]\nline_bytes = 96\n", "machine.line_bytes", {"power of two"}},
      {"[machine]\npriority_nops = 2\n", "machine.priority_nops", {"0 to 1"}},
      {"[machine]\nhcall = \"1s\"\n", "machine.hcall", {"from 0s to 100ms"}},
      {"[machine]\nhcall = \"1us\"\n[hypervisor]\nhcall_cost = \"1us\"\n",
       "hypervisor.hcall_cost",
       {"given twice", "machine.hcall"}},
      {"[[partition]]\nvcpus = 0\n", "partition.0.vcpus", {"1 to 16384", "is 0"}},
      {"[[partition]]\nvcpus = 16385\n", "partition.0.vcpus", {"1 to 16384"}},
      {"[[partition]]\nname = \"a\"\nvcpus = 16384\n[[partition]]\nname = \"b\"\nvcpus = 16384\n"
       "[[partition]]\nname = \"c\"\nvcpus = 16384\n[[partition]]\nname = \"d\"\nvcpus = 16384\n"
       "[[partition]]\nname = \"e\"\nvcpus = 1\n",
       "partition.4.vcpus",
       {"at most 65536"}},
      // Hypervisor.
      {"[hypervisor]\npolicy = \"dispatch_weel\"\n",
       "hypervisor.policy",
       {"did you mean \"dispatch_wheel\"?", "round_robin"}},
      {"[hypervisor]\npolicy = \"replay\"\n", "hypervisor.replay", {"is missing", "path"}},
      {"[hypervisor]\npolicy = \"replay\"\nreplay = 5\n", "hypervisor.replay", {"string"}},
      {"[hypervisor]\npolicy = \"replay\"\nreplay = \"\"\n", "hypervisor.replay", {"path"}},
      {"[hypervisor]\npolicy = \"replay\"\nreplay = \"/nonexistent\"\n",
       "hypervisor.replay",
       {"No such file"}},
      {"[hypervisor]\npolicy = \"replay\"\nreplay = \"/\"\n", "hypervisor.replay", {"directory"}},
      {"[hypervisor]\npolicy = \"replay\"\nreplay = \"/dev/null\"\n",
       "hypervisor.replay",
       {"regular"}},
      {"[hypervisor]\nreplay = \"x\"\n", "hypervisor.replay", {"policy = \"replay\""}},
      {"[hypervisor]\nreplay_digest = \"x\"\n",
       "hypervisor.replay_digest",
       {"policy = \"replay\""}},
      {"[hypervisor]\ntimeslice = \"0s\"\n", "hypervisor.timeslice", {"from 1us"}},
      {"[hypervisor]\nbackground = { share = 1 }\n",
       "hypervisor.background.share",
       {"less than 1"}},
      {"[hypervisor]\nbackground = { share = 0.1, mean = \"0s\" }\n",
       "hypervisor.background.mean",
       {"from 1us"}},
      {"[hypervisor]\npolicy = \"gang\"\nbackground = { share = 0.1 }\n",
       "hypervisor.background",
       {"share 0", "gang"}},
      // Partitions.
      {"[[partition]]\n[[partition]]\nname = \"guest\"\n",
       "partition.1.name",
       {"already the name of partition.0"}},
      {"[[partition]]\nweight = 256\n", "partition.0.weight", {"0 to 255"}},
      {"[[partition]]\nentitlement = 0\n", "partition.0.entitlement", {"above 0"}},
      {"[[partition]]\nentitlement = 4.01\n", "partition.0.entitlement", {"at most the 4"}},
      {"[[partition]]\nentitlement = 3\n[[partition]]\nentitlement = 1.5\n",
       "partition.1.entitlement",
       {"all partitions together", "4 physical CPUs"}},
      {"[[partition]]\nentitlement = 4\n[[partition]]\n",
       "partition.1.entitlement",
       {"leave nothing"}},
      {"[machine]\nthreads = 4\n[hypervisor]\ngranularity = \"core\"\n[[partition]]\nvcpus = 6\n",
       "partition.0.vcpus",
       {"multiple of machine.threads (4)"}},
      {"[machine]\nthreads = 4\n[hypervisor]\ngranularity = \"core\"\n[[partition]]\n"
       "entitlement = 5\n",
       "partition.0.entitlement",
       {"at most the 4"}},
      {"[machine]\nthreads = 4\n[hypervisor]\ngranularity = \"core\"\n[[partition]]\npin = [4]\n",
       "partition.0.pin",
       {"0 to 3"}},
      {"[[partition]]\npin = [0, 4]\n", "partition.0.pin", {"0 to 3", "4"}},
      // Locks.
      {"[[lock]]\nname = \"a\"\n[[lock]]\nname = \"a\"\n",
       "lock.1.name",
       {"already the name of lock.0"}},
      {"[[lock]]\nalgorithm = \"qspinlok\"\n", "lock.0.algorithm", {"did you mean \"qspinlock\"?"}},
      {"[[lock]]\nalgorithm = \"ticket\"\nstage = \"current\"\n", "lock.0.stage", {"has none"}},
      {"[[lock]]\nalgorithm = \"ticket\"\n[lock.knobs]\nsteal_spins = 1\n",
       "lock.0.knobs.steal_spins",
       {"ticket's knobs"}},
      {"[[lock]]\nnode = 1\n", "lock.0.node", {"0 to 0"}},
      {"[[lock]]\n[lock.knobs]\nsteal_spins = 9223372036854775807\n",
       "lock.0.knobs.steal_spins",
       {"integer from 0 to"}},
      {"[[lock]]\n[lock.knobs]\nstealspins = 1\n",
       "lock.0.knobs.stealspins",
       {"did you mean \"steal_spins\"?"}},
      // Workloads.
      {"[[workload]]\npartition = \"gest\"\n", "workload.0.partition", {"did you mean \"guest\"?"}},
      {"[[workload]]\nlock = \"hut\"\n", "workload.0.lock", {"did you mean \"hot\"?"}},
      {"[[workload]]\nlock = 5\n", "workload.0.lock", {"name of a lock (hot)"}},
      {"[[workload]]\nlock = []\n", "workload.0.lock", {"at least one of hot"}},
      {"[[workload]]\nlock = [\"hot\", 5]\n", "workload.0.lock", {"name of a lock"}},
      {"[[workload]]\nlock = [\"hot\", \"hot\"]\n", "workload.0.lock", {"twice"}},
      {"[[workload]]\nlock = [[\"hot\"]]\n", "workload.0.lock", {"name of a lock"}},
      {"[[workload]]\nhold = \"1us\"\ncritical_section = \"1us\"\n", "workload.0.hold", {"twice"}},
      {"[[workload]]\nkind = \"compute\"\n", "workload.0.think", {"at least 10ns"}},
      {"[[workload]]\nkind = \"compute\"\nthink = \"1us\"\nlock = \"hot\"\n",
       "workload.0.lock",
       {"locktorture"}},
      {"[[workload]]\nkind = \"compute\"\nthink = \"1us\"\nhold = \"1us\"\n",
       "workload.0.hold",
       {"locktorture"}},
      {"[[workload]]\nblock_every = 0\n", "workload.0.block_every", {"from 1"}},
      {"[[workload]]\ntasks = 1000001\n", "workload.0.tasks", {"0 to 1000000"}},
      {"[[workload]]\nvcpus = [4]\n", "workload.0.vcpus", {"vCPUs 0 to 3"}},
      {"[[workload]]\nvcpus = \"0-4\"\n", "workload.0.vcpus", {"vCPUs 0 to 3"}},
      {"[[partition]]\nname = \"a\"\n[[partition]]\nname = \"b\"\n[[workload]]\npartition = \"a\"\n"
       "[[workload]]\npartition = \"b\"\n",
       "workload.1.lock",
       {"partition \"a\"", "(workload.0)", "its own memory"}},
      // Interrupts.
      {"[[interrupt]]\n", "interrupt.0.period", {"is missing", "rate", "interval"}},
      {"[[interrupt]]\nperiod = \"1ms\"\nrate = 5\n", "interrupt.0.period", {"one of period"}},
      {"[[interrupt]]\nperiod = \"1ns\"\n", "interrupt.0.period", {"from 10ns"}},
      {"[[interrupt]]\ninterval = \"1ns\"\n", "interrupt.0.interval", {"at least 10ns"}},
      {"[[interrupt]]\nrate = 0\n", "interrupt.0.rate", {"needs a rate", "1000/s"}},
      {"[[interrupt]]\nrate = -1\n", "interrupt.0.rate", {"needs a rate"}},
      {"[[interrupt]]\nrate = nan\n", "interrupt.0.rate", {"needs a rate"}},
      {"[[interrupt]]\nrate = 1e300\n", "interrupt.0.rate", {"needs a rate"}},
      {"[[interrupt]]\nrate = true\n", "interrupt.0.rate", {"needs a rate"}},
      {"[[interrupt]]\nrate = \"1000\"\n", "interrupt.0.rate", {"needs a rate"}},
      {"[[interrupt]]\nrate = \"/s\"\n", "interrupt.0.rate", {"needs a rate"}},
      {"[[interrupt]]\nrate = \"many/s\"\n", "interrupt.0.rate", {"needs a rate"}},
      {"[[interrupt]]\nrate = \"inf/s\"\n", "interrupt.0.rate", {"needs a rate"}},
      {"[[interrupt]]\nrate = \"1000/h\"\n", "interrupt.0.rate", {"needs a rate"}},
      {"[[interrupt]]\nrate = 5\nlock = \"cold\"\n", "interrupt.0.lock", {"unknown lock", "hot"}},
      {"[[interrupt]]\nrate = 5\nlock = [\"hot\"]\n", "interrupt.0.lock", {"name of a lock"}},
      {"[[interrupt]]\nname = \"t\"\nrate = 5\n[[interrupt]]\nname = \"t\"\nrate = 5\n",
       "interrupt.1.name",
       {"already the name of interrupt.0"}},
      {"[[partition]]\nname = \"a\"\n[[partition]]\nname = \"b\"\n[[interrupt]]\npartition = "
       "\"b\"\n"
       "rate = 5\nlock = \"hot\"\n",
       "interrupt.0.lock",
       {"its own memory"}},
  };
  all.insert(all.end(), rules.begin(), rules.end());
}

}  // namespace

std::vector<Malformed> malformed_configs() {
  std::vector<Malformed> all;
  add_wrong_types(all);
  add_unknown_keys(all);
  add_rules(all);
  return all;
}

}  // namespace sim
