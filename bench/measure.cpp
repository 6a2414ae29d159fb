#include "measure.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <vector>

namespace bench {

Usage usage_of(int pid) {
  Usage usage;
  if (pid == 0) return usage;
  const std::string base = "/proc/" + std::to_string(pid);
  std::ifstream stat(base + "/stat");
  std::string text((std::istreambuf_iterator<char>(stat)), {});
  if (text.empty()) throw std::runtime_error("process " + std::to_string(pid) + " has ended");
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  std::string field;
  for (int i = 0; i < 11; ++i) fields >> field;
  long user = 0, system = 0;
  fields >> user >> system;
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  usage.cpu_seconds = static_cast<double>(user + system) / ticks;
  usage.kernel_seconds = static_cast<double>(system) / ticks;
  std::ifstream status(base + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) usage.rss_kib = std::stol(line.substr(6));
    if (line.starts_with("VmHWM:")) usage.peak_kib = std::stol(line.substr(6));
  }
  return usage;
}

double rounded(double value) { return static_cast<double>(static_cast<long>(value * 100 + (value < 0 ? -0.5 : 0.5))) / 100; }

void expect(const Response& response, int code, const char* what) {
  if (response.code != code)
    throw std::runtime_error(std::string(what) + " returned " + std::to_string(response.code) + " " + response.body.substr(0, 300));
}

void for_each(const Endpoint& endpoint, int clients, long count, const std::function<void(Connection&, long)>& operation) {
  std::atomic<long> next{0};
  std::mutex mutex;
  std::string first_error;
  std::vector<std::thread> threads;
  for (int i = 0; i < clients; ++i) {
    threads.emplace_back([&] {
      try {
        Connection connection(endpoint);
        for (long number = next.fetch_add(1); number < count; number = next.fetch_add(1)) operation(connection, number);
      } catch (const std::exception& error) {
        const std::lock_guard lock(mutex);
        if (first_error.empty()) first_error = error.what();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  if (!first_error.empty()) throw std::runtime_error(first_error);
}

}  // namespace bench
