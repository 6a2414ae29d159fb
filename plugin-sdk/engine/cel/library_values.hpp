// The data of the libraries' values: trivial types in the arena.
//
// Thread-safety: pure functions.
#pragma once

#include <array>

#include "backplane/types/cel_authorizer.hpp"
#include "cel/equality.hpp"
#include "cel/value.hpp"

namespace backplane::cel_detail {

struct UrlVal : Opaque {
  std::string_view scheme, user, host, path, escaped_path, query, fragment, opaque_part;
  bool has_user = false, force_query = false;
};
// The exact number: value * 10^scale if `plain` is true; otherwise digits * 10^scale.
struct QuantityVal : Opaque {
  bool plain = true;
  bool negative = false;  // the sign of `digits`
  std::int64_t value = 0;
  std::int32_t scale = 0;
  std::string_view digits = {};  // no leading zeros; empty is zero
};
struct IpVal : Opaque {
  std::array<unsigned char, 16> bytes{};
  unsigned size = 0;  // 4 or 16
};
struct CidrVal : Opaque {
  IpVal address;
  unsigned bits = 0;
};
struct SemverVal : Opaque {
  std::uint64_t major = 0, minor = 0, patch = 0;
  std::string_view pre = {}, build = {};  // without - and +
};
struct FormatRow;
struct FormatVal : Opaque {
  const FormatRow* row = nullptr;
};
struct AuthorizerVal : Opaque {
  const cel::Authorizer* authorizer = nullptr;
  std::string_view account_namespace = {}, account = {};  // not empty: checks are made for this service account
};
// The path, group or resource to check.
struct CheckVal : Opaque {
  AuthorizerVal authorizer;
  std::string_view path = {}, group = {}, resource = {}, subresource = {}, namespace_name = {}, name = {}, field_selector = {},
                   label_selector = {};
};
struct DecisionVal : Opaque {
  bool allowed = false, errored = false;
  std::string_view reason = {}, error = {};
};

// The value's data as its known type.
template <class T>
const T& as(const Val& value) noexcept {
  return static_cast<const T&>(*value.opaque);
}
inline bool is_opaque(const Val& value, OpaqueKind kind) noexcept { return value.is(ValKind::kOpaque) && value.opaque->kind == kind; }

Equal equal_opaque(const Opaque& a, const Opaque& b);
// Bytes of an address or of a network's mask; 1 for other values.
std::uint64_t opaque_size(const Opaque& value) noexcept;

std::string url_text(const UrlVal& url);
std::string ip_text(const IpVal& address);
int compare_quantity(const QuantityVal& a, const QuantityVal& b);
int compare_semver(const SemverVal& a, const SemverVal& b);

}  // namespace backplane::cel_detail
