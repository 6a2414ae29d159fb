#include "base/caught.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <array>
#include <boost/core/demangle.hpp>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <typeinfo>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BACKPLANE_THROWS_ARE_WATCHED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BACKPLANE_THROWS_ARE_WATCHED 1
#endif

namespace backplane {

#ifdef BACKPLANE_THROWS_ARE_WATCHED
const bool kRecordsThrowStacks = false;
#else
const bool kRecordsThrowStacks = true;
#endif

namespace {

constexpr int kFrames = 32;
constexpr std::size_t kThrows = 4;  // recorded throws per thread; an exception may be thrown while another one propagates

struct Throw {
  const void* exception = nullptr;
  int count = 0;
  std::array<void*, kFrames> frames;
};

struct Throws {
  std::array<Throw, kThrows> last;
  std::size_t next = 0;
};
thread_local Throws t_throws;

std::string line_of(int number, void* frame) {
  char place[64];
  Dl_info info{};
  const bool known = dladdr(frame, &info) != 0;
  const auto offset = static_cast<const char*>(frame) - static_cast<const char*>(known ? info.dli_fbase : nullptr);
  std::snprintf(place, sizeof(place), "\n  #%d +0x%zx ", number, static_cast<std::size_t>(offset));
  std::string line = place;
  if (known && info.dli_sname != nullptr) line += boost::core::demangle(info.dli_sname) + " in ";
  return line + (known && info.dli_fname != nullptr ? info.dli_fname : "?");
}

std::string stack_of(const void* exception) {
  for (const Throw& one : t_throws.last) {
    if (one.exception != exception || exception == nullptr) continue;
    std::string text;
    for (int i = 1; i < one.count; ++i) text += line_of(i - 1, one.frames[static_cast<std::size_t>(i)]);
    return text;
  }
  return {};
}

// The object that was thrown, which is what std::exception_ptr points to (Itanium C++ ABI).
const void* thrown_object() noexcept {
  const std::exception_ptr current = std::current_exception();
  static_assert(sizeof(current) == sizeof(void*));
  return *reinterpret_cast<void* const*>(&current);
}

std::string text_of_current() {
  try {
    throw;
  } catch (const std::exception& error) {
    const std::string_view what = error.what();
    return what.empty() ? boost::core::demangle(typeid(error).name()) : std::string(what);
  } catch (...) {
    const std::type_info* type = abi::__cxa_current_exception_type();
    return "an exception of type " + (type == nullptr ? std::string("unknown") : boost::core::demangle(type->name()));
  }
}

}  // namespace

Caught caught() noexcept {
  try {
    const void* object = thrown_object();
    return {text_of_current(), stack_of(object)};
  } catch (...) {
    return {"an exception that cannot be described", ""};
  }
}

}  // namespace backplane

#ifndef BACKPLANE_THROWS_ARE_WATCHED
// Interposes the C++ library's __cxa_throw for the whole process: records the stack and calls the library's function.  Only the linker sees
// the name, because compilers declare the function themselves, with different types.
extern "C" __attribute__((visibility("default"), noreturn)) void backplane_note_throw(void* exception, std::type_info* type,
                                                                                      void (*destroy)(void*)) __asm__("__cxa_throw");
extern "C" void backplane_note_throw(void* exception, std::type_info* type, void (*destroy)(void*)) {
  using Function = void (*)(void*, std::type_info*, void (*)(void*));
  static const auto next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "__cxa_throw"));
  auto& throws = backplane::t_throws;
  backplane::Throw& note = throws.last[throws.next];
  throws.next = (throws.next + 1) % throws.last.size();
  note.exception = exception;
  note.count = backtrace(note.frames.data(), backplane::kFrames);
  next(exception, type, destroy);
  __builtin_unreachable();
}
#endif
