#include "filters/impersonation_cache.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <stdexcept>

namespace backplane {
namespace {

// Texts are added with their lengths, so that different lists never have the same bytes.
class KeyText {
 public:
  KeyText& add(std::string_view text) {
    add_size(text.size());
    bytes_.append(text);
    return *this;
  }
  KeyText& add(bool flag) {
    bytes_.push_back(flag ? '\1' : '\0');
    return *this;
  }
  void add(const std::vector<std::string>& texts) {
    add_size(texts.size());
    for (const std::string& text : texts) add(text);
  }
  void add(const UserInfo& user) {
    add(user.name).add(user.uid).add(user.groups);
    auto extra = user.extra;
    std::sort(extra.begin(), extra.end());
    add_size(extra.size());
    for (const auto& [key, values] : extra) add(key).add(values);
  }
  ImpersonationKey digest() const {
    ImpersonationKey out;
    if (EVP_Digest(bytes_.data(), bytes_.size(), out.data(), nullptr, EVP_sha256(), nullptr) != 1) {
      throw std::runtime_error("SHA-256 is not available");
    }
    return out;
  }

 private:
  void add_size(std::uint64_t size) { bytes_.append(reinterpret_cast<const char*>(&size), sizeof size); }
  std::string bytes_;
};

}  // namespace

std::optional<ImpersonationKey> impersonation_key(const UserInfo& wanted, const UserInfo& requestor,
                                                  const AuthorizationAttributes* request) {
  KeyText text;
  text.add(wanted);
  text.add(requestor);
  text.add(request != nullptr);
  if (request == nullptr) return text.digest();
  if (!request->fields_error.ok() || !request->labels_error.ok()) return std::nullopt;
  text.add(request->verb).add(request->ns).add(request->resource).add(request->subresource).add(request->name);
  text.add(request->api_group).add(request->api_version).add(request->resource_request).add(request->path);
  text.add(request->fields.to_string()).add(request->labels.to_string());
  return text.digest();
}

ImpersonationKey requestor_key(std::string_view name) { return KeyText().add(name).digest(); }

}  // namespace backplane
