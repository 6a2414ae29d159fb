#include "namespaces/system.hpp"

#include <array>

#include "backplane/json.hpp"

namespace backplane::core {
namespace {

constexpr std::array<std::string_view, 4> kSystemNamespaces = {"default", "kube-system", "kube-public", "kube-node-lease"};
constexpr int kAttempts = 50;
constexpr std::chrono::milliseconds kPause{100};

// Upstream's interval: systemnamespaces.NewController.
constexpr std::chrono::seconds kNamespacesInterval{60};

std::string without_newline(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

std::string namespace_body(std::string_view name) {
  return R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")" + std::string(name) + R"("}})";
}

Task<Status> make_if_missing(LoopbackClient& client, std::string collection, std::string name, std::string body) {
  Headers headers;
  headers.emplace_back("Content-Type", "application/json");
  std::string last;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    auto have = co_await client.request("GET", collection + "/" + name, {}, "");
    if (have.code == 200) co_return Status();
    if (have.code == 404) {
      auto made = co_await client.request("POST", collection, headers, body);
      if (made.code == 201 || made.code == 409) co_return Status();
      if (made.code != 429 && made.code < 500) {
        co_return Status(Reason::kInternalError, "unable to create " + collection + "/" + name + ": " + without_newline(made.body));
      }
      have = std::move(made);
    }
    last = std::move(have.body);
    co_await sleep_for(kPause);
  }
  co_return Status(Reason::kInternalError, "unable to create " + collection + "/" + name + ": " + without_newline(last));
}

Task<Status> make_system_namespaces(LoopbackClient& client) {
  for (std::string_view name : kSystemNamespaces) {
    std::string body = namespace_body(name);
    Status status = co_await make_if_missing(client, "/api/v1/namespaces", std::string(name), std::move(body));
    if (!status.ok()) co_return status;
  }
  co_return Status();
}

Task<void> keep_system_namespaces(LoopbackClient& client, Signal& stop, Logger& logger) {
  Sleeper sleeper(stop);
  while (co_await sleeper.sleep(kNamespacesInterval)) {
    Status status = co_await make_system_namespaces(client);
    if (!status.ok() && !stop.fired()) logger.error(status.message());
  }
}

}  // namespace backplane::core
