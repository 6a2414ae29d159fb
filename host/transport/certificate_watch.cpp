#include "transport/certificate_watch.hpp"

#include "base/caught.hpp"
#include "base/file_signature.hpp"
#include "transport/log.hpp"

namespace backplane {
namespace {

Task<void> refresh_once(std::shared_ptr<CertificateWatch> watch) {
  try {
    auto work = run_blocking([watch] { watch->refresh(); });
    co_await std::move(work);
  } catch (...) {
    transport_log().error("checking TLS files for changes failed error={}", caught().what);
  }
}

}  // namespace

CertificateWatch::CertificateWatch(ServingOptions options)
    : options_(std::move(options)), trust_(std::make_shared<ClientTrust>()), material_(tls_files(options_)) {}

std::string CertificateWatch::signature() const {
  std::string all;
  for (const auto& group : material_.groups) {
    for (const auto& file : group.files) all += file_signature(file.path) + ";";
  }
  return all;
}

Status CertificateWatch::load() {
  std::lock_guard lock(refresh_mutex_);
  seen_ = signature();
  for (auto& group : material_.groups) {
    if (Status status = read_group(group); !status.ok()) return status;
  }
  auto made = TlsContexts::build(options_, material_, trust_);
  if (!made.ok()) return std::move(made.status());
  use_contexts(std::move(*made));
  return {};
}

void CertificateWatch::use_contexts(std::shared_ptr<const TlsContexts> contexts) {
  trust_->use(contexts->authorities());
  trust_->front_proxies()->use(contexts->proxy_authorities());
  current_.set(std::move(contexts));
}

// Each group is reloaded separately, so that an invalid file does not prevent the reload of other groups.
bool CertificateWatch::refresh() {
  std::lock_guard lock(refresh_mutex_);
  std::string now = signature();
  if (now == seen_) return false;
  seen_ = std::move(now);
  bool changed = false;
  for (std::size_t i = 0; i < material_.groups.size(); ++i) changed = refresh_group(i) || changed;
  return changed;
}

bool CertificateWatch::refresh_group(std::size_t index) {
  TlsMaterial candidate = material_;
  TlsMaterial::Group& group = candidate.groups[index];
  Status status = read_group(group);
  if (status.ok() && group.files == material_.groups[index].files) return false;
  if (status.ok()) {
    auto made = TlsContexts::build(options_, candidate, trust_);
    if (made.ok()) {
      material_ = std::move(candidate);
      use_contexts(std::move(*made));
      transport_log().info("new connections use changed TLS files what=\"{}\"", material_.groups[index].name);
      return true;
    }
    status = std::move(made.status());
  }
  transport_log().warn("changed TLS files are invalid, the previous ones stay in use what=\"{}\" error={}", group.name, status.message());
  return false;
}

void CertificateWatch::start(Executor& executor) {
  executor_ = &executor;
  arm();
}

void CertificateWatch::arm() {
  std::lock_guard lock(timer_mutex_);
  if (stopped_) return;
  cancel_timer_ = executor_->after(options_.reload_interval, [self = shared_from_this()] {
    spawn_detached(*self->executor_, refresh_once(self), [self] { self->arm(); });
  });
}

void CertificateWatch::stop() {
  std::lock_guard lock(timer_mutex_);
  stopped_ = true;
  if (cancel_timer_) cancel_timer_();
  cancel_timer_ = nullptr;
}

}  // namespace backplane
