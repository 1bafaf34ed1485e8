// Stages of the queued spinlock as parameters of a test.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lock/qspinlock_knobs.h"

namespace test {

inline std::vector<lock::Stage> stages(lock::Stage from = lock::Stage::simple_word,
                                       lock::Stage to = lock::Stage::current) {
  std::vector<lock::Stage> found;
  for (const auto name : lock::kStageNames) {
    const auto stage = *lock::parse_stage(name);
    if (stage >= from && stage <= to) found.push_back(stage);
  }
  return found;
}

inline std::string stage_param(const testing::TestParamInfo<lock::Stage>& param) {
  return std::string(lock::stage_name(param.param));
}

}  // namespace test
