// Counts calls to servers whose certificates current clients reject (CertificateFlaws), and records them for audit events. Metrics and
// annotations are upstream's.
//
// Thread-safety: any executor.
// Lifetime:      the counting client owns the wrapped one; counters live as long as the process.
// Errors:        those of the wrapped client.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "backplane/core/visibility.hpp"
#include "backplane/net/client.hpp"

namespace backplane BACKPLANE_API {

class RequestContext;

// Wraps `client`. Counts in PREFIX_x509_missing_san_total and PREFIX_x509_insecure_sha1_total each call whose response comes from such a
// server, or that fails for that reason. `prefix`: "apiserver_webhooks".
std::shared_ptr<HttpClient> count_certificate_flaws(std::shared_ptr<HttpClient> client, std::string_view prefix);
// Registers both counters with the value 0, so that they are exposed before the first client exists.
void show_certificate_flaws(std::string_view prefix);
// Annotates the audit events of the request for which the server `host` was called: "missing-san.invalid-cert.kubernetes.io/HOST",
// "insecure-sha1.invalid-cert.kubernetes.io/HOST". `host`: with or without a port. On the request's executor.
void note_certificate_flaws(RequestContext& context, std::string_view host, const Result<std::unique_ptr<HttpAnswer>>& answer);

}  // namespace BACKPLANE_API
