// The public keys that verify service account tokens.
//
// Thread-safety: any thread.
// Lifetime:      shared by the authenticators.
// Errors:        from_files(): kInternalError for a file that cannot be read or contains no key; the message names the file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backplane/core/task.hpp"
#include "backplane/kit/jose_key.hpp"

namespace backplane::authentication {

class AccountKeys {
 public:
  virtual ~AccountKeys() = default;
  // Returns keys for a token with this key id, which may be empty. An implementation that fetches keys fetches them again for an unknown
  // id.
  virtual Task<std::shared_ptr<const kit::KeySet>> keys_for(std::string key_id) = 0;
};

// The keys in the files of --service-account-key-file; if that flag is not set, in the file of the signing key.
class FileKeys final : public AccountKeys {
 public:
  explicit FileKeys(kit::KeySet keys) : keys_(std::make_shared<const kit::KeySet>(std::move(keys))) {}
  static Result<std::shared_ptr<FileKeys>> from_files(const std::vector<std::string>& paths);
  Task<std::shared_ptr<const kit::KeySet>> keys_for(std::string key_id) override;

 private:
  const std::shared_ptr<const kit::KeySet> keys_;
};

}  // namespace backplane::authentication
