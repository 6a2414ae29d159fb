#include "config/certificates.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>

#include "backplane/net/openssl_ptr.hpp"

namespace backplane::authentication {

std::string certificates_problem(std::string_view pem) {
  const BioPtr bio = memory_bio(pem);
  std::size_t found = 0;
  std::string problem;
  for (;;) {
    char* name = nullptr;
    char* header = nullptr;
    unsigned char* data = nullptr;
    long size = 0;
    if (PEM_read_bio(bio.get(), &name, &header, &data, &size) != 1) break;
    if (std::string_view(name) == "CERTIFICATE" && *header == '\0' && problem.empty()) {
      const unsigned char* at = data;
      const X509Ptr certificate(d2i_X509(nullptr, &at, size));
      if (certificate == nullptr) problem = "x509: malformed certificate";
      if (certificate != nullptr) ++found;
    }
    OPENSSL_free(name);
    OPENSSL_free(header);
    OPENSSL_free(data);
  }
  ERR_clear_error();
  if (problem.empty() && found == 0) problem = "data does not contain any valid RSA or ECDSA certificates";
  return problem;
}

}  // namespace backplane::authentication
