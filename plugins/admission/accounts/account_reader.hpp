// Reads service accounts from the cache, or from the store if the cache does not have the account.
//
// Thread-safety: any thread.
// Lifetime:      `services` outlive the reader.
// Errors:        404 `serviceaccount "x" not found`; those of the store.
// Source:        kubernetes plugin/pkg/admission/serviceaccount (getServiceAccount).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/services.hpp"

namespace backplane::admission::accounts {

inline constexpr std::string_view kDefaultAccount = "default";

class AccountReader {
 public:
  explicit AccountReader(Services& services);
  // The members of the account that pods depend on; nullopt if the cache does not have it.
  std::optional<Object> cached(std::string_view ns, std::string_view name) const;
  // Reads the account from the store. A controller creates the account `default` of each new namespace; for that name the read is repeated
  // for one to two seconds.
  Task<Result<Object>> read(std::string ns, std::string name) const;

 private:
  Task<Result<ObjectRef>> read_once(std::string ns, std::string name) const;

  Host& host_;
  const Lister accounts_;
};

}  // namespace backplane::admission::accounts
