#include "stable/call_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace backplane::stable {
namespace {

bool is_zero(const bp_error& error) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(&error);
  return std::all_of(bytes, bytes + sizeof(error), [](unsigned char byte) { return byte == 0; });
}

TEST(CallError, IsZeroForEachCallWhateverTheOneBeforeHasWritten) {
  for (int written = 0; written < 4; ++written) {
    CallError error;
    ASSERT_TRUE(is_zero(*error.get())) << written;
    if (written == 0) error.get()->code = 403;
    if (written == 1) std::strcpy(error.get()->reason, "Forbidden");
    if (written == 2) std::strcpy(error.get()->message, "it is closed");
  }
}

TEST(CallError, ACallInsideOfAnotherOneHasItsOwn) {
  CallError outer;
  std::strcpy(outer.get()->message, "outer");
  {
    CallError inner;
    EXPECT_NE(inner.get(), outer.get());
    EXPECT_TRUE(is_zero(*inner.get()));
    inner.get()->code = 500;
  }
  EXPECT_STREQ(outer.get()->message, "outer");
  EXPECT_EQ(outer.get()->code, 0);
}

}  // namespace
}  // namespace backplane::stable
