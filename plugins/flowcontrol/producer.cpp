#include "producer.hpp"

#include <array>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/net/informer.hpp"
#include "backplane/points/unreadable_object.hpp"

namespace backplane::flowcontrol {
namespace {

using namespace kit;

// Enough for all built-in flow schemas at the same time; the store commits their writes together.
constexpr int kWorkers = 12;
constexpr std::chrono::milliseconds kFirstPause{50};
constexpr std::chrono::seconds kLongestPause{1};

GroupVersionResource resource_of(std::string_view resource) { return {std::string(kGroup), "v1", std::string(resource)}; }
std::string key_of(std::string_view resource, std::string_view name) { return std::string(resource) + "/" + std::string(name); }

WriteOptions write_options() {
  WriteOptions options;
  options.field_manager = "api-priority-and-fairness-config-producer-v1";
  return options;
}

// Accepts the texts that Go's strconv.ParseBool accepts.
std::optional<bool> parse_bool(std::string_view text) {
  for (const std::string_view yes : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"0", "f", "F", "false", "FALSE", "False"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

std::optional<bool> auto_update(const Object& object) {
  const Value* updates = find_path(object, {"metadata", "annotations", kAutoUpdate});
  return updates != nullptr ? parse_bool(text_of(*updates)) : std::nullopt;
}

// Whether the spec equals the built-in one. In the level `exempt`, the nominal shares and the lendable percent may differ.
bool is_as_delivered(const Bootstrap& bootstrap, const Object& spec) {
  if (bootstrap.resource != kPriorityLevels || bootstrap.name != "exempt") return spec == bootstrap.spec;
  Object have(spec);
  if (!has(have, "exempt")) return false;
  take_member(have, bootstrap.spec, "exempt");
  return have == bootstrap.spec;
}

}  // namespace

std::optional<Object> revised(const Bootstrap& bootstrap, const Object& current) {
  const std::optional<bool> updates = auto_update(current);
  // Without the annotation, an object that was not changed by a client is updated.
  const bool kept = bootstrap.mandatory || updates.value_or(get_int_path(current, "metadata.generation") == 1);
  const bool changes = kept && !is_as_delivered(bootstrap, object_or_empty(current, "spec"));
  if (updates == kept && !changes) return std::nullopt;
  Object out(current);
  if (changes) out["spec"] = bootstrap.spec;
  ObjectMeta(out).mutable_annotations()[kAutoUpdate] = kept ? "true" : "false";
  return out;
}

bool is_stale(const Object& current) { return auto_update(current).value_or(false); }

ConfigProducer::ConfigProducer(Host& host, std::shared_ptr<SharedInformerFactory> informers)
    : host_(host),
      informers_(std::move(informers)),
      queue_(std::make_shared<WorkQueue>(host.executor(), item_exponential_failure_rate_limiter(kFirstPause, kLongestPause))) {}

Task<Status> ConfigProducer::start(PostStartHookContext context) {
  const auto self = shared_from_this();
  client_.emplace(host_.client());
  context.stop.on_fire([queue = queue_, completed = completed_] {
    queue->shut_down();
    completed.set(false);
  });
  add_first(kPriorityLevels);
  watch(kPriorityLevels);
  watch(kFlowSchemas);
  informers_->start();
  spawn_workers(host_, "priority-and-fairness-config-producer", kWorkers, queue_,
                [self](std::string key) { return self->reconcile(std::move(key)); });
  auto completed = completed_.future();
  co_await completed;
  co_return Status();
}

void ConfigProducer::watch(std::string_view resource) {
  ResourceEventHandler handler;
  const auto note = [queue = queue_, resource](const ObjectRef& object) { queue->add(key_of(resource, object->name())); };
  handler.on_add = [note](const ObjectRef& object, bool) { note(object); };
  handler.on_update = [note](const ObjectRef&, const ObjectRef& now) { note(now); };
  handler.on_delete = [note](const ObjectRef& last, bool) { note(last); };
  informers_->for_resource(resource_of(resource))->add_event_handler(std::move(handler));
}

void ConfigProducer::add_first(std::string_view resource) {
  for (const Bootstrap& each : bootstrap_objects()) {
    if (each.resource == resource) first_.insert(key_of(resource, each.name));
  }
  for (const std::string& key : first_) queue_->add(key);
}

void ConfigProducer::settled(const std::string& key) {
  if (first_.erase(key) == 0 || !first_.empty()) return;
  if (!std::exchange(levels_made_, true)) return add_first(kFlowSchemas);
  completed_.set(true);
}

Task<Status> ConfigProducer::reconcile(std::string key) {
  const auto slash = key.find('/');
  auto ensuring = ensure(key.substr(0, slash), key.substr(slash + 1));
  Status status = co_await std::move(ensuring);
  if (is_unreadable(status)) {
    host_.logger().error("updating a default flow schema or priority level failed: " + status.message());
    status = Status();
  }
  if (status.ok()) settled(key);
  co_return status;
}

Task<Status> ConfigProducer::ensure(std::string resource, std::string name) {
  const std::string key = key_of(resource, name);
  const Bootstrap* bootstrap = find_bootstrap(resource, name);
  auto have = co_await client_->get(resource_of(resource), "", name);
  if (!have.ok()) {
    const bool missing = have.status().code() == 404;
    if (!missing) co_return std::move(have).status();
    if (bootstrap == nullptr || waits(key, "delivered")) co_return Status();
    co_return co_await create(*bootstrap);
  }
  if (bootstrap == nullptr) {
    if (!is_stale(*have) || waits(key, "removed")) co_return Status();
    co_return co_await remove(std::move(resource), std::move(name));
  }
  std::optional<Object> wanted = revised(*bootstrap, *have);
  if (!wanted || waits(key, "delivered")) co_return Status();
  co_return co_await update(std::move(resource), std::move(*wanted));
}

// Startup waits for the objects in first_, so their writes never wait here; the work queue retries failed writes.
bool ConfigProducer::waits(const std::string& key, std::string_view value) {
  if (first_.contains(key)) return false;
  const auto pause = pauses_.claim(key, value);
  if (pause.count() > 0) queue_->add_after(key, pause);
  return pause.count() > 0;
}

Task<Status> ConfigProducer::create(const Bootstrap& bootstrap) {
  Object object;
  object["apiVersion"] = std::string(kGroup) + "/v1";
  object["kind"] = bootstrap.resource == kFlowSchemas ? "FlowSchema" : "PriorityLevelConfiguration";
  Object& metadata = ensure_object(object, "metadata");
  metadata["name"] = bootstrap.name;
  ensure_object(metadata, "annotations")[kAutoUpdate] = "true";
  object["spec"] = bootstrap.spec;
  auto made = co_await client_->create(resource_of(bootstrap.resource), "", std::move(object), write_options());
  // Another server may have created the object. The error makes the work queue call reconcile() again, which reads the object.
  co_return made.ok() ? Status() : std::move(made).status();
}

Task<Status> ConfigProducer::update(std::string resource, Object object) {
  const std::string name(meta_name(object));
  auto written = co_await client_->update(resource_of(resource), "", std::move(object), {}, write_options());
  if (!written.ok()) co_return std::move(written).status();
  host_.logger().info("restored a default flow schema or priority level resource=" + resource + " name=" + name);
  co_return Status();
}

Task<Status> ConfigProducer::remove(std::string resource, std::string name) {
  auto removed = co_await client_->remove(resource_of(resource), "", name);
  if (!removed.ok() && removed.status().code() != 404) co_return std::move(removed).status();
  host_.logger().info("removed an obsolete default flow schema or priority level resource=" + resource + " name=" + name);
  co_return Status();
}

}  // namespace backplane::flowcontrol
