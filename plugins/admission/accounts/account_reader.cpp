#include "accounts/account_reader.hpp"

#include <chrono>
#include <random>

#include "backplane/core/request.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/types/json_scan.hpp"

namespace backplane::admission::accounts {
namespace {

constexpr int kDefaultAccountAttempts = 10;

// The members of an account that the plugin uses.
constexpr std::string_view kMembers[] = {"metadata.name", "metadata.annotations", "automountServiceAccountToken", "imagePullSecrets",
                                         "secrets"};

GroupVersionResource accounts() { return {"", "v1", "serviceaccounts"}; }

// The pause between the attempts of one read.
std::chrono::milliseconds retry_interval() {
  thread_local std::minstd_rand random(std::random_device{}());
  return std::chrono::milliseconds(std::uniform_int_distribution<int>(100, 199)(random));
}

}  // namespace

AccountReader::AccountReader(Services& services) : host_(services.host()), accounts_(services.lister(accounts())) {}

std::optional<Object> AccountReader::cached(std::string_view ns, std::string_view name) const {
  const ObjectRef found = accounts_.find(ns, name);
  if (found == nullptr) return std::nullopt;
  return decode_members(*found, kMembers, json::make_shared_resource<json::monotonic_resource>());
}

Task<Result<Object>> AccountReader::read(std::string ns, std::string name) const {
  const int attempts = name == kDefaultAccount ? kDefaultAccountAttempts : 1;
  const auto interval = retry_interval();
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (attempt > 0) co_await sleep_for(interval);
    auto reading = read_once(ns, name);
    auto found = co_await std::move(reading);
    if (found.ok()) co_return decode(**found, {});
    if (found.status().reason() != Reason::kNotFound) co_return std::move(found.status());
  }
  co_return not_found("", "serviceaccount", name);
}

Task<Result<ObjectRef>> AccountReader::read_once(std::string ns, std::string name) const {
  const std::shared_ptr<RestStorage> storage = host_.find_storage(accounts());
  Getter* const getter = role_of<Getter>(storage);
  if (getter == nullptr) co_return not_found("", "serviceaccounts", name);
  RequestContext context;  // a separate context, because the plugin reads on its own behalf
  context.info.ns = std::move(ns);
  GetOptions newest;
  auto reading = getter->get(context, std::move(name), std::move(newest));
  co_return co_await std::move(reading);
}

}  // namespace backplane::admission::accounts
