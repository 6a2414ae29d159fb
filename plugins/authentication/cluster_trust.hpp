// Maintains the ConfigMap kube-system/extension-apiserver-authentication. With its data, extension API servers authenticate clients and
// front proxies of this cluster.
//
// Several servers write the ConfigMap. Each server retains the data of the others, except expired certificates.
// Thread-safety: pure functions; ClusterTrust as MaintainedConfigMap.
// Errors:        a file that cannot be read, or invalid data in the ConfigMap.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "maintained_config_map.hpp"

namespace backplane::authentication {

// Certificates are PEM; empty: none.
struct TrustInfo {
  std::string client_ca;
  std::string proxy_ca;
  std::vector<std::string> user_headers, uid_headers, group_headers, extra_prefixes, allowed_names;
};

// Convert the ConfigMap's data to a TrustInfo, and back.
Result<TrustInfo> read_trust(const Object& data);
Object trust_data(const TrustInfo& trust);
// Returns the union of both, without repetitions. Omits certificates that expired more than five minutes before `now_unix`.
// Errors: kInternalError for text that holds no certificate.
Result<TrustInfo> combined(const TrustInfo& ours, const TrustInfo& theirs, std::int64_t now_unix);

class ClusterTrust final : public MaintainedConfigMap {
 public:
  explicit ClusterTrust(Host& host);

 protected:
  Result<std::optional<Object>> wanted(const Object* data) override;

 private:
  Result<TrustInfo> ours() const;

  std::vector<std::string> client_ca_files_;
  std::string proxy_ca_file_;
  TrustInfo flags_;  // without certificates, which are read from the files each time because the files may change
};

}  // namespace backplane::authentication
