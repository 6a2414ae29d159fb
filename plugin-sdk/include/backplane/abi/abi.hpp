// The build stamp (bp_note_head): constants that describe how the code that includes this header was compiled. Both the SDK library and
// each plugin contain them. The host runs a plugin only if they are equal, because host and plugin exchange C++ types.
//
// The source that backplane_add_plugin() generates includes this header; other sources of a plugin need not include it.
//
// Thread-safety: constants only.
#pragma once

#include <atomic>
#include <boost/version.hpp>
#include <chrono>
#include <climits>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "backplane/abi/contract.h"
#include "backplane/abi/descriptor.h"
#include "backplane/core/bytes.hpp"
#include "backplane/core/json.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/core/object.hpp"
#include "backplane/core/options.hpp"
#include "backplane/core/request.hpp"
#include "backplane/core/selectors.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"

// With another ABI of std::string, the linker would find no function of the SDK. In debug mode, containers have a different size.
#if _GLIBCXX_USE_CXX11_ABI != BACKPLANE_SDK_CXX11_ABI
#error "PLG-ABI-005 cxx11_abi: std::string must have the same form as in the host: set _GLIBCXX_USE_CXX11_ABI as the SDK was built"
#endif
#if defined(_GLIBCXX_DEBUG) != BACKPLANE_SDK_GLIBCXX_DEBUG
#error "PLG-ABI-006 glibcxx_debug: debug mode changes the size of containers: set or remove -D_GLIBCXX_DEBUG as the SDK was built"
#endif

