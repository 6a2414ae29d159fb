#include "app/kubeconfig.hpp"

#include <openssl/evp.h>

namespace backplane {
namespace {

std::string base64(const std::string& text) {
  std::string out(4 * ((text.size() + 2) / 3) + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  out.resize(static_cast<std::size_t>(size));
  return out;
}

}  // namespace

std::string make_kubeconfig(const KubeconfigParts& parts) {
  return "apiVersion: v1\n"
         "kind: Config\n"
         "clusters:\n"
         "- name: backplane\n"
         "  cluster:\n"
         "    server: " +
         parts.server +
         "\n"
         "    certificate-authority-data: " +
         base64(parts.ca_pem) +
         "\n"
         "users:\n"
         "- name: kubernetes-admin\n"
         "  user:\n"
         "    client-certificate-data: " +
         base64(parts.client_certificate_pem) +
         "\n"
         "    client-key-data: " +
         base64(parts.client_key_pem) +
         "\n"
         "contexts:\n"
         "- name: kubernetes-admin@backplane\n"
         "  context:\n"
         "    cluster: backplane\n"
         "    user: kubernetes-admin\n"
         "current-context: kubernetes-admin@backplane\n"
         "preferences: {}\n";
}

}  // namespace backplane
