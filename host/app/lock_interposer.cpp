// Replaces pthread_mutex_lock(), pthread_rwlock_rdlock() and pthread_rwlock_wrlock() for the program, its libraries and its plugins: the
// dynamic linker finds the symbols of the program first. With --contention-profiling, each time that a thread has waited for a lock is
// reported to profiling::note_lock_wait(). Without --contention-profiling, only the C library's function is called.
//
// Sanitizers replace the same functions, so that this file is empty with them.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <chrono>

#include "profiling/lock_waits.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BACKPLANE_KEEPS_LOCKS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define BACKPLANE_KEEPS_LOCKS 1
#endif
#endif

#ifndef BACKPLANE_KEEPS_LOCKS
namespace {

// A function of the C library. It is looked up at the first call, which may precede the constructors of this program.
template <class Lock>
class NextFunction {
 public:
  using Function = int (*)(Lock*);
  explicit constexpr NextFunction(const char* name) noexcept : name_(name) {}
  int operator()(Lock* lock) noexcept {
    Function function = function_.load(std::memory_order_relaxed);
    if (function == nullptr) {
      function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name_));
      function_.store(function, std::memory_order_relaxed);
    }
    return function(lock);
  }

 private:
  const char* const name_;
  std::atomic<Function> function_{nullptr};
};

constinit NextFunction<pthread_mutex_t> g_lock("pthread_mutex_lock");
constinit NextFunction<pthread_rwlock_t> g_read_lock("pthread_rwlock_rdlock");
constinit NextFunction<pthread_rwlock_t> g_write_lock("pthread_rwlock_wrlock");

template <class Lock>
int timed(NextFunction<Lock>& next, int (*try_lock)(Lock*), Lock* lock) noexcept {
  if (!backplane::profiling::records_lock_waits()) return next(lock);
  if (const int tried = try_lock(lock); tried != EBUSY) return tried;
  const auto begin = std::chrono::steady_clock::now();
  const int result = next(lock);
  backplane::profiling::note_lock_wait(std::chrono::steady_clock::now() - begin);
  return result;
}

}  // namespace

extern "C" {
__attribute__((visibility("default"))) int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  return timed(g_lock, pthread_mutex_trylock, mutex);
}
__attribute__((visibility("default"))) int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  return timed(g_read_lock, pthread_rwlock_tryrdlock, lock);
}
__attribute__((visibility("default"))) int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  return timed(g_write_lock, pthread_rwlock_trywrlock, lock);
}
}
#endif
