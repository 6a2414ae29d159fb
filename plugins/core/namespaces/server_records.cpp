#include "namespaces/server_records.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/rest/resource_config.hpp"
#include "backplane/rest/strategy.hpp"
#include "backplane/rest/update_info.hpp"
#include "namespaces/storage.hpp"

namespace backplane::core {
namespace {

// The key identifies the server, so the record has no name; the generation makes each write a change.
class RecordStrategy final : public Strategy {
 public:
  using Strategy::Strategy;
  void prepare_for_create(RequestContext&, Object& record) const override { ObjectMeta(record).set_generation(1); }
  void prepare_for_update(RequestContext&, Object& record, const Object& old) const override {
    const ObjectMeta before(const_cast<Object&>(old));  // only read
    ObjectMeta(record).set_generation(before.generation() + 1);
  }
  void canonicalize(Object& record) const override {
    const Object& all = ObjectMeta(record).mutable_metadata();
    Object kept(record.storage());
    for (const std::string_view member : {"generation", "labels"}) {
      if (const Value* value = find(all, member)) kept.emplace(member, *value);
    }
    record["metadata"] = std::move(kept);
  }
};

ResourceConfig records_config(const std::string& prefix) {
  ResourceConfig config;
  config.kind = {"", "v1", "Endpoints"};
  config.resource = prefix;
  config.storage_prefix = prefix;
  config.schemas = core_schemas();
  config.schema = config.schemas->find(config.kind);
  config.time_to_live = ServerRecords::kLife;
  KindFacts facts;
  facts.namespaced = false;
  facts.name_rule = NameRule::kPathSegment;
  facts.create_on_update = true;
  config.strategy = std::make_shared<RecordStrategy>(std::move(facts));
  return config;
}

class Renewal final : public UpdatedObjectInfo {
 public:
  explicit Renewal(Object record) : record_(std::move(record)) {}
  Task<Result<Object>> updated_object(RequestContext& context, const Object*) override { co_return Object(record_, context.arena()); }

 private:
  Object record_;
};

}  // namespace

Result<ServerRecords> ServerRecords::make(Host& host, const std::string& prefix) {
  auto records = host.make_storage(records_config(prefix));
  if (!records.ok()) return std::move(records).status();
  return ServerRecords(std::move(*records));
}

Task<Status> ServerRecords::renew(std::string key, Object record) const {
  RequestContext own;
  ObjectMeta(record).set("name", key);
  Renewal renewal(std::move(record));
  auto writing = records_->update(own, std::move(key), renewal, WriteOptions(), /*force_allow_create=*/true);
  auto written = co_await std::move(writing);
  co_return written.ok() ? Status() : std::move(written).status();
}

Task<Status> ServerRecords::remove(std::string key) const {
  RequestContext own;
  auto removing = records_->remove(own, std::move(key), DeleteOptions());
  auto removed = co_await std::move(removing);
  co_return removed.ok() || removed.status().code() == 404 ? Status() : std::move(removed).status();
}

Task<Result<Object>> ServerRecords::get(std::string key) const {
  RequestContext own;
  auto reading = records_->get(own, std::move(key), GetOptions());
  auto record = co_await std::move(reading);
  if (!record.ok()) co_return std::move(record).status();
  co_return decode(**record, json::storage_ptr());
}

Task<Status> ServerRecords::for_each_record(std::function<void(const Object& record)> look) const {
  RequestContext own;
  auto listing = records_->list(own, ListOptions());
  auto listed = co_await std::move(listing);
  if (!listed.ok()) co_return std::move(listed).status();
  auto walking = for_each(*listed->items, [&look](const ObjectEntry& entry) { look(decode(entry, json::storage_ptr())); });
  Status read = co_await std::move(walking);
  co_return read;
}

Object server_record(Array subsets) {
  Object record;
  record["kind"] = "Endpoints";
  record["apiVersion"] = "v1";
  record["metadata"].emplace_object();
  record["subsets"] = std::move(subsets);
  return record;
}

bool is_loopback(std::string_view address) { return address.starts_with("127.") || address == "::1"; }

}  // namespace backplane::core
