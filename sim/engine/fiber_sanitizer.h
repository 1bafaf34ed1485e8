// Tells AddressSanitizer that a fiber gives way to another; empty in other builds.
//
// Debian's Boost.Fiber is not built with sanitizer support, and defining its macros in our code
// alone would change the layout of its structures. So the scheduler says itself where it goes:
// without that, an exception or a noreturn call on a fiber makes ASan clear the shadow of the wrong
// stack.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define TRAINWRECK_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TRAINWRECK_ASAN 1
#endif
#endif

#ifdef TRAINWRECK_ASAN
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace sim {

struct StackBounds {
  const void* bottom = nullptr;
  std::size_t size = 0;
};

// One stack's part in switches: where it is, and ASan's fake stack while it is left.
struct SanitizedStack {
  StackBounds bounds;
  void* fake = nullptr;
};

#ifdef TRAINWRECK_ASAN

inline constexpr bool kAnnotatesSwitches = true;

inline void leave_stack(SanitizedStack* from, const SanitizedStack& to) {
  // A stack that is left for good gives up its fake stack.
  __sanitizer_start_switch_fiber(from == nullptr ? nullptr : &from->fake, to.bounds.bottom,
                                 to.bounds.size);
}
inline void enter_stack(const SanitizedStack& stack) {
  __sanitizer_finish_switch_fiber(stack.fake, nullptr, nullptr);
}
inline StackBounds thread_stack() {
  pthread_attr_t attributes;
  void* bottom = nullptr;
  std::size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &bottom, &size);
    pthread_attr_destroy(&attributes);
  }
  return {bottom, size};
}

#else

inline constexpr bool kAnnotatesSwitches = false;

inline void leave_stack(SanitizedStack*, const SanitizedStack&) {}
inline void enter_stack(const SanitizedStack&) {}
inline StackBounds thread_stack() {
  return {};
}

#endif

}  // namespace sim
