// unique_ptr types for OpenSSL objects, for plugins that link OpenSSL::Crypto.
//
// Thread-safety: like the OpenSSL objects: one thread at a time, unless OpenSSL documents otherwise.
// Errors:        a null pointer, if OpenSSL's function returned null; net/openssl_reason.hpp returns the reason.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string_view>

namespace backplane {

// Calls `Free`, OpenSSL's function that frees objects of the type.
template <auto Free>
struct OpenSslDeleter {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};

// Owning pointers; null: no object.
using BioPtr = std::unique_ptr<BIO, OpenSslDeleter<BIO_free_all>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, OpenSslDeleter<EVP_PKEY_free>>;
using X509Ptr = std::unique_ptr<X509, OpenSslDeleter<X509_free>>;

// Returns a read-only BIO over `text`; null if OpenSSL cannot allocate it. `text` is not copied and must outlive the BIO. Precondition:
// `text` has at most INT_MAX bytes.
inline BioPtr memory_bio(std::string_view text) { return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

// A pem_password_cb for PEM_read_bio_PrivateKey and similar functions: returns an empty password, so that an encrypted key is an error.
// Without a callback, OpenSSL prompts on the terminal.
inline int no_openssl_password(char*, int, int, void*) { return 0; }

}  // namespace backplane
