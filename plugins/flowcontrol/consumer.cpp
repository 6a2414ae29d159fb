#include "consumer.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/points/request_gate.hpp"

namespace backplane::flowcontrol {
namespace {

using namespace kit;

constexpr int kWorkers = 12;
constexpr std::chrono::milliseconds kFirstPause{50};
constexpr std::chrono::seconds kLongestPause{30};
constexpr std::string_view kByLevel = "level";
constexpr std::string_view kConfiguration = "configuration";
// The same period as upstream's.
constexpr std::chrono::seconds kAdjustmentPeriod{10};

GroupVersionResource resource_of(std::string_view resource) { return {std::string(kGroup), "v1", std::string(resource)}; }

std::string level_of(const Object& flow_schema) {
  return std::string(get_string_path(flow_schema, "spec.priorityLevelConfiguration.name"));
}

std::vector<std::string> levels_of(const ObjectEntry& flow_schema) { return {level_of(decode(flow_schema, {}))}; }

}  // namespace

std::optional<Object> new_condition(const Object& flow_schema, bool level_exists) {
  const std::string named = "This FlowSchema references the PriorityLevelConfiguration object named " + quoted(level_of(flow_schema));
  const std::string_view status = level_exists ? "False" : "True", reason = level_exists ? "Found" : "NotFound";
  const std::string message = named + (level_exists ? " and it exists" : " but there is no such object");
  const Object* now = find_item(object_or_empty(flow_schema, "status"), "conditions", "type", "Dangling");
  if (now != nullptr && get_string(*now, "status") == status && get_string(*now, "reason") == reason &&
      get_string(*now, "message") == message) {
    return std::nullopt;
  }
  return Object{{"type", "Dangling"}, {"status", status}, {"lastTransitionTime", now_rfc3339()}, {"reason", reason}, {"message", message}};
}

namespace {

// The call that applies the condition by server-side apply with force.
HttpCall apply_condition(const std::string& name, Object condition) {
  const GroupVersionResource resource = resource_of(kFlowSchemas);
  Object applied;
  applied["kind"] = "FlowSchema";
  applied["apiVersion"] = resource.group_version().to_string();
  ensure_object(applied, "metadata")["name"] = name;
  ensure_object(applied, "status")["conditions"] = Array{std::move(condition)};
  HttpCall call;
  call.method = "PATCH";
  call.target = resource.group_version().path() + "/" + resource.resource + "/" + name +
                "/status?fieldManager=api-priority-and-fairness-config-consumer-v1&force=true";
  call.headers.emplace_back("Content-Type", "application/apply-patch+yaml");
  call.body = to_json(applied);
  return call;
}

}  // namespace

ConfigConsumer::ConfigConsumer(Host& host, std::shared_ptr<SharedInformerFactory> informers, std::shared_ptr<Gate> gate)
    : host_(host),
      informers_(std::move(informers)),
      gate_(std::move(gate)),
      changes_(std::make_shared<WorkQueue>(host.executor(), item_exponential_failure_rate_limiter(kFirstPause, kLongestPause))),
      queue_(std::make_shared<WorkQueue>(host.executor(), item_exponential_failure_rate_limiter(kFirstPause, kLongestPause))) {}

Task<Status> ConfigConsumer::start(PostStartHookContext context) {
  const auto self = shared_from_this();
  client_.emplace(host_.client());
  context.stop.on_fire([queue = queue_, changes = changes_] {
    queue->shut_down();
    changes->shut_down();
  });
  const auto schemas = informers_->for_resource(resource_of(kFlowSchemas));
  Status indexed = schemas->indexer().add_indexers({{std::string(kByLevel), levels_of}});
  if (!indexed.ok()) co_return indexed;
  schemas->add_event_handler(enqueue_keys(queue_));
  // This object owns the informers. Their handlers hold a weak_ptr to it, because a shared_ptr would be a cycle.
  const auto noted = [known = weak_from_this()](const ObjectRef& level, bool) {
    if (const auto consumer = known.lock()) consumer->note_level(level);
  };
  ResourceEventHandler levels;
  levels.on_add = noted;
  levels.on_delete = noted;
  informers_->for_resource(resource_of(kPriorityLevels))->add_event_handler(std::move(levels));
  follow_changes(kFlowSchemas);
  follow_changes(kPriorityLevels);
  informers_->start();
  spawn_workers(host_, "priority-and-fairness-config", 1, changes_, [self](std::string) { return self->configure(); });
  host_.spawn("priority-and-fairness-borrowing", adjust(context.stop));
  spawn_workers(host_, "priority-and-fairness-config-consumer", kWorkers, queue_,
                [self](std::string name) { return self->reconcile(std::move(name)); });
  co_return Status();
}

void ConfigConsumer::follow_changes(std::string_view resource) {
  ResourceEventHandler handler;
  const auto note = [changes = changes_] { changes->add(std::string(kConfiguration)); };
  handler.on_add = [note](const ObjectRef&, bool) { note(); };
  handler.on_update = [note](const ObjectRef&, const ObjectRef&) { note(); };
  handler.on_delete = [note](const ObjectRef&, bool) { note(); };
  informers_->for_resource(resource_of(resource))->add_event_handler(std::move(handler));
}

Task<Status> ConfigConsumer::configure() {
  const auto levels = informers_->for_resource(resource_of(kPriorityLevels));
  const auto schemas = informers_->for_resource(resource_of(kFlowSchemas));
  const bool both = co_await informers_->wait_for_cache_sync();
  if (!both) co_return Status();
  std::vector<PriorityLevel> read_levels;
  for (const ObjectRef& each : levels->indexer().list()) {
    auto level = read_priority_level(decode(*each, {}));
    if (level) {
      read_levels.push_back(std::move(*level));
    } else {
      host_.logger().warn("a priority level is invalid name=" + std::string(each->name()));
    }
  }
  std::vector<FlowSchema> read_schemas;
  for (const ObjectRef& each : schemas->indexer().list()) read_schemas.push_back(read_flow_schema(decode(*each, {})));
  gate_->configure(std::move(read_levels), std::move(read_schemas));
  co_return Status();
}

Task<void> ConfigConsumer::adjust(Signal& stop) {
  const auto self = shared_from_this();
  Sleeper sleeper(stop);
  bool running = true;
  while (running) {
    StoredCounts stored;
    for (const StoredObjects& each : host_.stored_objects()) {
      stored[stored_key(each.resource.group, each.resource.resource)] = {each.objects, each.bytes};
    }
    gate_->set_stored_counts(std::move(stored));
    gate_->adjust();
    running = co_await sleeper.sleep(kAdjustmentPeriod);
  }
}

void ConfigConsumer::note_level(const ObjectRef& level) {
  const auto naming = informers_->for_resource(resource_of(kFlowSchemas))->indexer().by_index(kByLevel, std::string(level->name()));
  if (!naming.ok()) return;
  for (const ObjectRef& each : *naming) queue_->add(std::string(each->name()));
}

Task<Status> ConfigConsumer::reconcile(std::string name) {
  auto have = co_await client_->get(resource_of(kFlowSchemas), "", name);
  if (!have.ok()) co_return have.status().code() == 404 ? Status() : std::move(have).status();
  auto looking = exists(level_of(*have));
  Result<bool> there = co_await std::move(looking);
  if (!there.ok()) co_return std::move(there).status();
  std::optional<Object> condition = new_condition(*have, *there);
  if (!condition) co_return Status();
  HttpCall call = apply_condition(name, std::move(*condition));
  auto written = co_await client_->request(std::move(call));
  if (!written.ok() && written.status().code() != 404) co_return std::move(written).status();
  co_return Status();
}

// Returns true for a mandatory level even if its object does not exist.
Task<Result<bool>> ConfigConsumer::exists(std::string level) {
  const Bootstrap* bootstrap = find_bootstrap(kPriorityLevels, level);
  if (bootstrap != nullptr && bootstrap->mandatory) co_return true;
  auto have = co_await client_->get(resource_of(kPriorityLevels), "", level);
  if (have.ok()) co_return true;
  if (have.status().code() != 404) co_return std::move(have).status();
  co_return false;
}

}  // namespace backplane::flowcontrol
