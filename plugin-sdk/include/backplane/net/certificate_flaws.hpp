// Counts calls to servers whose certificates have flaws (CertificateFlaws) that make current clients reject them, and records the flaws for
// audit events. The names of metrics and annotations are upstream's.
//
// Thread-safety: any executor.
// Lifetime:      the returned client owns the wrapped client. Counters live as long as the process.
// Errors:        those of the wrapped client.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "backplane/core/visibility.hpp"
#include "backplane/net/client.hpp"

namespace backplane BACKPLANE_API {

class RequestContext;

// Returns a client that forwards calls to `client` and counts calls to servers with flawed certificates, in PREFIX_x509_missing_san_total
// and PREFIX_x509_insecure_sha1_total. It counts a call whose response comes from such a server, and a call that fails because of the flaw.
// `prefix`: "apiserver_webhooks".
std::shared_ptr<HttpClient> count_certificate_flaws(std::shared_ptr<HttpClient> client, std::string_view prefix);
// Registers both counters with the value 0, so that they are exposed before the first client exists.
void show_certificate_flaws(std::string_view prefix);
// Adds "missing-san.invalid-cert.kubernetes.io/HOST" or "insecure-sha1.invalid-cert.kubernetes.io/HOST" to the audit annotations of the
// request `context`, for which the server `host` was called. `host`: with or without a port. Call it on the request's executor.
void note_certificate_flaws(RequestContext& context, std::string_view host, const Result<std::unique_ptr<HttpAnswer>>& answer);

}  // namespace BACKPLANE_API
