// unique_ptr types for OpenSSL objects, for plugins that link OpenSSL::Crypto.
//
// Thread-safety: as the OpenSSL objects: one thread at a time, unless OpenSSL documents otherwise.
// Errors:        OpenSSL's functions return null; net/openssl_reason.hpp has the reason.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string_view>

namespace backplane {

// Calls `Free`, OpenSSL's function for the type.
template <auto Free>
struct OpenSslDeleter {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};

// Owners; null: no object.
using BioPtr = std::unique_ptr<BIO, OpenSslDeleter<BIO_free_all>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, OpenSslDeleter<EVP_PKEY_free>>;
using X509Ptr = std::unique_ptr<X509, OpenSslDeleter<X509_free>>;

// A read-only BIO over `text`, which is not copied and must outlive it; null if OpenSSL cannot allocate. `text`: at most INT_MAX bytes.
inline BioPtr memory_bio(std::string_view text) { return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

// The pem_password_cb of PEM_read_bio_PrivateKey and the like: returns an empty password, so an encrypted key is an error. Without a
// callback OpenSSL prompts on the terminal.
inline int no_openssl_password(char*, int, int, void*) { return 0; }

}  // namespace backplane
