// The connections of all stores in a test program. They run on a separate loop, which runs as long as the tests.
//
// Thread-safety: any thread.
// Lifetime:      stores must be destroyed before the test program ends.
#pragma once

#include <gtest/gtest.h>

#include "backplane/points/storage.hpp"
#include "base/io_loop.hpp"
#include "base/task_group.hpp"
#include "client/remote_client.hpp"

namespace backplane {

class ConnectionsOfTests final : public testing::Environment {
 public:
  ConnectionsOfTests() { loop_.start(); }
  void TearDown() override {
    tasks_.close();
    run_on(loop_, tasks_.wait_all());
    loop_.stop();
  }
  StoreConnections connections() {
    return {[this](ClientConfig config) { return make_remote_client(loop_, tasks_, std::move(config)); }, &loop_};
  }

 private:
  IoLoop loop_{"stores"};
  LoggedTaskGroup tasks_;
};

// googletest owns the object, and tears it down after the environments that are registered later.
inline ConnectionsOfTests& test_connections() {
  static auto* const environment = static_cast<ConnectionsOfTests*>(testing::AddGlobalTestEnvironment(new ConnectionsOfTests));
  return *environment;
}
inline const StoreConnections kConnectionsOfTests = test_connections().connections();

}  // namespace backplane
