// Issues certificates.
//
// Thread-safety: any thread. Each call of check() and sign() reads the files, and blocks meanwhile.
// Lifetime:      values.
// Errors:        kInternalError with the reason of OpenSSL or of the file system.
// Source:        k8s.io/kubernetes/pkg/controller/certificates/authority.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "certificates/request.hpp"

namespace backplane::controllers {

class Authority {
 public:
  Authority(std::string certificate_file, std::string key_file)
      : certificate_file_(std::move(certificate_file)), key_file_(std::move(key_file)) {}

  // Returns an error if the files cannot be used.
  Status check() const;
  // Returns a PEM certificate for the request's key and names. It is valid for `validity`, but not longer than the authority's certificate.
  Result<std::string> sign(const ParsedRequest& request, const std::vector<std::string>& usages, std::chrono::seconds validity) const;

 private:
  struct Pair {
    X509Ptr certificate;
    KeyPtr key;
  };
  Result<Pair> load() const;

  const std::string certificate_file_, key_file_;
};

}  // namespace backplane::controllers
