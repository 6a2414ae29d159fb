#include "services/storage.hpp"

#include <atomic>
#include <optional>

#include "backplane/kit/forwarding_storage.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/meta.hpp"
#include "services/reservation.hpp"
#include "services/spec.hpp"

namespace backplane::core {
namespace {

using namespace kit;

Holdings holdings_of_entry(const ObjectRef& entry) {
  if (entry == nullptr) return {};
  const Object object = decode(*entry, json::storage_ptr());
  return holdings_of(object_or_empty(object, "spec"));
}

void release(ServiceAllocator& allocator, const Holdings& holdings, const Holdings& still_held) {
  const auto kept = [](const auto& list, const auto& item) { return std::find(list.begin(), list.end(), item) != list.end(); };
  for (const std::string& address : holdings.addresses) {
    if (!kept(still_held.addresses, address)) allocator.release_address(address);
  }
  for (std::int64_t port : holdings.ports) {
    if (!kept(still_held.ports, port)) allocator.release_port(port);
  }
}

// Upstream's allocator finds repeated ports before the rules do, and has no better word for them.
Status check_node_ports(const Object& spec) {
  const std::string_view type = get_string(spec, "type");
  if (type != "NodePort" && type != "LoadBalancer") return {};
  const std::string repeated = repeated_node_port(spec);
  return repeated.empty() ? Status() : Status(500, Reason::kNone, "duplicate nodePort: " + repeated);
}

// The object that the inner update computes, with its addresses and ports taken.
class AllocatingUpdate final : public UpdatedObjectInfo {
 public:
  AllocatingUpdate(UpdatedObjectInfo& inner, const Strategy& strategy, ServiceAllocator& allocator, bool dry_run)
      : inner_(inner), strategy_(strategy), reservation_(allocator, dry_run) {}

  Task<Result<Object>> updated_object(RequestContext& context, const Object* existing) override {
    reservation_.give_back();  // a lost race: what the last try had taken
    auto computed = co_await inner_.updated_object(context, existing);
    if (!computed.ok()) co_return computed;
    static const Object kNothing;
    held_ = holdings_of(existing ? object_or_empty(*existing, "spec") : kNothing);
    Object trial(*computed, context.arena());
    strategy_.apply_defaults(trial);
    if (existing == nullptr)
      strategy_.prepare_for_create(context, trial);
    else
      strategy_.prepare_for_update(context, trial, *existing);
    if (Status repeated = existing ? check_node_ports(object_or_empty(trial, "spec")) : Status(); !repeated.ok()) co_return repeated;
    FieldErrors errors;
    if (existing == nullptr)
      strategy_.validate(context, trial, errors);
    else
      strategy_.validate_update(context, trial, *existing, errors);
    // The store words the refusal; nothing is taken for it.
    if (!errors.empty()) co_return computed;
    Object& spec = ensure_object(trial, "spec");
    reservation_.reserve(spec, held_, errors);
    if (!errors.empty()) co_return errors.to_status("", "Service", meta_name(trial));
    ensure_object(*computed, "spec") = spec;
    co_return computed;
  }
  Preconditions preconditions() const override { return inner_.preconditions(); }

  // What the service had before, once the update is stored.
  const Holdings& held() const noexcept { return held_; }
  void keep() { reservation_.keep(); }

 private:
  UpdatedObjectInfo& inner_;
  const Strategy& strategy_;
  Reservation reservation_;
  Holdings held_;
};

class ServiceStorage final : public kit::ForwardingStorage {
 public:
  ServiceStorage(std::shared_ptr<StandardStorage> store, std::shared_ptr<const Strategy> strategy,
                 std::shared_ptr<ServiceAllocator> allocator)
      : ForwardingStorage(std::move(store)), strategy_(std::move(strategy)), allocator_(std::move(allocator)) {}

  Task<Result<ObjectRef>> create(RequestContext& context, Object& object, WriteOptions options) override {
    Status ready = co_await learn();
    if (!ready.ok()) co_return ready;
    Object trial(object, context.arena());
    strategy_->apply_defaults(trial);
    strategy_->prepare_for_create(context, trial);
    FieldErrors errors;
    strategy_->validate(context, trial, errors);
    const bool dry_run = options.dry_run;
    Reservation reservation(*allocator_, dry_run);
    if (errors.empty()) {
      Object& spec = ensure_object(trial, "spec");
      reservation.reserve(spec, {}, errors);
      if (!errors.empty()) co_return errors.to_status("", "Service", meta_name(object));
      ensure_object(object, "spec") = spec;
    }
    auto created = co_await store().create(context, object, std::move(options));
    if (created.ok() && !dry_run) reservation.keep();
    co_return created;
  }

