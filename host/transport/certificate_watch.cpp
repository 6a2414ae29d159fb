#include "transport/certificate_watch.hpp"

#include <sys/stat.h>

#include "transport/log.hpp"

namespace backplane {
namespace {

Task<void> refresh_once(std::shared_ptr<CertificateWatch> watch) {
  auto work = run_blocking([watch] { watch->refresh(); });
  co_await std::move(work);
}

}  // namespace

CertificateWatch::CertificateWatch(ServingOptions options) : options_(std::move(options)) {}

std::string CertificateWatch::signature() const {
  std::string all;
  for (const auto& file : watched_files(options_)) {
    struct stat what {};
    if (::stat(file.c_str(), &what) == 0) {
      for (const long long part : {static_cast<long long>(what.st_ino), static_cast<long long>(what.st_size),
                                   static_cast<long long>(what.st_mtim.tv_sec), static_cast<long long>(what.st_mtim.tv_nsec)}) {
        all += std::to_string(part) + ",";
      }
    }
    all += ';';
  }
  return all;
}

Status CertificateWatch::load() {
  std::lock_guard lock(refresh_mutex_);
  seen_ = signature();
  auto made = TlsContexts::build(options_);
  if (!made.ok()) return std::move(made.status());
  current_.store(std::move(*made));
  return {};
}

bool CertificateWatch::refresh() {
  std::lock_guard lock(refresh_mutex_);
  std::string now = signature();
  if (now == seen_) return false;
  seen_ = std::move(now);
  auto made = TlsContexts::build(options_);
  if (!made.ok()) {
    transport_log().warn("changed TLS files cannot be used yet, the old ones stay error={}", made.status().message());
    return false;
  }
  current_.store(std::move(*made));
  transport_log().info("TLS files have changed and are in use for new connections");
  return true;
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
