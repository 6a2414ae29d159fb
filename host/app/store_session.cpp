#include "app/store_session.hpp"

#include <iostream>

#include "base/log.hpp"
#include "base/plain_message.hpp"

namespace backplane {
namespace {

constexpr std::chrono::seconds kReachable{10};  // time limit for the first response of a store

}  // namespace

StoreSession::StoreSession(StoreOpener& opener) : opener_(opener) { loop_.start(); }

StoreSession::~StoreSession() {
  for (auto& handle : open_) (void)run_on(loop_, handle.storage->stop());
  open_.clear();
  loop_.stop();
}

Result<StorageBackend*> StoreSession::open(const StoreFlags& flags) {
  auto opened = opener_.open(flags);
  if (!opened.ok()) return std::move(opened.status());
  open_.push_back(std::move(*opened));
  StorageBackend* const storage = open_.back().storage.get();
  if (Status reached = run_on(loop_, storage->health(kReachable)); !reached.ok()) {
    return Status(reached.reason(), backplane::quoted(flags.name) + " cannot be reached: " + reached.message());
  }
  return storage;
}

Result<StorageBackend*> StoreSession::open_new(const std::string& directory) {
  auto opened = opener_.open_new(directory);
  if (!opened.ok()) return std::move(opened.status());
  open_.push_back(std::move(*opened));
  return open_.back().storage.get();
}

int fail_store_command(const Status& status) {
  flush_logs();
  std::cerr << "Error: " << plain_message(status) << '\n';
  return 1;
}

}  // namespace backplane
