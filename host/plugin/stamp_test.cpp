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
  head.contracts[0] ^= 1;
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

// The folders of headers are compared one by one. Folders that the plugin does not use are not compared.
TEST(Stamp, AFolderThatChangedIsNamedAndOneThatIsNotUsedDoesNotCount) {
  bp_note_head host = abi::sdk_stamp();
  const auto head = abi::note_head(0, BP_USES_CORE | BP_USES_POINTS | BP_USES_HOST);
  EXPECT_EQ(head.contracts[3], 0u);
  for (const int folder : {1, 3, 4}) host.contracts[folder] ^= 1;  // types, rest, net
  Findings findings;
  compare_stamps(head, host, findings);
  EXPECT_TRUE(findings.empty());

  host.contracts[0] ^= 1;
  compare_stamps(head, host, findings);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].code, finding_code::kContract);
  EXPECT_EQ(findings[0].field, "contract.core");
  EXPECT_NE(findings[0].message.find("backplane/core"), std::string::npos) << findings[0].message;
}

// The headers of backplane/points; the fingerprint of `header` is changed.
std::vector<abi::PointHeader> points_with_change_of(std::string_view header) {
  std::vector<abi::PointHeader> out(abi::sdk_points().begin(), abi::sdk_points().end());
  for (abi::PointHeader& each : out) {
    if (each.name == header) each.fingerprint ^= 1;
  }
  return out;
}

std::uint32_t point_bit(std::string_view header) {
  const auto points = abi::sdk_points();
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].name == header) return 1U << i;
  }
  ADD_FAILURE() << header;
  return 0;
}

TEST(Stamp, AChangeOfAnExtensionPointConcernsThePluginsThatIncludeItsHeader) {
  const auto head = abi::note_head(0, BP_USES_CORE | BP_USES_POINTS | BP_USES_HOST, point_bit("admission.hpp") | point_bit("hooks.hpp"));
  Findings findings;
  for (const auto* unused : {"audit.hpp", "http.hpp", "storage.hpp"}) {
    compare_stamps(head, abi::sdk_stamp(), points_with_change_of(unused), findings);
    EXPECT_TRUE(findings.empty()) << unused;
  }
  // The host's SDK has a header that a later version has added.
  std::vector<abi::PointHeader> more(abi::sdk_points().begin(), abi::sdk_points().end());
  more.push_back({"new.hpp", 7});
  compare_stamps(head, abi::sdk_stamp(), more, findings);
  EXPECT_TRUE(findings.empty());

  compare_stamps(head, abi::sdk_stamp(), points_with_change_of("admission.hpp"), findings);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].code, finding_code::kContract);
  EXPECT_EQ(findings[0].field, "contract.points");
  EXPECT_NE(findings[0].message.find("backplane/points (in one of admission.hpp, hooks.hpp)"), std::string::npos) << findings[0].message;
}

TEST(Stamp, AnExtensionPointThatThisHostDoesNotHaveIsAMismatch) {
  std::vector<abi::PointHeader> more(abi::sdk_points().begin(), abi::sdk_points().end());
  more.push_back({"new.hpp", 7});
  auto head = abi::note_head(0, BP_USES_CORE | BP_USES_POINTS | BP_USES_HOST, point_bit("hooks.hpp"));
  head.points |= 1U << (more.size() - 1);
  head.contracts[2] = abi::points_fingerprint(head.points, more);
  Findings findings;
  compare_stamps(head, abi::sdk_stamp(), more, findings);
  EXPECT_TRUE(findings.empty());
  compare_stamps(head, abi::sdk_stamp(), findings);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].field, "contract.points");
}

TEST(Stamp, EveryPluginUsesCoreAndHost) {
  const auto head = abi::note_head(0, 0);
  Findings findings;
  compare_stamps(head, abi::sdk_stamp(), findings);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].field, "contract.core");
  EXPECT_EQ(findings[1].field, "contract.host");
}

// The host's SDK must be in the range ^MAJOR.MINOR of the SDK that the plugin was built with.
TEST(Stamp, ALaterMinorVersionOfTheHostIsFineFromOneOn) {
  struct Row {
    std::uint32_t plugin, host;
    bool fits;
  };
  for (const Row& row : {Row{0x000102, 0x000100, true}, Row{0x000102, 0x000200, false}, Row{0x010200, 0x010300, true},
                         Row{0x010300, 0x010200, false}, Row{0x010300, 0x020300, false}}) {
    bp_note_head plugin = abi::sdk_stamp();
    bp_note_head host = plugin;
    plugin.sdk_version = row.plugin;
    host.sdk_version = row.host;
    Findings findings;
    compare_stamps(plugin, host, findings);
    EXPECT_EQ(findings.empty(), row.fits) << std::hex << row.plugin << " on " << row.host;
  }
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
