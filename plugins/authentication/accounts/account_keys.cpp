#include "accounts/account_keys.hpp"

#include <fstream>
#include <iterator>

namespace backplane::authentication {

Result<std::shared_ptr<FileKeys>> FileKeys::from_files(const std::vector<std::string>& paths) {
  std::vector<kit::PublicKey> keys;
  for (const std::string& path : paths) {
    std::ifstream file(path, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    if (!file.is_open() || file.bad()) return internal_error("service account tokens: cannot read " + path);
    std::vector<kit::PublicKey> found = kit::PublicKey::all_in_pem(text);
    if (found.empty()) return internal_error("service account tokens: " + path + " contains no RSA or EC key");
    keys.insert(keys.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
  }
  return std::make_shared<FileKeys>(kit::KeySet(std::move(keys)));
}

Task<std::shared_ptr<const kit::KeySet>> FileKeys::keys_for(std::string) { co_return keys_; }

}  // namespace backplane::authentication
