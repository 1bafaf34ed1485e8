// Simple, ticket and MCS locks on real threads.
#include "lock/mcs.h"
#include "lock/simple.h"
#include "lock/ticket.h"
#include "tests/conformance/lock_client.h"

namespace test {
namespace {

// Makes one of the locks that take their knobs and CPU areas.
template <template <class> class L>
struct Maker {
  template <class P>
  using Lock = L<P>;
  template <class P>
  std::unique_ptr<L<P>> make(std::span<typename L<P>::CpuArea> areas) {
    return std::make_unique<L<P>>(knobs, areas);
  }
  template <class Areas>
  void expect_clean(const Areas& areas) {
    if constexpr (requires { areas[0].nodes; }) {
      for (const auto& area : areas) {
        for (const auto& node : area.nodes) EXPECT_EQ(node.lock, nullptr);
      }
    }
  }
  typename L<RecordingPlatform>::Knobs knobs{};
};

class NativeLocks : public testing::TestWithParam<CpuId> {};
INSTANTIATE_TEST_SUITE_P(, NativeLocks, testing::Values(1, 2, 4, 8));

TEST_P(NativeLocks, SimpleExcludes) {
  expect_mutual_exclusion(Maker<lock::SimpleSpinlock>{}, GetParam(), 2000);
}
TEST_P(NativeLocks, SimpleTries) {
  expect_trylock(Maker<lock::SimpleSpinlock>{}, GetParam(), 800);
}
TEST_P(NativeLocks, SimpleNests) {
  expect_nesting(Maker<lock::SimpleSpinlock>{}, GetParam(), 6, 300);
}
TEST_P(NativeLocks, TicketExcludes) {
  expect_mutual_exclusion(Maker<lock::TicketSpinlock>{}, GetParam(), 1000);
}
TEST_P(NativeLocks, TicketTries) {
  expect_trylock(Maker<lock::TicketSpinlock>{}, GetParam(), 800);
}
TEST_P(NativeLocks, TicketNests) {
  expect_nesting(Maker<lock::TicketSpinlock>{}, GetParam(), 6, 200);
}
TEST_P(NativeLocks, McsExcludes) {
  expect_mutual_exclusion(Maker<lock::McsSpinlock>{}, GetParam(), 1000);
}
TEST_P(NativeLocks, McsTries) {
  expect_trylock(Maker<lock::McsSpinlock>{}, GetParam(), 800);
}
TEST_P(NativeLocks, McsNests) {
  expect_nesting(Maker<lock::McsSpinlock>{}, GetParam(), 6, 200);
}

}  // namespace
}  // namespace test
