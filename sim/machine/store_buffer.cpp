#include "sim/machine/store_buffer.h"

#include <cassert>
#include <cstring>

namespace sim {
namespace {

template <class T>
std::uint64_t peek_as(const void* address) {
  T value;
  std::memcpy(&value, address, sizeof(T));
  return value;
}

template <class T>
void poke_as(void* address, std::uint64_t bits) {
  const T value = static_cast<T>(bits);
  std::memcpy(address, &value, sizeof(T));
}

}  // namespace

std::uint64_t peek(const void* address, std::uint8_t size) {
  switch (size) {
    case 1:
      return peek_as<std::uint8_t>(address);
    case 2:
      return peek_as<std::uint16_t>(address);
    case 4:
      return peek_as<std::uint32_t>(address);
    default:
      return peek_as<std::uint64_t>(address);
  }
}

void poke(void* address, std::uint8_t size, std::uint64_t value) {
  switch (size) {
    case 1:
      poke_as<std::uint8_t>(address, value);
      break;
    case 2:
      poke_as<std::uint16_t>(address, value);
      break;
    case 4:
      poke_as<std::uint32_t>(address, value);
      break;
    default:
      poke_as<std::uint64_t>(address, value);
      break;
  }
}

bool StoreBuffer::holds_line(LineId line) const {
  for (std::uint32_t i = 0; i < count_; ++i)
    if (at(i).line == line) return true;
  return false;
}

std::optional<std::uint64_t> StoreBuffer::forward(const void* address, std::uint8_t size) const {
  for (std::uint32_t i = count_; i-- > 0;)
    if (at(i).address == address && at(i).size == size) return at(i).value;
  return std::nullopt;
}

void StoreBuffer::push(const Store& store) {
  assert(!full());
  stores_[(first_ + count_) % kEntries] = store;
  if (++count_ == 1) drain();
}

void StoreBuffer::pop() {
  StoreEffect effect = at(0).effect;
  first_ = (first_ + 1) % kEntries;
  --count_;
  effect.fire();
}

void StoreBuffer::drain() {
  while (count_ > 0) {
    const Store& store = at(0);
    if (!directory_.writable(store.line, store.core)) {
      request_.line = store.line;
      request_.core = store.core;
      request_.access = Access::store;
      request_.size = store.size;
      request_.value = store.value;
      request_.address = store.address;
      directory_.submit(request_);
      return;
    }
    poke(store.address, store.size, store.value);
    directory_.write_owned(store.line, store.core);
    pop();
  }
}

bool StoreBuffer::fire() {
  if (!directory_.complete(request_)) return false;
  pop();
  drain();
  listener_.store_done();
  return false;
}

}  // namespace sim
