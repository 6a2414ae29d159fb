// Upstream examines all requests once an hour. Here each request is queued for the time at which it may be due.
#include <openssl/err.h>
#include <openssl/pem.h>

#include <algorithm>
#include <ctime>
#include <limits>

#include "backplane/types/base64.hpp"
#include "certificates/controllers.hpp"
#include "certificates/request.hpp"
#include "frame/objects.hpp"

namespace backplane::controllers {
namespace {

constexpr std::int64_t kHour = 3600;
constexpr std::int64_t kSettledExpiration = kHour, kPendingExpiration = 24 * kHour;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

GroupVersionResource requests_to_clean() { return {"certificates.k8s.io", "v1", "certificatesigningrequests"}; }

std::int64_t after(std::string_view time, std::int64_t seconds) {
  const auto unix = parse_rfc3339(time);
  return unix ? *unix + seconds : kNever;
}

std::int64_t end_of_certificate(const Object& csr) {
  const auto pem = from_base64(get_string_path(csr, "status.certificate"));
  if (!pem) return kNever;
  const BioPtr bio = memory_bio(*pem);
  const X509Ptr certificate(PEM_read_bio_X509(bio.get(), nullptr, no_openssl_password, nullptr));
  ERR_clear_error();
  std::tm fields{};
  if (certificate == nullptr || ASN1_TIME_to_tm(X509_get0_notAfter(certificate.get()), &fields) != 1) return kNever;
  return timegm(&fields);
}

// Returns the time at which the request has to be deleted.
std::int64_t due(const Object& csr) {
  const Array* conditions = get_array(object_or_empty(csr, "status"), "conditions");
  if (conditions == nullptr || conditions->empty()) return after(meta_text(csr, "creationTimestamp"), kPendingExpiration);
  std::int64_t out = kNever;
  const bool issued = is_issued(csr);
  each(object_or_empty(csr, "status"), "conditions", [&](const Object& condition, std::size_t) {
    const std::string_view type = get_string(condition, "type"), time = get_string(condition, "lastUpdateTime");
    if (type == "Denied" || type == "Failed") out = std::min(out, after(time, kSettledExpiration));
    if (type != "Approved") return;
    out = std::min(out, after(time, issued ? kSettledExpiration : kPendingExpiration));
    if (issued) out = std::min(out, end_of_certificate(csr));
  });
  return out;
}

struct RequestCleaner {
  ApiClient api;
  std::shared_ptr<SharedInformer> informer;
  std::shared_ptr<WorkQueue> queue;

  Task<Status> reconcile(std::string name) {
    const auto csr = cached(*informer, name);
    if (!csr) co_return Status();
    const std::int64_t at = due(*csr), now = std::time(nullptr);
    if (at == kNever) co_return Status();
    if (at >= now) {
      queue->add_after(name, std::chrono::seconds(std::min(at - now + 1, kHour)));
      co_return Status();
    }
    auto deleted = co_await api.remove(requests_to_clean(), "", name);
    co_return deleted.ok() ? Status() : unless_gone(std::move(deleted).status());
  }
};

}  // namespace

Status start_request_cleaner(const Context& context) {
  const auto informer = context.term->informer(requests_to_clean());
  const auto queue = context.term->queue();
  context.term->handle(informer, enqueue_wanted(queue, [](const Object&) { return true; }));
  const auto controller = std::make_shared<RequestCleaner>(RequestCleaner{context.api, informer, queue});
  context.work(queue, 1, [controller](std::string name) { return controller->reconcile(std::move(name)); }, {informer});
  return {};
}

}  // namespace backplane::controllers
