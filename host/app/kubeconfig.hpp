// admin.kubeconfig: everything kubectl needs, in one file.
//
// Thread-safety: a pure function.
#pragma once

#include <string>

namespace backplane {

struct KubeconfigParts {
  std::string server;  // "https://127.0.0.1:6443"
  std::string ca_pem;
  std::string client_certificate_pem;
  std::string client_key_pem;
};

std::string make_kubeconfig(const KubeconfigParts& parts);

}  // namespace backplane
