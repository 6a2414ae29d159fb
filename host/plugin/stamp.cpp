#include <dlfcn.h>

#include <cstring>

#include "backplane/abi/abi.hpp"
#include "plugin/descriptor.hpp"

namespace backplane {

namespace {

std::string hex(std::uint64_t value, int first = 60) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "0x";
  for (int shift = first; shift >= 0; shift -= 4) text.push_back(kDigits[(value >> shift) & 0xfU]);
  return text;
}

std::string on_off(bool on) { return on ? "on" : "off"; }

// A bit of a mask, with its name for messages.
struct Bit {
  std::uint32_t mask;
  const char* name;
};
template <std::size_t N>
std::string bits(std::uint32_t value, const Bit (&names)[N]) {
  std::string text;
  for (const auto& bit : names) {
    if (!(value & bit.mask)) continue;
    text += text.empty() ? "" : ",";
    text += bit.name;
    value &= ~bit.mask;
  }
  if (value != 0) text += (text.empty() ? "" : ",") + hex(value);
  return text.empty() ? "none" : text;
}

constexpr Bit kLanguageBits[] = {{BP_LANGUAGE_EXCEPTIONS, "exceptions"}, {BP_LANGUAGE_RTTI, "rtti"}};
constexpr Bit kSanitizerBits[] = {{BP_SANITIZE_ADDRESS, "address"}, {BP_SANITIZE_THREAD, "thread"}, {BP_SANITIZE_MEMORY, "memory"}};

// A sanitizer changes no type, but needs its run time before all other code: in the host, or preloaded (LD_PRELOAD).
bool sanitizers_agree(const bp_note_head& plugin, const bp_note_head& host) {
  std::uint32_t present = host.sanitizers;
  if (::dlsym(RTLD_DEFAULT, "__asan_init") != nullptr) present |= BP_SANITIZE_ADDRESS;
  if (::dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr) present |= BP_SANITIZE_THREAD;
  return (plugin.sanitizers & ~present) == 0 && (host.sanitizers & ~plugin.sanitizers) == 0;
}

std::string compiler_name(const bp_note_head& head) {
  const char* family = head.compiler == BP_COMPILER_GCC ? "gcc" : head.compiler == BP_COMPILER_CLANG ? "clang" : "unknown compiler";
  return std::string(family) + " " + std::to_string(head.compiler_major) + ", ABI " + std::to_string(head.gxx_abi);
}

std::string stdlib_name(const bp_note_head& head) {
  const char* family = head.stdlib == BP_STDLIB_LIBSTDCXX ? "libstdc++" : head.stdlib == BP_STDLIB_LIBCXX ? "libc++" : "unknown";
  return std::string(family) + " " + std::to_string(head.stdlib_release);
}

std::string boost_name(std::uint32_t version) {
  return std::to_string(version / 100000) + "." + std::to_string(version / 100 % 1000) + "." + std::to_string(version % 100);
}

std::string vendor_name(const bp_note_head& head) { return std::string(head.vendor, ::strnlen(head.vendor, sizeof(head.vendor))); }

bool is_gcc_or_clang(const bp_note_head& head) { return head.compiler == BP_COMPILER_GCC || head.compiler == BP_COMPILER_CLANG; }

// True for equal compilers with equal ABIs, and for gcc with clang: both follow the Itanium ABI, and clang always reports the same number.
bool compilers_agree(const bp_note_head& a, const bp_note_head& b) {
  if (a.compiler == b.compiler) return a.gxx_abi == b.gxx_abi;
  return is_gcc_or_clang(a) && is_gcc_or_clang(b);
}

// One field of the stamp: its comparison, its text, and the message of a mismatch.
struct StampField {
  std::string_view code;
  const char* field;
  bool (*matches)(const bp_note_head& plugin, const bp_note_head& host);
  std::string (*show)(const bp_note_head& head);
  const char* message;
  const char* fix;
};

// True if the host's SDK is in the range ^MAJOR.MINOR of the plugin's SDK; in 0.x, each minor version is a separate range.
bool sdk_fits(std::uint32_t plugin, std::uint32_t host) {
  const std::uint32_t major = plugin >> 16;
  if (major != host >> 16) return false;
  return major == 0 ? plugin >> 8 == host >> 8 : plugin >> 8 <= host >> 8;
}

constexpr const char* kRebuild = "rebuild the plugin with this host's SDK";

using Head = const bp_note_head&;
constexpr StampField kFields[] = {
    {finding_code::kSdkVersion, "sdk", [](Head p, Head h) { return sdk_fits(p.sdk_version, h.sdk_version); },
     [](Head h) { return Version::from_packed(h.sdk_version).to_string(); },
     "the host's SDK must be in the range ^MAJOR.MINOR of the plugin's", kRebuild},
    {finding_code::kEntryAbi, "entry", [](Head p, Head h) { return p.entry_abi == h.entry_abi; },
     [](Head h) { return std::to_string(h.entry_abi); }, "the form of the entry point must be equal", kRebuild},
    {finding_code::kCompilerAbi, "compiler", [](Head p, Head h) { return compilers_agree(p, h); }, compiler_name,
     "the C++ ABI must be equal", "rebuild the plugin with the host's compiler"},
    {finding_code::kStandardLibrary, "stdlib", [](Head p, Head h) { return p.stdlib == h.stdlib; }, stdlib_name,
     "the C++ library must be the same", "build with the host's C++ library"},
    {finding_code::kStringAbi, "cxx11_abi", [](Head p, Head h) { return ((p.stdlib_flags ^ h.stdlib_flags) & BP_STDLIB_CXX11_ABI) == 0; },
     [](Head h) { return on_off(h.stdlib_flags & BP_STDLIB_CXX11_ABI); }, "std::string must have the same form",
     "set _GLIBCXX_USE_CXX11_ABI as the host does"},
    {finding_code::kDebugMode, "glibcxx_debug", [](Head p, Head h) { return ((p.stdlib_flags ^ h.stdlib_flags) & BP_STDLIB_DEBUG) == 0; },
     [](Head h) { return on_off(h.stdlib_flags & BP_STDLIB_DEBUG); }, "debug mode changes the size of containers",
     "set or remove -D_GLIBCXX_DEBUG as the host does"},
    {finding_code::kBoostVersion, "boost", [](Head p, Head h) { return p.boost_version == h.boost_version; },
     [](Head h) { return boost_name(h.boost_version); }, "the Boost version must be equal", "build with the host's Boost"},
    {finding_code::kLanguage, "language", [](Head p, Head h) { return p.language == h.language; },
     [](Head h) { return bits(h.language, kLanguageBits); }, "exceptions and RTTI must be as in the host",
     "remove -fno-exceptions and -fno-rtti"},
    {finding_code::kSanitizers, "sanitizers", sanitizers_agree, [](Head h) { return bits(h.sanitizers, kSanitizerBits); },
     "sanitizers must be as in the host",
     "build with the host's sanitizers; `backplane plugin test --sanitizer=…` loads their run time first"},
    {finding_code::kPointerSize, "pointer_bits", [](Head p, Head h) { return p.pointer_bits == h.pointer_bits; },
     [](Head h) { return std::to_string(h.pointer_bits); }, "pointers must have the same size", kRebuild},
    {finding_code::kLayout, "layout", [](Head p, Head h) { return p.layout_fingerprint == h.layout_fingerprint; },
     [](Head h) { return hex(h.layout_fingerprint); }, "types that cross the border have another layout",
     "build with the host's SDK headers, Boost and flags (-fshort-enums and -fpack-struct change layouts)"},
    {finding_code::kVendorTag, "vendor", [](Head p, Head h) { return std::memcmp(p.vendor, h.vendor, sizeof(p.vendor)) == 0; }, vendor_name,
     "the SDK must come from the same vendor", "build with the SDK of this host's vendor"},
};

constexpr const char* kContractFolders[BP_CONTRACTS] = BP_CONTRACT_FOLDERS;

using PointHeaders = std::span<const abi::PointHeader>;

bool is_points(std::size_t folder) { return (BP_USES_POINTS >> folder & 1U) != 0; }

// The names of the headers of backplane/points that the plugin uses. Those that this SDK does not know have a number.
std::vector<std::string> used_points(const bp_note_head& plugin, PointHeaders points) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < abi::kMostPointHeaders; ++i) {
    if ((plugin.points >> i & 1U) == 0) continue;
    out.push_back(i < points.size() ? points[i].name : "header " + std::to_string(i + 1));
  }
  return out;
}

