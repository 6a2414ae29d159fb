// The problems of a plugin: one finding per problem, with a code that never changes its meaning.
//
// The log, `backplane plugin check` and the report of a startup use the same structure.
// Thread-safety: values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace backplane {

enum class Severity : unsigned char { kInfo, kWarning, kError };

struct Finding {
  std::string_view code;  // one of finding_code below
  Severity severity = Severity::kError;
  std::string field;  // the checked field ("boost", "requires[0].version"); empty for the file as a whole
  std::string wanted;
  std::string found;
  std::string message;  // one line
  std::string fix;      // how to fix it; may be empty
};
using Findings = std::vector<Finding>;

namespace finding_code {
// The file
inline constexpr std::string_view kCannotOpen = "PLG-FILE-001";
inline constexpr std::string_view kDanglingLink = "PLG-FILE-002";
inline constexpr std::string_view kDirectory = "PLG-FILE-003";
inline constexpr std::string_view kNotRegular = "PLG-FILE-004";
inline constexpr std::string_view kNotReadable = "PLG-FILE-005";
inline constexpr std::string_view kNotElf = "PLG-FILE-006";
inline constexpr std::string_view kTruncated = "PLG-FILE-007";
inline constexpr std::string_view kOtherMachine = "PLG-FILE-008";
inline constexpr std::string_view kNotSharedObject = "PLG-FILE-009";
inline constexpr std::string_view kCannotCopy = "PLG-FILE-010";
inline constexpr std::string_view kChanged = "PLG-FILE-011";
inline constexpr std::string_view kTooLarge = "PLG-FILE-012";
// The descriptor
inline constexpr std::string_view kNoNote = "PLG-DESC-001";
inline constexpr std::string_view kCorruptNote = "PLG-DESC-002";
inline constexpr std::string_view kUnknownHead = "PLG-DESC-003";
inline constexpr std::string_view kBadJson = "PLG-DESC-004";
inline constexpr std::string_view kBadMember = "PLG-DESC-005";
inline constexpr std::string_view kUnknownMember = "PLG-DESC-006";
inline constexpr std::string_view kBadVersion = "PLG-DESC-007";
inline constexpr std::string_view kBadRange = "PLG-DESC-008";
inline constexpr std::string_view kBadName = "PLG-DESC-009";
inline constexpr std::string_view kNoEntry = "PLG-DESC-010";
// The embedded documents
inline constexpr std::string_view kDocument = "PLG-DOC-001";
inline constexpr std::string_view kDocumentNote = "PLG-DOC-002";
inline constexpr std::string_view kNoDocuments = "PLG-DOC-003";
// The stamp
inline constexpr std::string_view kSdkVersion = "PLG-ABI-001";
inline constexpr std::string_view kEntryAbi = "PLG-ABI-002";
inline constexpr std::string_view kCompilerAbi = "PLG-ABI-003";
inline constexpr std::string_view kStandardLibrary = "PLG-ABI-004";
inline constexpr std::string_view kStringAbi = "PLG-ABI-005";
inline constexpr std::string_view kDebugMode = "PLG-ABI-006";
inline constexpr std::string_view kBoostVersion = "PLG-ABI-007";
// PLG-ABI-008 was for Asio's macros.
inline constexpr std::string_view kLanguage = "PLG-ABI-009";
inline constexpr std::string_view kSanitizers = "PLG-ABI-010";
inline constexpr std::string_view kPointerSize = "PLG-ABI-011";
inline constexpr std::string_view kLayout = "PLG-ABI-012";
inline constexpr std::string_view kVendorTag = "PLG-ABI-013";
inline constexpr std::string_view kContract = "PLG-ABI-014";
inline constexpr std::string_view kStableAbi = "PLG-ABI-015";
// The requirements
inline constexpr std::string_view kMissing = "PLG-DEP-001";
inline constexpr std::string_view kOutOfRange = "PLG-DEP-002";
inline constexpr std::string_view kBlocked = "PLG-DEP-003";
inline constexpr std::string_view kOptionalOutOfRange = "PLG-DEP-004";
// The plan
inline constexpr std::string_view kDuplicateName = "PLG-PLAN-001";
inline constexpr std::string_view kDependencyCycle = "PLG-PLAN-002";
inline constexpr std::string_view kOrderCycle = "PLG-PLAN-003";
inline constexpr std::string_view kConflict = "PLG-PLAN-004";
inline constexpr std::string_view kRequiredMissing = "PLG-PLAN-005";
inline constexpr std::string_view kUnknownDisabled = "PLG-PLAN-006";
inline constexpr std::string_view kOptionalCycle = "PLG-PLAN-007";
inline constexpr std::string_view kCannotReadDirectory = "PLG-PLAN-008";
inline constexpr std::string_view kSharedGroup = "PLG-PLAN-009";
inline constexpr std::string_view kWrongPlacement = "PLG-PLAN-010";
// The lifecycle
inline constexpr std::string_view kLoadFailed = "PLG-LIFE-001";
inline constexpr std::string_view kUndefinedSymbol = "PLG-LIFE-002";
inline constexpr std::string_view kEntryMissing = "PLG-LIFE-003";
inline constexpr std::string_view kCreateThrew = "PLG-LIFE-004";
inline constexpr std::string_view kCreateNull = "PLG-LIFE-005";
inline constexpr std::string_view kConfigureFailed = "PLG-LIFE-006";
inline constexpr std::string_view kConfigureThrew = "PLG-LIFE-007";
inline constexpr std::string_view kProvisionFailed = "PLG-LIFE-008";
inline constexpr std::string_view kProvisionThrew = "PLG-LIFE-009";
inline constexpr std::string_view kValidateFailed = "PLG-LIFE-010";
inline constexpr std::string_view kValidateThrew = "PLG-LIFE-011";
inline constexpr std::string_view kDuplicateRegistration = "PLG-LIFE-012";
inline constexpr std::string_view kHookThrew = "PLG-LIFE-013";
inline constexpr std::string_view kCallTimedOut = "PLG-LIFE-014";
inline constexpr std::string_view kProbeFailed = "PLG-LIFE-015";
inline constexpr std::string_view kQuarantined = "PLG-LIFE-016";
inline constexpr std::string_view kSafeMode = "PLG-LIFE-017";
}  // namespace finding_code

std::string_view severity_name(Severity severity) noexcept;
bool has_errors(const Findings& findings) noexcept;
// "PLG-ABI-007 boost: wanted 1.81.0, found 1.86.0: message (fix)"
std::string to_line(const Finding& finding);

}  // namespace backplane
