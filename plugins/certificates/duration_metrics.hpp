// Counts issued certificates of CertificateSigningRequests that requested a duration, and how many of the certificates have that duration.
//
// Thread-safety: any thread.
// Lifetime:      the storage shares the one that it wraps.
// Errors:        those of the wrapped storage.
// Source:        pkg/registry/certificates/certificates/storage/metrics.go.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backplane/rest/standard_storage.hpp"

namespace backplane::certificates {

// The duration that a client requested, read from a stored object that has no certificate yet.
struct RequestedDuration {
  std::string signer;
  std::int64_t seconds = 0;

  // nullopt: the request has a certificate already, or no spec.expirationSeconds.
  static std::optional<RequestedDuration> of(const Object& stored);
};

// Called after the commit of an update. `certificate`: the PEM text of its status.certificate; empty: none was issued.
void count_issued(const RequestedDuration& requested, std::string_view certificate);

// Wraps `status`, the subresource /status of certificatesigningrequests, to count issued certificates.
std::shared_ptr<SubresourceStorage> make_counted_status(std::shared_ptr<SubresourceStorage> status);

}  // namespace backplane::certificates