// The fingerprint that the host expects for a folder of headers. For backplane/points it covers only the headers that the plugin uses.
std::uint32_t wanted_contract(const bp_note_head& plugin, const bp_note_head& host, PointHeaders points, std::size_t folder) {
  return is_points(folder) ? abi::points_fingerprint(plugin.points, points) : host.contracts[folder];
}

// The fingerprint of a folder that the plugin does not use is 0; every plugin uses core and host.
bool uses_folder(const bp_note_head& plugin, std::size_t folder) {
  return plugin.contracts[folder] != 0 || ((BP_USES_CORE | BP_USES_HOST) >> folder & 1U) != 0;
}

std::string headers_of(const std::string& folder, const bp_note_head& plugin, PointHeaders points) {
  if (folder == "host") return "backplane/host.hpp and plugin.hpp";
  std::string out = "backplane/" + folder;
  if (folder != "points") return out;
  std::string names;
  for (const std::string& name : used_points(plugin, points)) names += (names.empty() ? "" : ", ") + name;
  return out + " (in one of " + names + ")";
}

void compare_contracts(const bp_note_head& plugin, const bp_note_head& host, PointHeaders points, Findings& findings) {
  for (std::size_t i = 0; i < BP_CONTRACTS; ++i) {
    const std::uint32_t wanted = wanted_contract(plugin, host, points, i);
    if (!uses_folder(plugin, i) || plugin.contracts[i] == wanted) continue;
    const std::string folder = kContractFolders[i];
    findings.push_back({finding_code::kContract, Severity::kError, "contract." + folder, hex(wanted, 28), hex(plugin.contracts[i], 28),
                        "declarations in " + headers_of(folder, plugin, points) + " differ from those that the plugin was built with",
                        kRebuild});
  }
}

}  // namespace

