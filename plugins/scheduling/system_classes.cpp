#include "system_classes.hpp"

#include "backplane/points/unreadable_object.hpp"
#include "kinds.hpp"

namespace backplane::scheduling {
namespace {

constexpr std::chrono::milliseconds kPause{100};
constexpr int kAttempts = 300;  // upstream gives up after half a minute

Object object_of(const SystemClass& of) {
  Object out;
  out["apiVersion"] = "scheduling.k8s.io/v1";
  out["kind"] = "PriorityClass";
  out["metadata"] = Object{{"name", of.name}};
  out["value"] = of.value;
  out["description"] = of.description;
  return out;
}

// Returns success if the class exists now, or if the existing object cannot be read.
Task<Status> make_if_missing(ApiClient& client, const SystemClass& of, Logger& logger) {
  const GroupVersionResource resource{"scheduling.k8s.io", "v1", "priorityclasses"};
  const std::string name(of.name);
  auto have = co_await client.get(resource, "", name);
  if (have.ok()) co_return Status();
  if (is_unreadable(have.status())) {
    logger.error("PriorityClass " + name + " cannot be read and is not changed: " + have.status().message());
    co_return Status();
  }
  if (have.status().code() != 404) co_return std::move(have).status();
  auto made = co_await client.create(resource, "", object_of(of));
  if (made.ok()) logger.debug("created PriorityClass " + name + " with value " + std::to_string(of.value));
  if (made.ok() || made.status().code() == 409) co_return Status();
  co_return std::move(made).status();
}

}  // namespace

Task<Status> make_system_classes(std::shared_ptr<ApiClient> client, Signal& stop, Logger& logger) {
  Sleeper sleeper(stop);
  Status last;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    last = Status();
    for (const SystemClass& each : kSystemClasses) {
      if (!last.ok()) break;
      last = co_await make_if_missing(*client, each, logger);
    }
    if (last.ok()) co_return Status();
    const bool continues = co_await sleeper.sleep(kPause);
    if (!continues) co_return Status();
  }
  co_return internal_error("unable to add default system priority classes: " + last.message());
}

}  // namespace backplane::scheduling
