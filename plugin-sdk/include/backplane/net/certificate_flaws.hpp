// Calls to servers whose certificates are of a kind that clients have stopped to accept: counted, as upstream counts them, so that somebody
// sees it before a stricter client does.
//
// Thread-safety: any executor.
// Lifetime:      the counting client keeps the one it asks; counters are the process's.
// Errors:        those of the client it asks.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "backplane/core/visibility.hpp"
#include "backplane/net/client.hpp"

namespace backplane BACKPLANE_API {

struct CertificateFlaws {
  bool no_alternative_name = false;  // the server's own certificate has no SAN extension
  bool signed_with_sha1 = false;     // one of those it has shown, other than a self-signed one
  bool any() const noexcept { return no_alternative_name || signed_with_sha1; }
};

// For implementers of HttpAnswer that know the certificates of who has answered: an answer is one of these as well.
class AnswerOfPeer {
 public:
  virtual ~AnswerOfPeer();
  virtual CertificateFlaws certificate_flaws() const noexcept = 0;
};

// Asks `client`, and counts in PREFIX_x509_missing_san_total and PREFIX_x509_insecure_sha1_total each call whose answer has come from such
// a server, or that has failed for that reason.  `prefix`: "apiserver_webhooks".
std::shared_ptr<HttpClient> count_certificate_flaws(std::shared_ptr<HttpClient> client, std::string_view prefix);
// Shows the two counters, at 0, before there is a client.
void show_certificate_flaws(std::string_view prefix);

}  // namespace BACKPLANE_API
