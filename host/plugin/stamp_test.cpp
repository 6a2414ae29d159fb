#include <gtest/gtest.h>

#include "backplane/abi/abi.hpp"
#include "plugin/descriptor.hpp"

namespace backplane {
namespace {

TEST(Stamp, ThisCompilationAgreesWithTheSdkLibrary) {
  Findings findings;
  compare_stamps(abi::note_head(0), abi::sdk_stamp(), findings);
  EXPECT_TRUE(findings.empty()) << to_line(findings.empty() ? Finding{} : findings.front());
}

TEST(Stamp, EveryMismatchIsReportedInOneGo) {
  auto head = abi::sdk_stamp();
  head.sdk_version += 0x100;
  head.entry_abi += 1;
  head.gxx_abi += 1;
  head.stdlib = BP_STDLIB_LIBCXX;
  head.stdlib_flags ^= BP_STDLIB_CXX11_ABI | BP_STDLIB_DEBUG;
  head.boost_version = 108600;
  head.language = 0;
  head.sanitizers ^= BP_SANITIZE_ADDRESS;
  head.pointer_bits = 32;
  head.layout_fingerprint ^= 1;
  head.vendor[0] = 'X';
  head.contract ^= 1;
  Findings findings;
  compare_stamps(head, abi::sdk_stamp(), findings);
  ASSERT_EQ(findings.size(), 13u);
  for (std::size_t i = 0; i < findings.size(); ++i) {
    EXPECT_EQ(findings[i].code.substr(0, 8), "PLG-ABI-");
    EXPECT_NE(findings[i].wanted, findings[i].found) << findings[i].field;
    EXPECT_FALSE(findings[i].fix.empty());
  }
  EXPECT_EQ(findings[6].found, "1.86.0");
}

TEST(Stamp, APatchReleaseOfTheSdkAndAnotherItaniumCompilerAreFine) {
  auto head = abi::sdk_stamp();
  head.sdk_version += 1;
  head.compiler = head.compiler == BP_COMPILER_GCC ? BP_COMPILER_CLANG : BP_COMPILER_GCC;
  head.gxx_abi = 1002;
  head.stdlib_flags ^= BP_STDLIB_ASSERTIONS;
  Findings findings;
  compare_stamps(head, abi::sdk_stamp(), findings);
  EXPECT_TRUE(findings.empty());
}

}  // namespace
}  // namespace backplane
