// SIGHUP under a service manager: the server reads its certificate files again, and notifies the service manager of the reload.
// Without a service manager SIGHUP ends the process, as it ends kube-apiserver.
//
// Thread-safety: the work runs on the loop.
// Lifetime:      destroyed before the loop stops.
#pragma once

#include <boost/asio/signal_set.hpp>
#include <functional>

#include "base/io_loop.hpp"

namespace backplane {

class ReloadSignal {
 public:
  ReloadSignal(IoLoop& loop, std::function<void()> reload);
  ~ReloadSignal();
  ReloadSignal(const ReloadSignal&) = delete;
  ReloadSignal& operator=(const ReloadSignal&) = delete;

 private:
  void wait();
  boost::asio::signal_set signals_;
  const std::function<void()> reload_;
};

}  // namespace backplane
