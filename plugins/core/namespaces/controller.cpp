#include "namespaces/controller.hpp"

#include <ctime>
#include <set>

#include "backplane/meta.hpp"

namespace backplane::core {
namespace {

constexpr std::chrono::milliseconds kFirstPause{200};
constexpr std::chrono::milliseconds kLongestPause{5000};
constexpr std::string_view kFinalizer = "kubernetes";

struct Content {
  std::string path;  // "/api/v1" or "/apis/group/version"
  std::string resource;
};

Result<Object> parse_object(const LoopbackClient::Response& response) {
  boost::system::error_code error;
  Value value = json::parse(response.body, error);
  if (response.code != 200 || error || !value.is_object()) return internal_error("answer " + std::to_string(response.code));
  return std::move(value.get_object());
}

bool has_verb(const Object& resource, std::string_view verb) {
  const Array* verbs = get_array(resource, "verbs");
  if (verbs == nullptr) return false;
  for (const Value& each : *verbs) {
    if (each.is_string() && each.get_string() == verb) return true;
  }
  return false;
}

class NamespaceController {
 public:
  NamespaceController(LoopbackClient& client, Signal& stop, Logger& logger) : client_(client), stop_(stop), logger_(logger) {}

  // Empties and releases one namespace; comes back when it is done or the server stops.
  Task<void> finish(std::string name) {
    auto pause = kFirstPause;
    while (!stop_.fired()) {
      Status status = co_await try_once(name);
      if (status.ok()) co_return;
      logger_.debug("namespace is not empty yet namespace=" + name + " reason=" + status.message());
      co_await sleep_for(pause);
      pause = std::min(pause * 2, kLongestPause);
    }
  }

 private:
  Task<Status> try_once(std::string name) {
    auto contents = co_await discover();
    if (!contents.ok()) co_return std::move(contents).status();
    std::int64_t left = 0;
    for (const Content& content : *contents) {
      const std::string target = content.path + "/namespaces/" + name + "/" + content.resource;
      auto count = co_await empty(target, content.resource == "pods");
      if (!count.ok()) co_return std::move(count).status();
      left += *count;
    }
    if (left > 0) co_return internal_error(std::to_string(left) + " objects are left");
    co_return co_await release(std::move(name));
  }

  // Every namespaced resource that can be listed and deleted.
  Task<Result<std::vector<Content>>> discover() {
    std::vector<std::string> paths{"/api/v1"};
    const auto answer = co_await get("/apis");
    auto groups = parse_object(answer);
    if (!groups.ok()) co_return std::move(groups).status();
    if (const Array* list = get_array(*groups, "groups")) {
      for (const Value& group : *list) {
        if (group.is_object())
          paths.push_back("/apis/" + std::string(get_string_path(group.get_object(), "preferredVersion.groupVersion")));
      }
    }
    std::vector<Content> out;
    for (const std::string& path : paths) {
      const auto listing = co_await get(path);
      auto resources = parse_object(listing);
      if (!resources.ok()) co_return std::move(resources).status();
      const Array* list = get_array(*resources, "resources");
      for (const Value& each : list ? *list : Array()) {
        if (!each.is_object()) continue;
        const Object& resource = each.get_object();
        const std::string name(get_string(resource, "name"));
        if (!get_bool(resource, "namespaced").value_or(false) || name.find('/') != std::string::npos) continue;
        if (has_verb(resource, "list") && has_verb(resource, "deletecollection")) out.push_back({path, name});
      }
    }
    co_return out;
  }

  // Deletes a collection; returns how many objects are still there.  Pods whose time has run out go at once: no node will tell of them.
  Task<Result<std::int64_t>> empty(std::string target, bool pods) {
    const auto found = co_await get(target);
    auto before = parse_object(found);
    if (!before.ok()) co_return std::move(before).status();
    const Array* items = get_array(*before, "items");
    if (items == nullptr || items->empty()) co_return std::int64_t{0};
    const std::string force = pods && overdue(*items) ? "?gracePeriodSeconds=0" : "";
    auto deleted = co_await client_.request("DELETE", target + force, {}, "");
    if (deleted.code != 200) co_return internal_error("deleting " + target + ": " + deleted.body);
    const auto remaining = co_await get(target);
    auto after = parse_object(remaining);
    if (!after.ok()) co_return std::move(after).status();
    const Array* rest = get_array(*after, "items");
    co_return static_cast<std::int64_t>(rest ? rest->size() : 0);
  }

  static bool overdue(const Array& pods) {
    const std::int64_t now = std::time(nullptr);
    for (const Value& pod : pods) {
      if (!pod.is_object()) continue;
      const auto deadline = parse_rfc3339(meta_text(pod.get_object(), "deletionTimestamp"));
      if (!deadline || *deadline > now) return false;
    }
    return true;
  }

  Task<Status> release(std::string name) {
    const std::string target = "/api/v1/namespaces/" + name;
    auto response = co_await get(target);
    if (response.code == 404) co_return Status();
    auto object = parse_object(response);
    if (!object.ok()) co_return std::move(object).status();
    Array& finalizers = ensure_array(ensure_object(*object, "spec"), "finalizers");
    for (auto it = finalizers.begin(); it != finalizers.end();) {
      it = it->is_string() && it->get_string() == kFinalizer ? finalizers.erase(it) : std::next(it);
    }
    Headers headers;
    headers.emplace_back("Content-Type", "application/json");
    auto done = co_await client_.request("PUT", target + "/finalize", headers, to_json(*object));
    if (done.code != 200 && done.code != 404) co_return internal_error("finalize: " + done.body);
    co_return Status();
  }

  Task<LoopbackClient::Response> get(std::string target) { return client_.request("GET", std::move(target), {}, ""); }

  LoopbackClient& client_;
  Signal& stop_;
  Logger& logger_;
};

bool is_going(const Object& object) {
  if (meta_text(object, "deletionTimestamp").empty()) return false;
  const Value* finalizers = find_path(object, {"spec", "finalizers"});
  if (finalizers == nullptr || !finalizers->is_array()) return false;
  for (const Value& name : finalizers->get_array()) {
    if (name.is_string() && name.get_string() == kFinalizer) return true;
  }
  return false;
}

// Follows one watch until it ends.
Task<void> follow(StandardStorage& namespaces, NamespaceController& controller, Signal& stop) {
  RequestContext context;
  ListOptions options;
  options.watch = true;
  auto opened = co_await namespaces.watch(context, options);
  if (!opened.ok()) co_return;
  std::shared_ptr<WatchStream> stream = std::move(*opened);
  stop.on_fire([weak = std::weak_ptr<WatchStream>(stream)] {
    if (auto alive = weak.lock()) alive->cancel();
  });
  while (!stop.fired()) {
    auto events = co_await stream->next();
    if (!events.ok() || events->empty()) co_return;
    for (const WatchEvent& event : *events) {
      const bool alive = event.type == WatchEvent::Type::kAdded || event.type == WatchEvent::Type::kModified;
      if (!alive || !event.object) continue;
      const Object object = decode(*event.object, json::storage_ptr());
      if (is_going(object)) co_await controller.finish(std::string(meta_name(object)));
    }
  }
}

}  // namespace

Task<void> run_namespace_controller(std::shared_ptr<StandardStorage> namespaces, LoopbackClient& client, Signal& stop, Logger& logger) {
  NamespaceController controller(client, stop, logger);
  while (!stop.fired()) {
    co_await follow(*namespaces, controller, stop);
    if (!stop.fired()) co_await sleep_for(kFirstPause);
  }
}

}  // namespace backplane::core
