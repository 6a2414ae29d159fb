// The entry points for libFuzzer (clang's -fsanitize=fuzzer). The environment variable FUZZ_TARGET selects the target.  If FUZZ_SEEDS=DIR
// is set, the program first writes the target's seeds to that folder, which can be used as the corpus.
#include <cstdint>
#include <cstdlib>
#include <fstream>

#include "targets.hpp"

namespace {

const backplane::fuzz::Target& chosen() {
  for (const auto& target : backplane::fuzz::targets()) {
    if (target.name == FUZZ_TARGET) return target;
  }
  std::abort();
}

void write_seeds(const std::string& folder) {
  int number = 0;
  for (const std::string& seed : chosen().seeds) std::ofstream(folder + "/seed" + std::to_string(++number), std::ios::binary) << seed;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  if (const char* folder = std::getenv("FUZZ_SEEDS"); folder != nullptr) write_seeds(folder);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const backplane::fuzz::Target& target = chosen();
  target.run({reinterpret_cast<const char*>(data), size});
  return 0;
}
