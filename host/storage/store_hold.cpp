#include "storage/store_hold.hpp"

#include <boost/json.hpp>

namespace backplane {
namespace {

constexpr std::string_view kFilling = "filling";
constexpr std::string_view kLeaving = "leaving";
constexpr int kRetrySeconds = 5;  // Retry-After; switching the servers to another store takes several retries

Status refusal(const KeyValue& mark) {
  Status status = service_unavailable(why_no_writes(mark.value.view()));
  StatusDetails details;
  details.retry_after_seconds = kRetrySeconds;
  return std::move(status).with_details(std::move(details));
}

}  // namespace

std::string to_text(const StoreHold& hold) {
  const std::string_view kind = hold.kind == StoreHold::Kind::kFilling ? kFilling : kLeaving;
  return boost::json::serialize(boost::json::object{{"kind", kind}, {"other", hold.other}});
}

std::optional<StoreHold> parse_hold(std::string_view text) {
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse(text, error);
  const auto* object = error ? nullptr : value.if_object();
  const auto* kind = object != nullptr ? object->if_contains("kind") : nullptr;
  const auto* other = object != nullptr ? object->if_contains("other") : nullptr;
  if (kind == nullptr || other == nullptr || !kind->is_string() || !other->is_string()) return std::nullopt;
  StoreHold hold;
  hold.kind = std::string_view(kind->get_string()) == kFilling ? StoreHold::Kind::kFilling : StoreHold::Kind::kLeaving;
  hold.other = std::string(other->get_string());
  return hold;
}

std::string why_no_writes(std::string_view text) {
  const auto hold = parse_hold(text);
  if (!hold) return "the store takes no writes: there is a hold on it";
  if (hold->kind == StoreHold::Kind::kLeaving) return "the store takes no writes: it is being moved to " + hold->other;
  return "the store takes no writes: it is a copy of " + hold->other + " that has not been finished";
}

Task<Result<RangeResult>> HeldStorage::first_range(RangeRequest request) {
  RangeRequest mark;
  mark.start = std::string(kHoldKey);
  auto looking = backend_.range(std::move(mark));
  auto found = co_await std::move(looking);
  if (!found.ok()) co_return found;
  const auto hold = found->items.empty() ? std::nullopt : parse_hold(found->items.front().value.view());
  if (hold && hold->kind == StoreHold::Kind::kFilling) {
    co_return service_unavailable("the store is a copy of " + hold->other + " that has not been finished");
  }
  whole_.store(true, std::memory_order_relaxed);
  auto reading = backend_.range(std::move(request));
  auto result = co_await std::move(reading);
  co_return result;
}

Task<Result<TxnResult>> HeldStorage::txn(TxnRequest request) {
  Compare free;
  free.key = std::string(kHoldKey);
  request.compares.push_back(std::move(free));
  auto committing = backend_.txn(std::move(request));
  auto result = co_await std::move(committing);
  if (!result.ok() || result->committed) co_return result;
  for (const KeyValue& found : result->found) {
    if (found.key == kHoldKey) co_return refusal(found);
  }
  co_return result;
}

}  // namespace backplane
