#include "namespaces/master_leases.hpp"

#include <algorithm>

#include "backplane/kit/walk.hpp"
#include "backplane/meta.hpp"

namespace backplane::core {
namespace {

// Upstream's reconcilers.DefaultEndpointReconcilerTTL: a server renews every ten.
constexpr std::chrono::seconds kLife{15};

// The records as upstream writes them: the key says whose it is, and of metadata there is a generation only, which makes every write one.
class RecordStrategy final : public Strategy {
 public:
  using Strategy::Strategy;
  void prepare_for_create(RequestContext&, Object& record) const override { ObjectMeta(record).set_generation(1); }
  void prepare_for_update(RequestContext&, Object& record, const Object& old) const override {
    const ObjectMeta before(const_cast<Object&>(old));  // only read
    ObjectMeta(record).set_generation(before.generation() + 1);
  }
  void canonicalize(Object& record) const override {
    const ObjectMeta all(record);
    const std::int64_t generation = all.generation();
    Object kept(record.storage());
    kept["generation"] = generation;
    record["metadata"] = std::move(kept);
  }
};

ResourceConfig records_config() {
  ResourceConfig config;
  config.kind = {"", "v1", "Endpoints"};
  config.resource = "masterleases";
  config.storage_prefix = "masterleases";
  config.schemas = core_schemas();
  config.schema = config.schemas->find(config.kind);
  config.time_to_live = kLife;
  KindFacts facts;
  facts.namespaced = false;
  facts.name_rule = NameRule::kPathSegment;
  facts.create_on_update = true;
  config.strategy = std::make_shared<RecordStrategy>(std::move(facts));
  return config;
}

Object record_of(const std::string& address) {
  Object record;
  record["kind"] = "Endpoints";
  record["apiVersion"] = "v1";
  record["metadata"].emplace_object()["name"] = address;
  Object at;
  at["ip"] = address;
  Object subset;
  subset["addresses"] = Array{std::move(at)};
  record["subsets"] = Array{std::move(subset)};
  return record;
}

class Renewal final : public UpdatedObjectInfo {
 public:
  explicit Renewal(Object record) : record_(std::move(record)) {}
  Task<Result<Object>> updated_object(RequestContext& context, const Object*) override { co_return Object(record_, context.arena()); }

 private:
  Object record_;
};

}  // namespace

Result<MasterLeases> MasterLeases::make(Host& host) {
  auto records = host.make_storage(records_config());
  if (!records.ok()) return std::move(records).status();
  return MasterLeases(std::move(*records));
}

Task<Status> MasterLeases::renew(std::string address) const {
  RequestContext own;
  Renewal renewal(record_of(address));
  auto writing = records_->update(own, std::move(address), renewal, WriteOptions(), /*force_allow_create=*/true);
  auto written = co_await std::move(writing);
  co_return written.ok() ? Status() : std::move(written).status();
}

Task<Status> MasterLeases::remove(std::string address) const {
  RequestContext own;
  auto removing = records_->remove(own, std::move(address), DeleteOptions());
  auto removed = co_await std::move(removing);
  co_return removed.ok() || removed.status().code() == 404 ? Status() : std::move(removed).status();
}

Task<Result<std::vector<std::string>>> MasterLeases::addresses() const {
  RequestContext own;
  auto listing = records_->list(own, ListOptions());
  auto listed = co_await std::move(listing);
  if (!listed.ok()) co_return std::move(listed).status();
  std::vector<std::string> found;
  Status read = co_await for_each(*listed->items, [&found](const ObjectEntry& entry) {
    const Object record = decode(entry, json::storage_ptr());
    const Array* subsets = get_array(record, "subsets");
    if (subsets == nullptr || subsets->empty()) return;
    const Array* addresses = get_array(subsets->front().get_object(), "addresses");
    if (addresses != nullptr && !addresses->empty()) found.emplace_back(get_string(addresses->front().get_object(), "ip"));
  });
  if (!read.ok()) co_return read;
  std::sort(found.begin(), found.end());
  co_return found;
}

}  // namespace backplane::core
