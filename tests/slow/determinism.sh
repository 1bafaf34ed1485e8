#!/usr/bin/env bash
# Same config and seed, same bytes: over repeated runs, over -O0 and -O3, over g++ and clang++.
#
#   determinism.sh PROGRAM SOURCE_ROOT
#
# Builds the program alone, twice more, in temporary folders, and compares what all of them print
# for every shipped config (shortened). Without clang++ that half is skipped, and said so.
set -euo pipefail

program=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
jobs=$(nproc)

build() { # folder compiler optimisation
  # Flags of the environment might change results (-ffast-math), or be another compiler's.
  env -u CXXFLAGS -u CPPFLAGS -u LDFLAGS CXX="$2" \
    meson setup "$work/$1" "$source" -Doptimization="$3" -Ddebug=false >"$work/$1.log" 2>&1 &&
    ninja -C "$work/$1" -j "$jobs" trainwreck >>"$work/$1.log" 2>&1 ||
    { tail -n 30 "$work/$1.log"; echo "$2 -O$3 does not build the program"; exit 1; }
  echo "built by $2 -O$3: $SECONDS s"
}

# One line of shell a run: what `program` prints, and its histograms, go to files in `folder`.
runs() { # program folder
  local config seed format name lock think number=0
  for config in "$source"/configs/*.toml; do
    name=$(basename "$config" .toml)
    for seed in 1 2; do
      for format in json csv table; do
        echo "'$1' -q run '$config' --duration 10ms --set run.warmup=2ms --seed $seed" \
          "--format $format --hist '$2/$name.$seed.$format.hgrm' >'$2/$name.$seed.$format'"
      done
    done
  done
  # Every distribution and lock at once, so that no arithmetic is left out.
  for think in '{dist="exponential",mean="5us"}' '{dist="lognormal",mean="5us",sigma=1.5}' \
    '{dist="pareto",mean="5us",alpha=1.6}' '{dist="uniform",low="1us",high="9us"}'; do
    for lock in qspinlock simple ticket mcs; do
      number=$((number + 1))
      echo "'$1' -q run '$source/configs/overcommit-2x.toml' --duration 5ms" \
        "--set 'workload.0.think=$think' --set lock.hot.algorithm=$lock" \
        "--set hypervisor.policy=fair --format json >'$2/$number.$lock.json'"
    done
  done
}

run_all() { # program folder
  mkdir "$2"
  runs "$1" "$2" | tr '\n' '\0' | xargs -0 -n 1 -P "$jobs" bash -c
}

failed=0
compare() { # program folder
  run_all "$1" "$work/$2"
  echo "$2: $(find "$work/$2" -type f | wc -l) files, $SECONDS s"
  diff -rq "$work/expected" "$work/$2" || failed=1
}

run_all "$program" "$work/expected"
# A comparison of nothing, or of what no seed changes, would prove nothing.
if [ "$(find "$work/expected" -type f -size +0 | wc -l)" -lt 100 ] ||
  cmp -s "$work/expected/train-wreck.1.json" "$work/expected/train-wreck.2.json"; then
  echo "there is hardly anything to compare, or the seed changes nothing"
  exit 1
fi

compare "$program" again
build build-O0 g++ 0
compare "$work/build-O0/trainwreck" g++-O0
clang=$(command -v clang++ || command -v clang++-14 || true)
if [ -n "$clang" ]; then
  build build-clang "$clang" 3
  compare "$work/build-clang/trainwreck" clang++-O3
else
  echo "no clang++ here: g++ only"
fi
exit "$failed"
