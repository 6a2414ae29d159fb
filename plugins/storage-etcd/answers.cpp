#include "answers.hpp"

#include <pthread.h>

namespace backplane::etcd {

Answers::Answers() : thread_([this] { run(); }) {}

Answers::~Answers() {
  queue_.Shutdown();
  thread_.join();
}

void Answers::run() {
  pthread_setname_np(pthread_self(), "etcd");
  void* waiter = nullptr;
  bool ok = false;
  while (queue_.Next(&waiter, &ok)) static_cast<Waiter*>(waiter)->happened(ok);
}

}  // namespace backplane::etcd
