// The entry of libFuzzer (clang's -fsanitize=fuzzer): one program for each target, FUZZ_TARGET names it.
#include <cstdint>
#include <cstdlib>

#include "targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const backplane::fuzz::Target* const chosen = [] {
    for (const auto& target : backplane::fuzz::targets()) {
      if (target.name == FUZZ_TARGET) return &target;
    }
    std::abort();
  }();
  chosen->run({reinterpret_cast<const char*>(data), size});
  return 0;
}
