#!/usr/bin/env bash
# Same config and seed, same bytes: over repeated runs, over -O0 and -O3, over g++ and clang++.
#
#   determinism.sh PROGRAM SOURCE_ROOT
#
# Builds the program alone, twice more, in temporary folders, and compares what all of them print for
# every shipped config (shortened). Without clang++ that half is skipped, and said so.
set -euo pipefail

program=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build() { # folder compiler optimisation
  CXX=$2 meson setup "$work/$1" "$source" -Doptimization="$3" -Ddebug=false >"$work/$1.log" 2>&1 &&
    ninja -C "$work/$1" trainwreck >>"$work/$1.log" 2>&1 || { tail -n 30 "$work/$1.log"; exit 1; }
}

programs=("$program")
build O0 g++ 0
programs+=("$work/O0/trainwreck")
clang=$(command -v clang++ || command -v clang++-14 || true)
if [ -n "$clang" ]; then
  build clang "$clang" 3
  programs+=("$work/clang/trainwreck")
else
  echo "no clang++ here: g++ only"
fi

differences=0
runs=0
compare() { # config options…
  local first="" output
  for candidate in "$program" "${programs[@]}"; do
    output=$("$candidate" -q run "$@" --hist "$work/hgrm"; cat "$work/hgrm")
    runs=$((runs + 1))
    if [ -z "$first" ]; then
      first=$output
    elif [ "$output" != "$first" ]; then
      echo "differs: $candidate run $*"
      differences=$((differences + 1))
    fi
  done
}

for config in "$source"/configs/*.toml; do
  for seed in 1 2; do
    for format in json csv table; do
      compare "$config" --duration 20ms --set run.warmup=2ms --seed "$seed" --format "$format"
    done
  done
done
# Every distribution, lock and policy at once, so that no arithmetic is left out.
for think in '{dist="exponential",mean="5us"}' '{dist="lognormal",mean="5us",sigma=1.5}' \
  '{dist="pareto",mean="5us",alpha=1.6}' '{dist="uniform",low="1us",high="9us"}'; do
  for lock in qspinlock simple ticket mcs; do
    compare "$source/configs/overcommit-2x.toml" --duration 5ms --set "workload.0.think=$think" \
      --set "lock.hot.algorithm=$lock" --set hypervisor.policy=fair --format json
  done
done

echo "$runs runs of ${#programs[@]} builds, $differences differences"
[ "$differences" -eq 0 ]