namespace backplane::abi {

// FNV-1a, 64 bits, over 32-bit words.
class Fingerprint {
 public:
  constexpr void add(std::uint64_t word) noexcept {
    for (int shift = 0; shift < 64; shift += 8) {
      hash_ ^= (word >> shift) & 0xffU;
      hash_ *= 0x100000001b3ULL;
    }
  }
  template <class... Types>
  constexpr void add_types() noexcept {
    (add(sizeof(Types) << 8 | alignof(Types)), ...);
  }
  constexpr std::uint64_t value() const noexcept { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

enum class Probe : unsigned char { kOne };
enum PlainEnum { kPlainOne };  // smaller with -fshort-enums
struct Packable {              // smaller with -fpack-struct
  char first;
  long long second;
};

// The size and alignment of types that every plugin shares with the host: types of the language, of the standard library, of Boost.JSON and
// of backplane/core. Types of the other folders consist of these types; the fingerprint of a folder covers the declarations in it.
constexpr std::uint64_t layout_fingerprint() noexcept {
  Fingerprint print;
  print.add_types<int, long, long long, void*, wchar_t, long double, std::max_align_t, Probe, PlainEnum, Packable>();
  print.add_types<std::string, std::string_view, std::vector<int>, std::vector<bool>, std::list<int>, std::map<int, int>, std::set<int>,
                  std::unordered_map<int, int>, std::unordered_set<int>, std::optional<std::string>, std::variant<int, std::string>,
                  std::function<void()>, std::shared_ptr<int>, std::weak_ptr<int>, std::unique_ptr<int>, std::pair<int, std::string>,
                  std::span<const int>, std::mutex, std::atomic<bool>, std::exception_ptr, std::coroutine_handle<>,
                  std::chrono::steady_clock::time_point, std::vector<std::string>::iterator, std::map<int, int>::iterator>();
  print.add_types<json::value, json::object, json::array, json::string, json::storage_ptr, json::key_value_pair>();
  print.add_types<Status, StatusDetails, StatusCause, Result<std::string>, FieldError, FieldErrors, SharedBytes, ObjectEntry, Task<void>,
                  Future<int>, Promise<int>, GroupVersion, GroupVersionKind, GroupVersionResource, ObjectMeta, RequestContext, RequestInfo,
                  UserInfo, UserRef, LabelSelector, FieldSelector, GetOptions, ListOptions, DeleteOptions, WriteOptions, Preconditions>();
  return print.value();
}

constexpr std::uint32_t compiler_abi() noexcept {
#ifdef __GXX_ABI_VERSION
  return __GXX_ABI_VERSION;
#else
  return 0;
#endif
}

constexpr std::uint32_t stdlib_flags() noexcept {
  std::uint32_t flags = 0;
#if defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI
  flags |= BP_STDLIB_CXX11_ABI;
#endif
#ifdef _GLIBCXX_DEBUG
  flags |= BP_STDLIB_DEBUG;
#endif
#ifdef _GLIBCXX_ASSERTIONS
  flags |= BP_STDLIB_ASSERTIONS;
#endif
  return flags;
}

constexpr std::uint32_t language_flags() noexcept {
  std::uint32_t flags = 0;
#ifdef __cpp_exceptions
  flags |= BP_LANGUAGE_EXCEPTIONS;
#endif
#ifdef __cpp_rtti
  flags |= BP_LANGUAGE_RTTI;
#endif
  return flags;
}

constexpr std::uint32_t sanitizer_flags() noexcept {
  std::uint32_t flags = 0;
#ifdef __SANITIZE_ADDRESS__
  flags |= BP_SANITIZE_ADDRESS;
#endif
#ifdef __SANITIZE_THREAD__
  flags |= BP_SANITIZE_THREAD;
#endif
#ifdef __has_feature
#if __has_feature(address_sanitizer)
  flags |= BP_SANITIZE_ADDRESS;
#endif
#if __has_feature(thread_sanitizer)
  flags |= BP_SANITIZE_THREAD;
#endif
#if __has_feature(memory_sanitizer)
  flags |= BP_SANITIZE_MEMORY;
#endif
#endif
  return flags;
}

// A header of backplane/points and the fingerprint of its declarations. Fingerprint 0: this SDK no longer contains the header.
struct PointHeader {
  const char* name;
  std::uint32_t fingerprint;
};
inline constexpr PointHeader kPointHeaders[] = BACKPLANE_SDK_POINTS;
inline constexpr std::size_t kMostPointHeaders = 32;
static_assert(std::size(kPointHeaders) <= kMostPointHeaders);

// The fingerprint of the headers in `points`, whose bits are those of bp_note_head.points. Bits after the last header are ignored. Never 0.
constexpr std::uint32_t points_fingerprint(std::uint32_t points, std::span<const PointHeader> headers = kPointHeaders) noexcept {
  Fingerprint print;
  for (std::size_t i = 0; i < headers.size(); ++i) {
    if ((points >> i & 1U) != 0) print.add(std::uint64_t{i} << 32 | headers[i].fingerprint);
  }
  const auto folded = static_cast<std::uint32_t>(print.value() ^ print.value() >> 32);
  return folded != 0 ? folded : 1;
}

// Returns the head of a descriptor for code that is compiled like this translation unit.  `uses`: BP_USES_… of the folders whose headers
// the code includes. `points`: the headers of backplane/points that the code includes.
constexpr bp_note_head note_head(std::uint32_t json_size, std::uint32_t uses = BP_USES_ALL, std::uint32_t points = BP_POINTS_ALL) noexcept {
  bp_note_head head{};
  for (int i = 0; i < 8; ++i) head.magic[i] = BP_NOTE_MAGIC[i];
  head.head_size = sizeof(bp_note_head);
  head.head_version = 1;
  head.json_size = json_size;
  head.sdk_version = BACKPLANE_SDK_VERSION;
  head.entry_abi = BP_ENTRY_ABI;
  head.gxx_abi = compiler_abi();
#ifdef __clang__
  head.compiler = BP_COMPILER_CLANG;
  head.compiler_major = __clang_major__;
#else
  head.compiler = BP_COMPILER_GCC;
  head.compiler_major = __GNUC__;
#endif
#ifdef _LIBCPP_VERSION
  head.stdlib = BP_STDLIB_LIBCXX;
  head.stdlib_release = _LIBCPP_VERSION / 1000;
#else
  head.stdlib = BP_STDLIB_LIBSTDCXX;
  head.stdlib_release = _GLIBCXX_RELEASE;
#endif
  head.stdlib_flags = stdlib_flags();
  head.boost_version = BOOST_VERSION;
  head.language = language_flags();
  head.sanitizers = sanitizer_flags();
  head.pointer_bits = sizeof(void*) * CHAR_BIT;
  head.layout_fingerprint = layout_fingerprint();
  constexpr std::uint32_t kContracts[BP_CONTRACTS] = BACKPLANE_SDK_CONTRACTS;
  for (std::size_t i = 0; i < BP_CONTRACTS; ++i) head.contracts[i] = (uses >> i & 1U) != 0 ? kContracts[i] : 0;
  if ((uses & BP_USES_POINTS) != 0) {
    head.points = points & static_cast<std::uint32_t>((std::uint64_t{1} << std::size(kPointHeaders)) - 1);
    head.contracts[2] = points_fingerprint(head.points);
  }
  for (std::size_t i = 0; i + 1 < sizeof(head.vendor) && i + 1 < sizeof(BACKPLANE_VENDOR_TAG); ++i)
    head.vendor[i] = BACKPLANE_VENDOR_TAG[i];
  return head;
}

// The layout of the note in the ELF file. N is the length of the JSON including its NUL.  Notes are aligned to four bytes.
template <std::size_t N>
struct __attribute__((packed, aligned(4))) Note {
  std::uint32_t owner_size, description_size, type;
  char owner[12];
  bp_note_head head;
  char json[N];
};

template <std::size_t N>
constexpr Note<N> make_note(const char (&text)[N], std::uint32_t documents, std::uint32_t uses, std::uint32_t points) noexcept {
  static_assert(N - 1 <= BP_MAX_JSON_SIZE, "the plugin manifest is too long");
  Note<N> note{};
  note.owner_size = sizeof(BP_NOTE_OWNER);
  note.description_size = sizeof(bp_note_head) + N;
  note.type = BP_NOTE_TYPE;
  for (std::size_t i = 0; i < sizeof(BP_NOTE_OWNER); ++i) note.owner[i] = BP_NOTE_OWNER[i];
  note.head = note_head(N - 1, uses, points);
  note.head.documents = documents;
  for (std::size_t i = 0; i < N; ++i) note.json[i] = text[i];
  return note;
}

static_assert(sizeof(bp_note_head) == 128, "the head of the descriptor never changes its size");

// The stamp of the SDK library in this process. The host compares the stamps of plugins with it.
BACKPLANE_API const bp_note_head& sdk_stamp() noexcept;
// The headers of backplane/points in the SDK library of this process.
BACKPLANE_API std::span<const PointHeader> sdk_points() noexcept;

}  // namespace backplane::abi
