// Runs every target with a limited number of inputs, which are the same in every run. The environment variable FUZZ_INPUTS sets the number
// of inputs, FUZZ_SEED the random seed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <ostream>

#include "base/log.hpp"
#include "mutate.hpp"
#include "targets.hpp"

namespace backplane::fuzz {

// googletest prints the target's name as the parameter of a test.
void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

class Fuzz : public testing::TestWithParam<Target> {
 protected:
  static void SetUpTestSuite() { set_log_level("off"); }  // handlers fail on purpose
};

TEST_P(Fuzz, UntrustedBytesBreakNothing) {
  const Target& target = GetParam();
  ASSERT_FALSE(target.seeds.empty());
  for (const std::string& seed : target.seeds) target.run(seed);
  target.run("");
  Mutator mutator(number_from("FUZZ_SEED", 1), target.seeds);
  const std::uint64_t inputs = number_from("FUZZ_INPUTS", 20'000);
  for (std::uint64_t i = 0; i < inputs; ++i) {
    const std::string input = mutator.next();
    RecordProperty("input", static_cast<int>(i));  // if the process crashes, the report has the number of the last input
    target.run(input);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Fuzz, testing::ValuesIn(targets()), [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace backplane::fuzz