void compare_stamps(const bp_note_head& plugin, const bp_note_head& host, Findings& findings) {
  compare_stamps(plugin, host, abi::sdk_points(), findings);
}

void compare_stamps(const bp_note_head& plugin, const bp_note_head& host, PointHeaders points, Findings& findings) {
  for (const auto& field : kFields) {
    if (field.matches(plugin, host)) continue;
    findings.push_back({field.code, Severity::kError, field.field, field.show(host), field.show(plugin), field.message, field.fix});
  }
  compare_contracts(plugin, host, points, findings);
}

Object descriptor_to_json(const Descriptor& descriptor) {
  boost::system::error_code error;
  Object out;
  auto manifest = json::parse(descriptor.json, error);
  if (!error) out["manifest"] = std::move(manifest);
  Object stamp;
  if (descriptor.is_stable()) {
    stamp["stable"] = std::to_string(descriptor.stable_abi);
    out["stamp"] = std::move(stamp);
    return out;
  }
  for (const auto& field : kFields) stamp[field.field] = field.show(descriptor.head);
  Object contracts;
  for (std::size_t i = 0; i < BP_CONTRACTS; ++i) {
    if (descriptor.head.contracts[i] != 0) contracts[kContractFolders[i]] = hex(descriptor.head.contracts[i], 28);
  }
  stamp["contracts"] = std::move(contracts);
  Array points;
  for (const std::string& name : used_points(descriptor.head, abi::sdk_points())) points.emplace_back(name);
  stamp["points"] = std::move(points);
  out["stamp"] = std::move(stamp);
  return out;
}

}  // namespace backplane
