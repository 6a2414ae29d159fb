// The certificates of a server without --tls-cert-file, and the kubeconfig made from them.
//
// They are made once, kept, and renewed before they expire:
//   <data-dir>/pki   ca.crt and ca.key, admin.crt and admin.key, sa.key
//   --cert-dir       apiserver.crt and apiserver.key; a pair of another authority in that folder is used unchanged
//                    (upstream's MaybeDefaultWithSelfSignedCerts)
// The certificate of the loopback name is made at each startup, and not kept.
// Thread-safety: one thread at a time.
// Errors:        kInternalError with the file and the reason.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "app/options.hpp"
#include "transport/certificates.hpp"

namespace backplane {

// The issuer of service account tokens if --service-account-issuer is not set.
inline constexpr std::string_view kDefaultIssuer = "https://kubernetes";

// Connections with this server name get a certificate that is made at each startup.
inline constexpr std::string_view kLoopbackName = "apiserver-loopback-client";
inline constexpr std::chrono::hours kLoopbackLifetime{3 * 365 * 24};

struct ServerPki {
  KeyPair authority;
  KeyPair admin;
  ServingOptions serving;      // the options with which SecureServer is made
  std::string token_key_file;  // the private key that signs service account tokens
  // The serving certificate of another authority, from --tls-cert-file or --cert-dir; empty: this server's authority has signed it.
  std::string foreign_certificate_file = {};
};

Result<ServerPki> prepare_pki(const Options& options);

// Renews the administrator's certificate in `pki`, with its kubeconfig, and the serving certificate, if they expire soon and this server's
// authority has signed them. SecureServer reloads the files. Returns whether a certificate was renewed.
Result<bool> renew_certificates(const Options& options, ServerPki& pki, std::uint16_t port);

// "https://127.0.0.1:6443": the URL for clients on this machine.
std::string local_url(const Options& options, std::uint16_t port);
// Writes <data-dir>/admin.kubeconfig (0600) and returns its path.
Result<std::string> write_admin_kubeconfig(const Options& options, const ServerPki& pki, std::uint16_t port);

}  // namespace backplane
