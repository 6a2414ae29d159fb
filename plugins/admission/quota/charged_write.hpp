// A write that is charged to quotas. The new usage of the quotas is stored in the transaction of the write, so the usage remains exact if
// the write fails. If another server has charged a quota meanwhile, the quota is checked again.
//
// Thread-safety: one write.
// Lifetime:      shares ownership of the reader.
// Errors:        403 if a quota is exhausted; those of the store.
#pragma once

#include <memory>
#include <vector>

#include "backplane/rest/store_hooks.hpp"
#include "quota/evaluation.hpp"
#include "quota/quota_reader.hpp"

namespace backplane::admission::quota {

class ChargedWrite final : public BegunWrite {
 public:
  // `charges`: computed from the quotas of `reader` while the turn was held. `attributes`: only names are copied.
  ChargedWrite(std::shared_ptr<QuotaReader> reader, const AdmissionAttributes& attributes, std::vector<Charge> charges,
               QuotaReader::Held turn);

  Task<Result<bool>> join(RequestContext& context, StoreTransaction& transaction) override;
  Task<void> finish(bool kept) override;

 private:
  Task<Result<bool>> join_charge(StandardStorage& quotas, StoreTransaction& transaction, Charge& charge);
  // Reads the quota again. Returns false if the quota was deleted or has other rules; the write must then be evaluated again.
  Task<Result<bool>> renew(Charge& charge);

  const std::shared_ptr<QuotaReader> reader_;
  AdmissionAttributes named_;  // for errors
  std::vector<Charge> charges_;
  QuotaReader::Held turn_;  // until the write has ended
};

}  // namespace backplane::admission::quota
