#include "backplane/net/certificate_flaws.hpp"

#include "backplane/core/metrics.hpp"
#include "backplane/core/request.hpp"

namespace backplane BACKPLANE_API {
namespace {

struct Counters {
  explicit Counters(std::string_view prefix)
      : missing(Metric::counter(
            std::string(prefix) + "_x509_missing_san_total",
            "[ALPHA] Calls to servers whose certificate has no subject alternative name, and connections that failed for that.", {})),
        sha1(Metric::counter(std::string(prefix) + "_x509_insecure_sha1_total",
                             "[ALPHA] Calls to servers with a certificate that is signed with SHA-1, and connections that failed for that.",
                             {})) {}
  void count(CertificateFlaws flaws) const {
    if (flaws.no_alternative_name) missing.add({});
    if (flaws.signed_with_sha1) sha1.add({});
  }
  Metric& missing;
  Metric& sha1;
};

// Detects the flaws by the messages of Go's package x509 in the error of a call.
CertificateFlaws flaws_in(const Status& failed) {
  const std::string_view text = failed.message();
  constexpr std::string_view kAlgorithm = "x509: cannot verify signature: insecure algorithm ";
  const auto algorithm = text.find(kAlgorithm);
  CertificateFlaws out;
  out.no_alternative_name = text.find("x509: certificate relies on legacy Common Name field") != std::string_view::npos;
  out.signed_with_sha1 = algorithm != std::string_view::npos && text.find("SHA1", algorithm) != std::string_view::npos;
  return out;
}

CertificateFlaws flaws_of(const Result<std::unique_ptr<HttpAnswer>>& answer) {
  return answer.ok() ? (*answer)->certificate_flaws() : flaws_in(answer.status());
}

// Returns "::1" for "[::1]:443".
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

class CountingClient final : public HttpClient {
 public:
  CountingClient(std::shared_ptr<HttpClient> client, std::string_view prefix) : client_(std::move(client)), counters_(prefix) {}

  Task<Result<std::unique_ptr<HttpAnswer>>> call(HttpCall call) override {
    const auto client = client_;
    const Counters counters = counters_;
    auto calling = client->call(std::move(call));
    Result<std::unique_ptr<HttpAnswer>> answer = co_await std::move(calling);
    counters.count(flaws_of(answer));
    co_return std::move(answer);
  }

 private:
  const std::shared_ptr<HttpClient> client_;
  const Counters counters_;
};

}  // namespace

std::shared_ptr<HttpClient> count_certificate_flaws(std::shared_ptr<HttpClient> client, std::string_view prefix) {
  return std::make_shared<CountingClient>(std::move(client), prefix);
}

void show_certificate_flaws(std::string_view prefix) {
  const Counters counters(prefix);
  counters.missing.add({}, 0);
  counters.sha1.add({}, 0);
}

void note_certificate_flaws(RequestContext& context, std::string_view host, const Result<std::unique_ptr<HttpAnswer>>& answer) {
  if (context.audit == nullptr) return;
  const CertificateFlaws flaws = flaws_of(answer);
  const std::string of_host = ".invalid-cert.kubernetes.io/" + std::string(without_port(host));
  if (flaws.no_alternative_name) {
    context.annotate("missing-san" + of_host, "relies on a legacy Common Name field instead of the SAN extension for subject validation");
  }
  if (flaws.signed_with_sha1) context.annotate("insecure-sha1" + of_host, "uses an insecure SHA-1 signature");
}

}  // namespace BACKPLANE_API
