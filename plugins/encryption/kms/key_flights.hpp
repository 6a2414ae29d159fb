// Shares the calls that decrypt data keys: one call for each key, however many values wait for the key.
//
// Thread-safety: every method from any thread.
// Lifetime:      outlives its calls.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "backplane/core/task.hpp"
#include "ciphers/cipher.hpp"
#include "kms/once.hpp"

namespace backplane::encryption {

class KeyFlights {
 public:
  // Returns the result of `fetch`. Only the first caller with this key runs it; the others wait for its result.
  Task<Outcome<CipherRef>> fetch(std::string key, std::function<Task<Outcome<CipherRef>>()> fetch) {
    bool first = false;
    const std::shared_ptr<Flight> flight = join(key, first);
    if (!first) {
      auto finishing = flight->finished.wait();
      co_await std::move(finishing);
      co_return flight->result;
    }
    try {
      auto fetching = fetch();
      flight->result = co_await std::move(fetching);
    } catch (const std::exception& error) {
      flight->result = Failure{error.what()};
    }
    leave(key);
    flight->finished.happen();
    co_return flight->result;
  }

 private:
  struct Flight {
    Once finished;
    Outcome<CipherRef> result = Failure{};
  };

  std::shared_ptr<Flight> join(const std::string& key, bool& first) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Flight>& flight = flights_[key];
    first = flight == nullptr;
    if (first) flight = std::make_shared<Flight>();
    return flight;
  }
  void leave(const std::string& key) {
    const std::lock_guard lock(mutex_);
    flights_.erase(key);
  }

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Flight>> flights_;
};

}  // namespace backplane::encryption