  Task<Result<UpdateResult>> update(RequestContext& context, std::string name, UpdatedObjectInfo& info, WriteOptions options,
                                    bool force_allow_create) override {
    Status ready = co_await learn();
    if (!ready.ok()) co_return ready;
    const bool dry_run = options.dry_run;
    AllocatingUpdate allocating(info, *strategy_, *allocator_, dry_run);
    auto updated = co_await store().update(context, std::move(name), allocating, std::move(options), force_allow_create);
    if (!updated.ok() || dry_run) co_return updated;
    allocating.keep();
    release(*allocator_, allocating.held(), holdings_of_entry(updated->object));
    co_return updated;
  }

  Task<Result<DeleteResult>> remove(RequestContext& context, std::string name, DeleteOptions options) override {
    Status ready = co_await learn();
    if (!ready.ok()) co_return ready;
    const bool dry_run = options.dry_run;
    auto removed = co_await store().remove(context, std::move(name), std::move(options));
    if (removed.ok() && removed->deleted && !dry_run) release(*allocator_, holdings_of_entry(removed->object), {});
    co_return removed;
  }

  Task<Result<ListResult>> remove_collection(RequestContext& context, DeleteOptions options, ListOptions list) override {
    Status ready = co_await learn();
    if (!ready.ok()) co_return ready;
    const bool dry_run = options.dry_run;
    ListOptions same = list;
    auto before = co_await holdings_in(context, std::move(same));
    auto removed = co_await store().remove_collection(context, std::move(options), std::move(list));
    if (!removed.ok() || dry_run) co_return removed;
    ListOptions again;
    const auto after = co_await holdings_in(context, std::move(again));
    release(*allocator_, before, after);
    co_return removed;
  }

 private:
  // Takes over what the stored services hold, once, before the first write.
  Task<Status> learn() {
    if (learned_.load(std::memory_order_acquire)) co_return Status();
    RequestContext everywhere;
    ListOptions all;
    auto listed = co_await store().list(everywhere, std::move(all));
    if (!listed.ok()) co_return std::move(listed).status();
    auto reading = for_each(*listed->items, [&](const ObjectEntry& entry) {
      const Object object = decode(entry, json::storage_ptr());
      const Holdings holdings = holdings_of(object_or_empty(object, "spec"));
      for (const std::string& address : holdings.addresses) allocator_->adopt(address);
      for (std::int64_t port : holdings.ports) allocator_->adopt(port);
    });
    Status read = co_await std::move(reading);
    if (!read.ok()) co_return read;
    learned_.store(true, std::memory_order_release);
    co_return Status();
  }

  Task<Holdings> holdings_in(RequestContext& context, ListOptions options) {
    Holdings out;
    auto listed = co_await store().list(context, std::move(options));
    if (!listed.ok()) co_return out;
    auto reading = for_each(*listed->items, [&](const ObjectEntry& entry) {
      const Object object = decode(entry, json::storage_ptr());
      Holdings one = holdings_of(object_or_empty(object, "spec"));
      out.addresses.insert(out.addresses.end(), one.addresses.begin(), one.addresses.end());
      out.ports.insert(out.ports.end(), one.ports.begin(), one.ports.end());
    });
    Status read = co_await std::move(reading);
    if (!read.ok()) co_return Holdings();
    co_return out;
  }

  std::shared_ptr<const Strategy> strategy_;
  std::shared_ptr<ServiceAllocator> allocator_;
  std::atomic<bool> learned_{false};
};

}  // namespace

std::shared_ptr<RestStorage> make_service_storage(std::shared_ptr<StandardStorage> store, std::shared_ptr<const Strategy> strategy,
                                                  std::shared_ptr<ServiceAllocator> allocator) {
  return std::make_shared<ServiceStorage>(std::move(store), std::move(strategy), std::move(allocator));
}

}  // namespace backplane::core
