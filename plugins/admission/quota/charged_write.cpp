#include "quota/charged_write.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "quota/usage_owner.hpp"

namespace backplane::admission::quota {
namespace {

Object with_usage(const Quota& quota, const ResourceList& used) {
  Object out = decode(*quota.stored, json::storage_ptr());
  erase_member(ensure_object(out, "metadata"), "resourceVersion");
  Object& stored = ensure_object(ensure_object(out, "status"), "used");
  ResourceNames changed;
  for (const auto& [name, amount] : used) {
    if (get_string(stored, name) != amount) changed.push_back(name);
    stored[name] = amount;
  }
  own_used(out, changed, now_rfc3339());
  return out;
}

}  // namespace

ChargedWrite::ChargedWrite(std::shared_ptr<QuotaReader> reader, const AdmissionAttributes& attributes, std::vector<Charge> charges,
                           QuotaReader::Held turn)
    : reader_(std::move(reader)), charges_(std::move(charges)), turn_(std::move(turn)) {
  named_.resource = attributes.resource;
  named_.name = attributes.name;
}

Task<Result<bool>> ChargedWrite::join(RequestContext&, StoreTransaction& transaction) {
  const auto quotas = reader_->storage();
  if (quotas == nullptr) co_return true;
  for (Charge& charge : charges_) {
    auto joining = join_charge(*quotas, transaction, charge);
    auto joined = co_await std::move(joining);
    if (!joined.ok() || !*joined) co_return joined;
  }
  co_return true;
}

Task<Result<bool>> ChargedWrite::join_charge(StandardStorage& quotas, StoreTransaction& transaction, Charge& charge) {
  ChargedUsage usage = usage_with(charge, charge.quota);
  // A refusal must not be based on a cached usage.
  if (transaction.again() || !usage.refusal.empty()) {
    auto renewing = renew(charge);
    auto renewed = co_await std::move(renewing);
    if (!renewed.ok() || !*renewed) co_return renewed;
    usage = usage_with(charge, charge.quota);
  }
  if (!usage.refusal.empty()) co_return admission_forbidden(named_, usage.refusal);
  Status joined = transaction.replace(quotas, charge.quota.stored, with_usage(charge.quota, usage.used));
  if (!joined.ok()) co_return joined;
  co_return true;
}

Task<Result<bool>> ChargedWrite::renew(Charge& charge) {
  auto reading = reader_->newest_of(charge.quota.stored);
  auto found = co_await std::move(reading);
  if (!found.ok()) co_return std::move(found.status());
  if (*found == nullptr) co_return false;
  Quota now = read_quota(std::move(*found));
  if (!same_rules(now, charge.quota)) co_return false;
  charge.quota = std::move(now);
  co_return true;
}

Task<void> ChargedWrite::finish(bool kept) {
  if (kept) {
    for (const Charge& charge : charges_) reader_->replaced(*charge.quota.stored);
  }
  const Turns::Turn ended = std::move(turn_.turn);  // ends the turn before turn_.turns is destroyed, which may be the last reference
  co_return;
}

}  // namespace backplane::admission::quota
