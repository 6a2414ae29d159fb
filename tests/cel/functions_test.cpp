// Checks that the evaluator implements every function that the type checker declares.
#include "cel/functions.hpp"

#include <gtest/gtest.h>

#include "cel/types.hpp"

namespace backplane::cel_detail {
namespace {

TEST(CelFunctions, EveryOverloadOfTheTableHasAnImplementation) {
  ASSERT_GT(overloads().size(), 200u);
  for (const Overload& overload : overloads()) {
    const bool done = implementation_of(overload) != nullptr || is_special(overload.id) || operator_of(overload.function) != nullptr;
    EXPECT_TRUE(done) << overload.function << " " << overload.id;
  }
}

}  // namespace
}  // namespace backplane::cel_detail
