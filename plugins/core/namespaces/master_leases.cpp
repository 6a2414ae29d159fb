#include "namespaces/master_leases.hpp"

#include <algorithm>

#include "backplane/core/meta.hpp"

namespace backplane::core {

Result<MasterLeases> MasterLeases::make(Host& host) {
  auto records = ServerRecords::make(host, "masterleases");
  if (!records.ok()) return std::move(records).status();
  return MasterLeases(std::move(*records));
}

Task<Status> MasterLeases::renew(std::string address) const {
  Object at;
  at["ip"] = address;
  Object subset;
  subset["addresses"] = Array{std::move(at)};
  auto renewing = records_.renew(std::move(address), server_record(Array{std::move(subset)}));
  Status renewed = co_await std::move(renewing);
  co_return renewed;
}

Task<Result<std::vector<std::string>>> MasterLeases::addresses() const {
  std::vector<std::string> found;
  auto reading = records_.for_each_record([&found](const Object& record) {
    const Array* subsets = get_array(record, "subsets");
    if (subsets == nullptr || subsets->empty()) return;
    const Array* addresses = get_array(subsets->front().get_object(), "addresses");
    if (addresses != nullptr && !addresses->empty()) found.emplace_back(get_string(addresses->front().get_object(), "ip"));
  });
  Status read = co_await std::move(reading);
  if (!read.ok()) co_return read;
  std::sort(found.begin(), found.end());
  co_return found;
}

}  // namespace backplane::core
