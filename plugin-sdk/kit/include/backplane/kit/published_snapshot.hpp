// The newest version of an immutable value. One writer replaces it; readers use it without locks and without shared counters.
//
// A reader stores a pointer to the version that it uses in a slot that no other reader uses (a hazard pointer). The writer destroys a
// version when no slot refers to that version or to an older one. So a version may own an object to which only older versions refer.
//
// Thread-safety: read() from any thread; publish() from one thread at a time.
// Lifetime:      a Reader belongs to one thread, must not be kept across co_await, and must not outlive the PublishedSnapshot.
// Errors:        none. publish() may throw std::bad_alloc, and then has changed nothing.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

namespace backplane::kit {

template <class T>
class PublishedSnapshot {
  // One cache line for each slot, so that readers on different threads do not share cache lines.
  struct alignas(64) Slot {
    std::atomic<const T*> used{nullptr};
  };
  static constexpr std::size_t kSlots = 64;

 public:
  class Reader {
   public:
    Reader(Reader&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)), value_(std::exchange(other.value_, nullptr)) {}
    Reader& operator=(Reader&&) = delete;
    ~Reader() {
      if (slot_ != nullptr) slot_->used.store(nullptr, std::memory_order_release);
    }
    // Null before the first publish().
    const T* get() const noexcept { return value_; }
    const T* operator->() const noexcept { return value_; }

   private:
    friend class PublishedSnapshot;
    Reader(Slot* slot, const T* value) noexcept : slot_(slot), value_(value) {}
    Slot* slot_;
    const T* value_;
  };

  PublishedSnapshot() = default;
  PublishedSnapshot(const PublishedSnapshot&) = delete;
  PublishedSnapshot& operator=(const PublishedSnapshot&) = delete;
  // Precondition: no Reader exists. Versions are destroyed in the order in which they were published.
  ~PublishedSnapshot() {
    retired_.clear();
    delete current_.load(std::memory_order_relaxed);
  }

  Reader read() const noexcept {
    const T* value = current_.load(std::memory_order_acquire);
    if (value == nullptr) return Reader(nullptr, nullptr);
    Slot& slot = take_slot(value);
    // The writer may have retired `value` before the slot was visible to it. `value` is safe only if it is still the current version
    // afterwards.
    for (const T* now = current_.load(); now != value; now = current_.load()) {
      value = now;
      slot.used.store(value);
    }
    return Reader(&slot, value);
  }

  void publish(std::unique_ptr<const T> next) {
    retired_.emplace_back();
    retired_.back().reset(current_.exchange(next.release()));
    while (!retired_.empty() && !is_used(retired_.front().get())) retired_.pop_front();
  }

 private:
  // The addresses of the threads' stacks differ, so each thread begins at a different slot, which nearly always is free.
  Slot& take_slot(const T* value) const noexcept {
    const char here = 0;
    std::size_t at = static_cast<std::size_t>((reinterpret_cast<std::uintptr_t>(&here) >> 16U) * 0x9E3779B97F4A7C15ULL >> 58U);
    for (;; ++at) {
      Slot& slot = slots_[at % kSlots];
      const T* unused = nullptr;
      if (slot.used.compare_exchange_strong(unused, value)) return slot;
    }
  }
  bool is_used(const T* value) const noexcept {
    for (const Slot& slot : slots_) {
      if (value != nullptr && slot.used.load() == value) return true;
    }
    return false;
  }

  mutable std::array<Slot, kSlots> slots_;
  std::atomic<const T*> current_{nullptr};
  std::deque<std::unique_ptr<const T>> retired_;  // oldest first
};

}  // namespace backplane::kit
