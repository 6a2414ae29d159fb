#include <algorithm>

#include "stable/context.hpp"
#include "stable/controllers.hpp"
#include "stable/tables.hpp"

namespace backplane::stable {

Result<std::unique_ptr<Controllers>> Controllers::make(bp_context& context) {
  std::unique_ptr<Controllers> made(new Controllers(*context.host));
  Status hooked = context.host->add_post_start_hook(
      context.name + "/controllers", [own = made.get()](PostStartHookContext start) { return own->start(std::move(start)); });
  if (!hooked.ok()) return hooked;
  return made;
}

bp_informer* Controllers::informer(const GroupVersionResource& resource, const std::string& ns) {
  auto found = informers_.for_resource(resource, ns);
  const auto known = std::find_if(given_.begin(), given_.end(), [&](const auto& each) { return each->informer == found; });
  if (known != given_.end()) return known->get();
  given_.push_back(std::make_unique<bp_informer>(bp_informer{std::move(found)}));
  return given_.back().get();
}

// Events are the objects' JSON as it is stored: nothing is copied.
void Controllers::watch(const bp_watch& watch, const std::shared_ptr<Controller>& controller) {
  if (watch.event == nullptr) {
    watch.informer->informer->add_event_handler(enqueue_keys(controller->queue.keys));
    return;
  }
  const auto notify = [watch, controller](std::uint32_t type, const ObjectEntry& object, const ObjectEntry* old) {
    const SharedBytes bytes = object.json(), before = old != nullptr ? old->json() : SharedBytes();
    const CallScope scope(CallPlace::kRequest);
    watch.event(watch.self, type, str(bytes.view()), str(before.view()), &controller->queue);
  };
  ResourceEventHandler handler;
  handler.on_add = [notify](const ObjectRef& object, bool) { notify(BP_ADDED, *object, nullptr); };
  handler.on_update = [notify](const ObjectRef& old, const ObjectRef& now) { notify(BP_MODIFIED, *now, old.get()); };
  handler.on_delete = [notify](const ObjectRef& last, bool) { notify(BP_DELETED, *last, nullptr); };
  watch.informer->informer->add_event_handler(std::move(handler));
}

Status Controllers::add(const bp_controller& table) {
  if (table.reconcile == nullptr) return bad_request("a controller needs reconcile()");
  auto controller = std::make_shared<Controller>(Controller{text(table.name), table, {}});
  controller->queue.keys = std::make_shared<WorkQueue>(host_.executor());
  for (std::size_t i = 0; i < table.watch_count; ++i) {
    const bp_watch each = copy_of(table.watches[i]);
    if (each.informer == nullptr) return bad_request("a watch of controller " + controller->name + " has no informer");
    watch(each, controller);
  }
  controllers_.push_back(std::move(controller));
  return {};
}

Task<Status> Controllers::reconcile(std::shared_ptr<Controller> controller, Executor& thread, std::string key) {
  Status status;
  auto running = run_on(thread, [&] {
    bp_error error{};
    if (controller->table.reconcile(controller->table.self, str(key), &controller->queue, &error) != 0) status = status_of(error);
  });
  co_await std::move(running);
  co_return status;
}

Task<Status> Controllers::start(PostStartHookContext context) {
  for (const auto& controller : controllers_) {
    context.stop.on_fire([queue = controller->queue.keys] { queue->shut_down(); });
  }
  informers_.start();
  host_.spawn("controllers", run());
  co_return Status();
}

// The post-start hook does not wait for the informers, so the server may be ready before they are.
Task<void> Controllers::run() {
  const bool synced = co_await informers_.wait_for_cache_sync();
  if (!synced) co_return;
  for (const auto& controller : controllers_) {
    const std::uint32_t workers = std::max<std::uint32_t>(controller->table.workers, 1);
    for (std::uint32_t i = 0; i < workers; ++i) {
      const std::string name = controller->name + "/" + std::to_string(i);
      Executor& thread = host_.executor(name);
      host_.spawn(name, run_worker(
                            controller->queue.keys,
                            [controller, &thread](std::string key) { return reconcile(controller, thread, std::move(key)); },
                            host_.logger(), controller->name));
    }
  }
}

namespace {

// The first call makes the Controllers.
Result<Controllers*> controllers_of(bp_context& context) {
  if (!context.controllers) {
    auto made = Controllers::make(context);
    if (!made.ok()) return std::move(made).status();
    context.controllers = std::move(*made);
  }
  return context.controllers.get();
}

bp_informer* informer_of(bp_context* context, const bp_resource* resource, bp_str ns, bp_error* error) {
  bp_informer* out = nullptr;
  guarded(error, [&]() -> Status {
    auto controllers = controllers_of(*context);
    if (!controllers.ok()) return std::move(controllers).status();
    out = (*controllers)->informer({text(resource->group), text(resource->version), text(resource->resource)}, text(ns));
    return {};
  });
  return out;
}

int32_t add_controller(bp_context* context, const bp_controller* given, bp_error* error) {
  return guarded(error, [&]() -> Status {
    auto controllers = controllers_of(*context);
    if (!controllers.ok()) return std::move(controllers).status();
    return (*controllers)->add(copy_of(given));
  });
}

bp_text* cached_object(bp_informer* informer, bp_str key) {
  const ObjectRef found = informer->informer->indexer().get(view(key));
  return found ? give(found->json()) : nullptr;
}

int32_t each_object(bp_informer* informer, void* self, int32_t (*visit)(void* self, bp_str key, bp_str object)) {
  for (const ObjectRef& object : informer->informer->indexer().list()) {
    const std::string key = object_key(*object);
    const SharedBytes bytes = object->json();
    if (const int32_t answer = visit(self, str(key), str(bytes.view())); answer != 0) return answer;
  }
  return 0;
}

}  // namespace

const bp_controllers_table& controllers_table() {
  static const bp_controllers_table kTable = {
      .struct_size = sizeof(bp_controllers_table),
      .informer = informer_of,
      .add = add_controller,
      .get = cached_object,
      .each = each_object,
      .synced = [](bp_informer* informer) -> int32_t { return informer->informer->has_synced() ? 1 : 0; },
      .enqueue = [](bp_queue* queue, bp_str key) { queue->keys->add(text(key)); },
      .enqueue_after = [](bp_queue* queue, bp_str key,
                          uint64_t milliseconds) { queue->keys->add_after(text(key), std::chrono::milliseconds(milliseconds)); },
  };
  return kTable;
}

}  // namespace backplane::stable
