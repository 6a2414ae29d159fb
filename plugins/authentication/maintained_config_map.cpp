#include "maintained_config_map.hpp"

#include "backplane/core/json_access.hpp"

namespace backplane::authentication {
namespace {

constexpr const char* kNamespace = "kube-system";
constexpr std::chrono::seconds kInterval{60};

GroupVersionResource config_maps() { return {"", "v1", "configmaps"}; }

}  // namespace

MaintainedConfigMap::MaintainedConfigMap(Host& host, std::string name)
    : host_(host),
      name_(std::move(name)),
      client_(host.client()),
      informer_(SharedInformer::make(name_, list_watch(host, config_maps(), kNamespace), host.logger())),
      queue_(std::make_shared<WorkQueue>(host.executor())) {}

Task<Status> MaintainedConfigMap::start(PostStartHookContext context) {
  const auto note = [queue = queue_, name = name_](const ObjectRef& object) {
    if (object->name() == name) queue->add(name);
  };
  informer_->add_event_handler({[note](const ObjectRef& object, bool) { note(object); },
                                [note](const ObjectRef&, const ObjectRef& now) { note(now); },
                                [note](const ObjectRef& last, bool) { note(last); }});
  context.stop.on_fire([informer = informer_, queue = queue_] {
    informer->stop();
    queue->shut_down();
  });
  host_.spawn(name_ + "-informer", informer_->run());
  host_.spawn(name_ + "-clock", poll(context.stop));
  spawn_workers(host_, name_, 1, queue_, [self = shared_from_this()](std::string) { return self->sync(); });
  co_return Status();
}

Task<void> MaintainedConfigMap::poll(Signal& stop) {
  const auto self = shared_from_this();
  Sleeper sleeper(stop);
  bool running = !stop.fired();
  while (running) {
    queue_->add(name_);
    running = co_await sleeper.sleep(kInterval);
  }
}

Task<Status> MaintainedConfigMap::sync() {
  const auto self = shared_from_this();
  auto have = co_await client_.get(config_maps(), kNamespace, name_);
  if (!have.ok() && have.status().code() != 404) co_return std::move(have).status();
  std::optional<Object> found;
  if (have.ok()) found = std::move(*have);
  Result<std::optional<Object>> data;
  co_await run_blocking([&] { data = wanted(found ? &object_or_empty(*found, "data") : nullptr); });
  if (!data.ok()) co_return std::move(data).status();
  if (!data->has_value()) co_return Status();
  Status written = co_await write(std::move(found), std::move(**data));
  co_return written;
}

Task<Status> MaintainedConfigMap::make_namespace() {
  Object object = json::parse(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"kube-system"}})").get_object();
  const GroupVersionResource namespaces{"", "v1", "namespaces"};
  auto have = co_await client_.create(namespaces, "", std::move(object));
  if (have.ok() || have.status().code() == 409) co_return Status();
  co_return std::move(have).status();
}

Task<Status> MaintainedConfigMap::write(std::optional<Object> found, Object data) {
  if (found) {
    (*found)["data"] = std::move(data);
    auto updated = co_await client_.update(config_maps(), kNamespace, std::move(*found));
    co_return updated.ok() ? Status() : std::move(updated).status();
  }
  Status there = co_await make_namespace();
  if (!there.ok()) co_return there;
  Object object = json::parse(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{}})").get_object();
  object.at("metadata").get_object()["name"] = name_;
  object["data"] = std::move(data);
  auto created = co_await client_.create(config_maps(), kNamespace, std::move(object));
  if (created.ok()) made();
  co_return created.ok() ? Status() : std::move(created).status();
}

}  // namespace backplane::authentication
