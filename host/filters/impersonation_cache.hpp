// The caches of impersonation. One kind stores decisions that allowed an impersonation, for a short time. The other kind stores the mode in
// which each requestor succeeded last.
//
// Keys are SHA-256 digests of everything that the decision depends on, so their size does not depend on what clients send.
//
// Thread-safety: any thread. The cache has 16 parts; each has a lock, which is held for one look-up or insertion.
// Errors:        none. A full part removes an entry.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "backplane/core/request.hpp"
#include "backplane/points/authorization.hpp"

namespace backplane {

using ImpersonationKey = std::array<unsigned char, 32>;
// Returns the key of the wanted user and its requestor. If `request` is not null, the key also includes the request's attributes. Returns
// nullopt if the attributes have a selector that cannot be parsed.
std::optional<ImpersonationKey> impersonation_key(const UserInfo& wanted, const UserInfo& requestor,
                                                  const AuthorizationAttributes* request);
ImpersonationKey requestor_key(std::string_view name);

// A cache with at most kPerPart entries in each part.
template <class T>
class ImpersonationCache {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kPerPart = 640;

  explicit ImpersonationCache(Clock::duration lifetime) : lifetime_(lifetime) {}
  std::optional<T> get(const ImpersonationKey& key) const {
    Part& part = parts_[key.back() % kParts];
    const std::lock_guard lock(part.mutex);
    const auto found = part.entries.find(key);
    if (found == part.entries.end()) return std::nullopt;
    if (Clock::now() < found->second.until) return found->second.value;
    part.entries.erase(found);
    return std::nullopt;
  }
  void set(const ImpersonationKey& key, T value) {
    Part& part = parts_[key.back() % kParts];
    const auto until = lifetime_ == Clock::duration::max() ? Clock::time_point::max() : Clock::now() + lifetime_;
    const std::lock_guard lock(part.mutex);
    if (part.entries.size() >= kPerPart && !part.entries.contains(key)) part.entries.erase(part.entries.begin());
    part.entries.insert_or_assign(key, Entry{std::move(value), until});
  }

 private:
  static constexpr std::size_t kParts = 16;
  struct Entry {
    T value;
    Clock::time_point until;
  };
  struct Hash {
    std::size_t operator()(const ImpersonationKey& key) const noexcept {
      std::size_t out = 0;
      std::memcpy(&out, key.data(), sizeof out);
      return out;
    }
  };
  struct Part {
    std::mutex mutex;
    std::unordered_map<ImpersonationKey, Entry, Hash> entries;
  };
  const Clock::duration lifetime_;
  mutable std::array<Part, kParts> parts_;
};

}  // namespace backplane
