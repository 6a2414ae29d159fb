#include "app/reload_signal.hpp"

#include <csignal>

namespace backplane {

ReloadSignal::ReloadSignal(IoLoop& loop, std::function<void()> reload) : signals_(loop.context(), SIGHUP), reload_(std::move(reload)) {
  wait();
}

ReloadSignal::~ReloadSignal() {
  boost::system::error_code ignored;
  signals_.cancel(ignored);
}

void ReloadSignal::wait() {
  signals_.async_wait([this](const boost::system::error_code& error, int) {
    if (error) return;
    reload_();
    wait();
  });
}

}  // namespace backplane
