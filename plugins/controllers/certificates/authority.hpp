// Issues certificates.
//
// Thread-safety: sign() reads the files in each call, and blocks meanwhile.
// Lifetime:      values.
// Errors:        kInternalError with OpenSSL's reason or the file's.
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

  // Whether the files can be used.
  Status check() const;
  // A PEM certificate for the request's key and names, valid for `validity` but not longer than the authority.
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
