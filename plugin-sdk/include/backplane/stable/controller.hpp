// Controllers and informers (controller.h).
//
// Thread-safety: keys_of is called on one thread and must not wait. reconcile is called on threads of the plugin, one for each worker.
// Lifetime:      informers, and the arguments of add_controller(), live as long as the plugin.
// Errors:        if reconcile throws, the host adds the key to the queue again. An exception of keys_of is logged.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/stable/client.hpp"
#include "backplane/stable/controller.h"

namespace backplane::stable {

// Caches the objects of a resource in memory. Create it in provision().
class Informer {
 public:
  Informer() = default;
  Informer(const Host& host, const Resource& resource, std::string_view ns = {})
      : host_(&host), table_(&host.find<bp_controllers_table>(BP_CONTROLLERS_TABLE, 1)) {
    bp_error error{};
    const bp_resource of = resource.table();
    informer_ = table_->informer(host.context(), &of, str(ns), &error);
    if (informer_ == nullptr) throw Error(error);
  }
  // `key`: "namespace/name" or "name".
  std::optional<Json> get(std::string_view key) const {
    bp_text* found = table_->get(informer_, str(key));
    if (found == nullptr) return std::nullopt;
    return Json(*host_, host_->take(found));
  }
  // Calls `visit(key, object)` for each object.
  template <class Visit>
  void each(Visit visit) const {
    struct State {
      const Host& host;
      Visit& visit;
      bp_error error{};
    } state{*host_, visit};
    const int32_t failed = table_->each(informer_, &state, [](void* self, bp_str key, bp_str object) {
      auto& own = *static_cast<State*>(self);
      return detail::barrier(&own.error, [&] { own.visit(view(key), Json(own.host, view(object))); });
    });
    if (failed != 0) throw Error(state.error);
  }
  bool synced() const { return table_->synced(informer_) != 0; }
  bp_informer* handle() const noexcept { return informer_; }

 private:
  const Host* host_ = nullptr;
  const bp_controllers_table* table_ = nullptr;
  bp_informer* informer_ = nullptr;
};

// The queue of a controller.
class Queue {
 public:
  Queue(const Host& host, bp_queue* queue) : table_(host.find<bp_controllers_table>(BP_CONTROLLERS_TABLE, 1)), queue_(queue) {}
  void add(std::string_view key) { table_.enqueue(queue_, str(key)); }
  void add_after(std::string_view key, std::chrono::milliseconds delay) {
    table_.enqueue_after(queue_, str(key), static_cast<std::uint64_t>(delay.count()));
  }

 private:
  const bp_controllers_table& table_;
  bp_queue* queue_;
};

// One informer of a controller: its events add keys to the controller's queue. `keys_of` returns the keys to reconcile for an object. For a
// changed object it is called with the new version and with the old version. If it is not set, the key of the object is added.
struct Watch {
  Informer informer;
  std::function<std::vector<std::string>(const Json& object)> keys_of = {};
};
struct Controller {
  std::string name;
  std::vector<Watch> watches;
  std::function<void(const std::string& key, Queue& queue)> reconcile;
  std::uint32_t workers = 1;
};

namespace detail {

struct KeptWatch {
  Host& host;
  Watch watch;
};
inline void tell(void* self, std::uint32_t, bp_str object, bp_str old, bp_queue* queue) noexcept {
  bp_error error{};
  auto& own = *static_cast<KeptWatch*>(self);
  const int failed = barrier(&error, [&] {
    Queue keys(own.host, queue);
    for (const bp_str each : {object, old}) {
      if (each.size == 0) continue;
      for (const std::string& key : own.watch.keys_of(Json(own.host, view(each)))) keys.add(key);
    }
  });
  if (failed != 0) own.host.log(BP_LOG_WARNING, error.message);
}
struct KeptController {
  Host& host;
  Controller controller;
};

}  // namespace detail

// Registers a controller. Call it in provision().
inline void add_controller(Host& host, Controller controller) {
  auto* kept = host.keep(detail::KeptController{host, std::move(controller)});
  std::vector<bp_watch> watches;
  for (const Watch& each : kept->controller.watches) {
    bp_watch watch{};
    watch.struct_size = sizeof(watch);
    watch.informer = each.informer.handle();
    watch.self = host.keep(detail::KeptWatch{host, each});
    if (each.keys_of) watch.event = detail::tell;
    watches.push_back(watch);
  }
  std::vector<const bp_watch*> pointers;
  for (const bp_watch& watch : watches) pointers.push_back(&watch);
  bp_controller table{};
  table.struct_size = sizeof(table);
  table.name = str(kept->controller.name);
  table.self = kept;
  table.workers = kept->controller.workers;
  table.watches = pointers.data();
  table.watch_count = pointers.size();
  table.reconcile = [](void* self, bp_str key, bp_queue* queue, bp_error* error) {
    return detail::barrier(error, [&] {
      auto& own = *static_cast<detail::KeptController*>(self);
      Queue keys(own.host, queue);
      own.controller.reconcile(std::string(view(key)), keys);
    });
  };
  const auto& controllers = host.find<bp_controllers_table>(BP_CONTROLLERS_TABLE, 1);
  detail::checked([&](bp_error* error) { return controllers.add(host.context(), &table, error); });
}

}  // namespace backplane::stable
